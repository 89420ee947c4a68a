// Whether hosts and clusters meet what an installation needs: a table of checks, each with a sentence that says what to do. Pure.
// IDs and categories are those of the API of OpenShift's assisted-service.
#pragma once

#include "assist/model.h"
#include "base/json.h"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::assist {

enum class Outcome : std::uint8_t {
  success,
  failure,
  pending,   // not known yet
  disabled,  // ignored at the request of a user
};
std::string_view to_string(Outcome outcome);

// What a check that does not pass prevents.
enum class Weight : std::uint8_t {
  state,     // is a state of the host by itself: connected, has-inventory
  minimum,   // the hardware fits no role
  input,     // a setting of the cluster is missing
  blocking,  // the host or the cluster cannot be installed
  warning,   // nothing
};
std::string_view to_string(Weight weight);

struct Validation {
  std::string_view id;        // "has-min-cpu-cores"
  std::string_view category;  // "hardware", "network", "operators", "hosts-data", "configuration"
  Weight weight = Weight::blocking;
  Outcome outcome = Outcome::success;
  std::string message{};  // a sentence

  bool passes() const { return outcome == Outcome::success || outcome == Outcome::disabled; }
  bool operator==(const Validation&) const = default;
};

// What the checks of a host look at.
struct HostScene {
  const Host& host;
  const Cluster* cluster = nullptr;                       // null: the host is in the pool
  std::vector<const Host*> hosts{};                       // all hosts of the cluster, with this one
  std::map<std::string, std::set<std::string>> groups{};  // majority_group() by machine network, as text
  WallTime now{};
};

// All checks of the table that apply to the host. Every check but those of `state` waits for the inventory.
std::vector<Validation> validate_host(const HostScene& scene);

std::vector<Validation> validate_cluster(const Cluster& cluster, const std::vector<const Host*>& hosts);

// Whether all checks of this weight pass.
bool pass(const std::vector<Validation>& validations, Weight weight);

// {"hardware": [{"id", "status", "message", "weight"}]}, as `validations_info` of the API has it, which lacks the weight.
Json to_json(const std::vector<Validation>& validations);

// Longest time without a request of a host's agent.
Milliseconds contact_limit(const Host& host);

}  // namespace slipway::assist
