// Facts for the etcd operator: about the cluster, from objects of the API, and about the members of etcd. No object of the API
// has the members, so the observer puts them into the view as an object of a type that no API server has. Pure.
#pragma once

#include "components/controller/view.h"
#include "components/etcd/membership.h"
#include "components/render/inputs.h"
#include "kube/machine_table.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::etcd {

inline constexpr std::string_view operator_space = "openshift-etcd-operator";
inline constexpr std::string_view space = "openshift-etcd";
// On ConfigMap etcd-endpoints: the address of the bootstrap machine's member, while that member exists.
inline constexpr std::string_view bootstrap_annotation = "alpha.installer.openshift.io/etcd-bootstrap";

struct Cluster {
  std::optional<InstallConfig> install_config{};                // nothing: missing or invalid
  std::vector<Master> masters{};                                // of find_masters, those with an address; sorted by name
  std::string bootstrap_address{};                              // empty: the bootstrap machine has no member
  kube::MachineTable machines{};                                // the machine table; empty: missing or unreadable
  std::set<std::string, std::less<>> nodes{};                   // names of all Nodes
  std::map<std::string, std::string, std::less<>> addresses{};  // of all Nodes, with their names
  bool is_delayed = false;
  bool is_bootstrap_complete = false;
  bool is_managed = true;
  bool may_defragment = true;

  MembershipInput membership(ObservedMembers members, WallTime now) const;

  // The members whose master left the cluster: its row in the machine table has the role "removed", or it has neither a row nor a
  // Node, by name and by address. The member of a master at the same address is not meant. None without a table that names a
  // master.
  std::set<MemberId> left(const ObservedMembers& members) const;
};
Cluster read_cluster(const Snapshot& seen);

// Authorities and client certificate for requests to members. Nothing while one of them is missing.
std::optional<net::TlsOptions> find_client_tls(const Snapshot& seen);

// A change of members by this process.
struct Change {
  std::string reason;   // reason of the Event, for example "MemberPromoted"
  std::string message;  // contains the list of members that the decision was based on
  bool operator==(const Change&) const = default;
};

struct Facts {
  ObservedMembers members{};       // the list that was last read
  std::string unreadable{};        // why the list could not be read for some seconds; empty: it could
  std::string refused{};           // why etcd refused the last change; empty: it did not
  std::string not_defragmented{};  // why a database could not be defragmented three times in a row; empty: it could
  std::vector<Change> changes{};   // oldest first
  bool operator==(const Facts&) const = default;
};
Json facts_object(const Facts& facts);
std::optional<Facts> find_facts(const Snapshot& seen);

}  // namespace slipway::components::etcd
