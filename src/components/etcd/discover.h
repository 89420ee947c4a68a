// discover-etcd-initial-cluster: what a member that is about to start on a master has to know of the others, and when it may.
//
//   ETCD_INITIAL_CLUSTER=$(discover-etcd-initial-cluster --cacert=FILE --cert=FILE --key=FILE --endpoints=URL,URL
//                          --data-dir=/var/lib/etcd --target-peer-url-host=10.97.77.11 --target-name=master-0)
//
// The endpoints are members' gateways (members.h). Members that have never been started go one after another, in the order in
// which they ask: a member asks all others for their version before it answers, so two that start together wait for each other.
// etcd has a key with the member whose turn it is.
#pragma once

#include "components/etcd/members.h"
#include "components/program/program.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::components::etcd {

struct Joining {
  std::string peer_url;
  std::string name;
  bool has_data = false;                // there is something in its folder
  std::optional<MemberId> joined_as{};  // what is in it was begun as this member, and etcd came as far as having a log
};

// What the list of members means for a member that wants to start. Pure.
struct StartPlan {
  enum class Kind {
    start,      // with `initial_cluster`; with nothing when it has been a member before, for its folder says it all
    put_aside,  // what is in its folder is of another life: move it away, then start
    lost,       // it has been a member, and its folder is empty
    wait,       // it is not known
  };
  Kind kind;
  std::string initial_cluster{};  // "etcd-bootstrap=https://10.97.77.10:2380,master-0=https://10.97.77.11:2380"
  MemberId self = 0;              // of those that start: which member it is
};
StartPlan plan_start(const std::vector<Member>& members, const Joining& joining);

// The command; prints the line. Waits as long as etcd does not know this member.
Result<> run_discover(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::etcd
