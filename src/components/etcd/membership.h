// Which members etcd shall have: the hand-over from the member of the bootstrap machine to those of the masters. No step lets
// etcd lose its quorum. Pure.
#pragma once

#include "base/time.h"
#include "components/controller/conditions.h"
#include "components/etcd/members.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::components::etcd {

// The member of the bootstrap machine.
inline constexpr std::string_view bootstrap_name = "etcd-bootstrap";

// A member as it was found.
struct ObservedMember {
  Member member;
  bool is_healthy = false;  // it answers and knows a leader
  bool is_leader = false;
  std::string problem{};  // "no answer: ...", alarms

  bool is_voter() const { return !member.is_learner; }
  bool operator==(const ObservedMember&) const = default;
};
using ObservedMembers = std::vector<ObservedMember>;

// "etcd-bootstrap voter healthy leader, master-0 learner healthy, the member at 10.97.77.12 learner not started"
std::string describe(const ObservedMembers& members);

struct Master {
  std::string node;
  std::string address;  // its InternalIP
  WallTime since{};     // when the node was made

  bool operator==(const Master&) const = default;
};

struct MembershipInput {
  ObservedMembers members{};
  std::vector<Master> masters{};  // by name
  int replicas = 0;               // of the control plane, by the install-config
  bool is_delayed = false;        // the bootstrap machine becomes the last master (assisted installation)
  bool is_bootstrap_complete = false;
  bool is_managed = true;  // by the operator's settings; false: no actions
  WallTime now{};
};

struct Action {
  enum class Kind { add_learner, promote, move_leader, remove };
  Kind kind;
  MemberId member = 0;  // who is promoted, who shall lead, who goes
  std::string name{};   // of it, or of the node
  std::string peer_url{};

  // "promoting master-1"
  std::string doing() const;
  // Reason of the Event that tells people: "MemberPromoted"
  std::string_view reason() const;
  // "master-1 votes now"
  std::string done() const;
};

struct Membership {
  // All of one kind, each fit for this list of members alone: after one that changes who votes or leads the next needs a new
  // list. A learner that is not in sync yet is refused by etcd and tried again.
  std::vector<Action> actions{};
  std::vector<Condition> conditions{};
  bool is_settled = false;          // there is nothing to wait for
  std::optional<WallTime> again{};  // when waiting for masters that are not known is over
};

// All masters are added as learners while the bootstrap's member is the only voter; no learner is promoted before. With several
// voters etcd takes a new member only after all of them were connected for five seconds. Masters of the install-config that
// are not known two minutes after the first one are not waited for. When all masters vote the leader is moved to one of them,
// EtcdRunningInCluster becomes True, and, once ConfigMap kube-system/bootstrap says complete, etcd-bootstrap is removed.
Membership plan_membership(const MembershipInput& input);

// What is waited for before etcd comes to any master; nothing once they are all known, or two minutes after the first.
std::optional<std::string> why_wait_for_masters(const MembershipInput& input);

// Whether the members that are healthy now are still a quorum when the action is done.
bool keeps_quorum(const ObservedMembers& members, const Action& action);

// Why the etcd at this address must not be stopped now. A single voter may be: there is nothing else that it could be kept for.
std::optional<std::string> why_keep_running(const ObservedMembers& members, const std::string& address);

}  // namespace slipway::components::etcd
