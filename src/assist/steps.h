// What the agent of a host is told to do next, by the state of the host. Pure. Names and arguments are those of the API of
// OpenShift's assisted-service (models step, step-type, steps).
#pragma once

#include "assist/validations.h"
#include "base/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::assist {

struct Step {
  std::string id;          // "inventory-4d2f0a11": stays while type and argument are the same
  std::string_view type;   // "inventory"
  std::string argument{};  // a JSON document; empty: none

  bool operator==(const Step&) const = default;
};

struct Steps {
  std::vector<Step> steps{};
  Seconds next{60};    // when the agent asks again
  bool exits = false;  // the agent ends, and registers again

  bool operator==(const Steps&) const = default;
};

// What the steps of an installation need, beside the host and its cluster.
struct StepSettings {
  std::string release_image{};   // checked before the installation; empty: no image is checked
  std::string time_servers{};    // of the discovery environment, separated by commas
  std::string installer_args{};  // JSON, added by a user
  std::string ignition_token{};  // with which the host gets its config from a cluster that exists; empty: none is known
  std::string openshift_version{};
  std::string installer_image{};
  std::string controller_image{};
  // The service runs on the host with the bootstrap, which must not restart while another host needs the service.
  bool is_on_bootstrap_host = false;
};

Steps steps_of(const HostScene& scene, const StepSettings& settings);

// Member of the argument of step `install`: the host restarts when no other host needs the service any more.
inline constexpr std::string_view waits_for_hosts = "wait_for_hosts";

// The name that must not resolve below the domain of a cluster.
inline constexpr std::string_view wildcard_probe = "validateNoWildcardDNS";

}  // namespace slipway::assist
