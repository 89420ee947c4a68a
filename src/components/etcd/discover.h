// discover-etcd-initial-cluster: waits until a member may start on a master, and prints the initial cluster for it.
//
//   ETCD_INITIAL_CLUSTER=$(discover-etcd-initial-cluster --cacert=FILE --cert=FILE --key=FILE --endpoints=URL,URL
//                          --data-dir=/var/lib/etcd --target-peer-url-host=10.97.77.11 --target-name=master-0)
//
// The endpoints are gateways of members (members.h). New members start one after another, in the order in which they ask. Two
// new members that start together would wait for each other, because a member asks all others for their version before it
// answers. A key in etcd says whose turn it is.
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
  bool has_data = false;                // the data directory has a snapshot folder
  std::optional<MemberId> joined_as{};  // the member that the data belongs to; set only when etcd also has a log
};

// How to start a member, decided from the list of members. Pure.
struct StartPlan {
  enum class Kind {
    start,       // start with `initial_cluster`, which is empty when the data directory already defines the cluster
    move_aside,  // the data belongs to an earlier member: move it aside, then start
    lost,        // etcd lists a member that has started, but the data directory is empty
    wait,        // etcd does not list the member yet
  };
  Kind kind;
  std::string initial_cluster{};  // "etcd-bootstrap=https://10.97.77.10:2380,master-0=https://10.97.77.11:2380"
  MemberId self = 0;              // ID of a new member that starts
};
StartPlan plan_start(const std::vector<Member>& members, const Joining& joining);

// The command. Prints the initial cluster as one line. Waits without a limit until etcd lists this member.
//
//   errors  conflict: the data of the member is lost; cancelled
Result<> run_discover(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::etcd
