// What the operator of etcd knows: of the cluster, by what the API's objects say, and of etcd's members, which no object of the
// API tells; those are put into the view as an object of a type that no server has. Pure.
#pragma once

#include "components/controller/view.h"
#include "components/etcd/membership.h"
#include "components/render/inputs.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::etcd {

inline constexpr std::string_view operator_space = "openshift-etcd-operator";
inline constexpr std::string_view space = "openshift-etcd";
// On ConfigMap etcd-endpoints: the address of the bootstrap machine's member, as long as there is one.
inline constexpr std::string_view bootstrap_annotation = "alpha.installer.openshift.io/etcd-bootstrap";

struct Cluster {
  std::optional<InstallConfig> install_config{};  // nothing: not there or not readable
  std::vector<Master> masters{};                  // those of find_masters with an address, by name
  std::string bootstrap_address{};                // empty: its member is gone
  bool is_delayed = false;
  bool is_bootstrap_complete = false;
  bool is_managed = true;

  MembershipInput membership(ObservedMembers members, WallTime now) const;
};
Cluster read_cluster(const Snapshot& seen);

// How to speak to members: their authorities and the operator's certificate. Nothing while one of them is missing.
std::optional<net::Trust> find_trust(const Snapshot& seen);

// A change of members that this process made.
struct Change {
  std::string reason;   // of the Event: "MemberPromoted"
  std::string message;  // with the list of members that it was decided upon
  bool operator==(const Change&) const = default;
};

struct Facts {
  ObservedMembers members{};      // as last seen
  std::string unreadable{};       // why they were not seen for some seconds; empty: they were
  std::string refused{};          // why the last change was not made
  std::vector<Change> changes{};  // in their order
  bool operator==(const Facts&) const = default;
};
Json facts_object(const Facts& facts);
std::optional<Facts> find_facts(const Snapshot& seen);

}  // namespace slipway::components::etcd
