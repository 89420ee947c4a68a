// Plans changes of etcd's members. During the handover, members of the masters replace the member of the bootstrap machine.
// Later, members of masters that left the cluster go, and those of new masters come. No step costs etcd its quorum. Pure.
#pragma once

#include "base/time.h"
#include "components/controller/conditions.h"
#include "components/etcd/members.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace slipway::components::etcd {

// The member of the bootstrap machine.
inline constexpr std::string_view bootstrap_name = "etcd-bootstrap";

// A member and its observed state.
struct ObservedMember {
  Member member;
  bool is_healthy = false;  // it answers and knows a leader
  bool is_leader = false;
  bool is_gone = false;    // it has not been healthy for long enough that its machine is taken for off
  std::string problem{};   // "no answer: ...", alarms
  bool leaves = false;     // its master left the cluster, and the operator knew that when it read the other values

  bool is_voter() const { return !member.is_learner; }
  bool operator==(const ObservedMember&) const = default;
};
using ObservedMembers = std::vector<ObservedMember>;

// "etcd-bootstrap voter healthy leader, master-0 learner healthy, the member at 10.97.77.12 learner not started"
std::string describe(const ObservedMembers& members);

struct Master {
  std::string node;
  std::string address;  // its InternalIP
  WallTime since{};     // when the node was created

  bool operator==(const Master&) const = default;
};

struct MembershipInput {
  ObservedMembers members{};
  std::vector<Master> masters{};  // sorted by name
  std::set<MemberId> left{};      // members of masters that left the cluster (facts.h)
  int replicas = 0;               // of the control plane, from the install-config
  // One master joins only after the bootstrap, because it is the bootstrap machine itself, as in installations with OpenShift's
  // Assisted Installer (annotation openshift.io/delayed-bootstrap of the namespace).
  bool is_delayed = false;
  bool is_bootstrap_complete = false;
  bool is_managed = true;  // managementState of the operator; false: no actions
  // False: ConfigMap openshift-etcd-operator/etcd-disable-defrag exists.
  bool may_defragment = true;
  WallTime now{};
};

struct Action {
  enum class Kind { add_learner, promote, move_leader, remove, defragment };
  Kind kind;
  MemberId member = 0;  // the member that is promoted, becomes the leader, is removed or defragmented
  std::string name{};   // name of that member; for add_learner, of the node
  std::string peer_url{};

  // "promoting master-1"
  std::string doing() const;
  // Reason of the Event: "MemberPromoted"
  std::string_view reason() const;
  // "master-1 is a voting member of etcd"
  std::string done() const;
};

struct Membership {
  // All actions have one kind, and each is valid for this list of members only. After a change of voters or of the leader, read a
  // new list. etcd refuses to promote a learner that is not in sync yet; the promotion is retried.
  std::vector<Action> actions{};
  std::vector<Condition> conditions{};
  bool is_settled = false;              // nothing to do and nothing to wait for
  std::optional<WallTime> replan_at{};  // when the wait for missing masters ends
};

// The plan has these steps:
// 1. Add all masters as learners while the bootstrap machine's member is the only voter. With several voters, etcd accepts a new
//    member only after all voters have been connected for five seconds.
// 2. Promote the learners. This step does not wait for masters that register later than two minutes after the first master.
// 3. When all masters vote, move the leader to one of them. EtcdRunningInCluster becomes True.
// 4. When ConfigMap kube-system/bootstrap says complete, remove etcd-bootstrap.
// 5. From then on: remove the members of masters that left when they are gone. If one of them leads, another member takes
//    the lead before. This comes before 1, because etcd adds no member while a voter does not work.
Membership plan_membership(const MembershipInput& input);

// The reason why no master gets an etcd member yet. Empty when all masters are registered, or two minutes after the first one
// registered.
std::optional<std::string> why_wait_for_masters(const MembershipInput& input);

// Whether the voters that are healthy now form a quorum after the action.
bool keeps_quorum(const ObservedMembers& members, const Action& action);

// The reason why the member at this address must not be stopped now; empty if it may be stopped. The only voter may always
// be stopped, because waiting would not make that safer.
std::optional<std::string> why_keep_running(const ObservedMembers& members, const std::string& address);

}  // namespace slipway::components::etcd
