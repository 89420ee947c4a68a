// Changes the masters of an installed cluster: adds one, removes one, or replaces one by another.
//
// The order of the work is in the machine table (kube/machine_table.h), so any host may continue it: an annotation of the
// ConfigMap says which change is not finished, and a row with the role "removed" makes the operators let go of the master.
// next_step decides from what the cluster and the platform have, so a call that was killed continues with the next one.
#pragma once

#include "cluster/environment.h"
#include "kube/client.h"
#include "kube/machine_table.h"
#include "provider/provider.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::cluster {

// On ConfigMap machine-addresses: "remove master-1, add master-3", "add master-3", "remove master-4".
inline constexpr std::string_view masters_change_annotation = "slipway.internal/masters-change";

struct MastersChange {
  std::string removed{};  // name of a master; empty: none is removed
  std::string added{};    // name of the new one, which may be that of the removed one; empty: none is added

  bool operator==(const MastersChange&) const = default;
};
std::string to_text(const MastersChange& change);
std::optional<MastersChange> parse_change(std::string_view text);

// A member of etcd, as ConfigMap openshift-etcd/etcd-members has it.
struct EtcdMember {
  std::string name{};  // empty: it has not started yet
  std::string address{};
  bool votes = false, is_healthy = false;
  bool leaves = false;  // the etcd operator knows that its master leaves, and the other values are newer

  bool operator==(const EtcdMember&) const = default;
};
// errors: invalid
Result<std::vector<EtcdMember>> parse_etcd_members(const Json& config_map);

struct NodeState {
  std::string name;
  bool is_ready = false;
  std::vector<std::string> addresses{};

  bool operator==(const NodeState&) const = default;
};

// What a step depends on.
struct ControlPlane {
  std::vector<EtcdMember> members{};
  kube::MachineTable rows{};
  std::vector<NodeState> nodes{};
  std::vector<provider::MachineStatus> machines{};
  bool makes_machines = false;                // slipway makes the masters of this platform
  int replicas = 0;                           // controlPlane.replicas of the install-config
  std::optional<MastersChange> unfinished{};  // of the annotation
};

// Why a change must not begin, one line each with what to do; all of them. Empty: it may. Pure.
std::vector<std::string> change_problems(const ControlPlane& seen, const MastersChange& change);

// Whether a change gives up an addition that is not finished: it removes the master that was to be added. Pure.
bool gives_up(const MastersChange& change, const MastersChange& unfinished);

enum class MasterStep {
  begin,            // write the annotation, and the role "removed" into the row
  await_operator,   // the etcd operator knows it: a list of members from before may say that dead ones are healthy
  drain,            // evict the pods of a master that still answers
  remove_machine,   // on the platform
  await_power_off,  // a person switches the machine off
  await_removal,    // the etcd operator removes the member, which no longer answers
  remove_node,      // delete the Node
  forget,           // remove the row, and from the annotation what was removed
  make_machine,     // on the platform
  admit,            // add the row of the new master
  await_machine,    // a person starts the machine
  await_node,       // the Node is Ready
  await_member,     // its member of etcd votes
  finish,           // the static pods of the new master run; remove the annotation
  done,
};
std::string_view name_of(MasterStep step);

// The next step of a change. Pure.
//
//   is_drained  whether this call has already drained the master that is removed
MasterStep next_step(const ControlPlane& seen, const MastersChange& change, bool is_drained);

// The name of the next master. Pure.
std::string next_master_name(const ControlPlane& seen);

struct MastersPlace {
  kube::Api& api;
  provider::Provider* machines = nullptr;  // null: people make the machines
  bool may_drain = true;
};

// Makes a change. Each step is an event of kind "step". The same call continues a change that was interrupted; while one is not
// finished, another one is refused.
//
//   change   without a name in `added` for a master that is added: `is_addition` chooses the next name
//   returns  the change with names
//   errors   conflict: another change is not finished, or etcd would lose its quorum; invalid: change_problems, one line each;
//            timeout: what was waited for; those of the provider and of Api
//   time     minutes; without a provider as long as a person needs for a machine
Result<MastersChange> change_masters(const Environment& environment, const MastersPlace& where, MastersChange change,
                                     bool is_addition);

}  // namespace slipway::cluster
