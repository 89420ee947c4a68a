// cluster-policy-controller: annotates every namespace with the ranges of user IDs, groups and SELinux labels that OpenShift's
// security context constraints use. It implements only the part of OpenShift's controller that this release needs.
#pragma once

#include "components/program/program.h"
#include "kube/client.h"

#include <string>
#include <vector>

namespace slipway::components::kube_controller_manager {

// Block number `index` of the user IDs 1000000000-1999999999, with 10000 IDs in each block: "1000560000/10000".
inline constexpr int block_count = 100'000;
std::string id_range(int index);
// The SELinux label of the block: "s0:c24,c4".
std::string mcs_label(int index);

struct Annotation {
  std::string name;  // name of the namespace
  Json patch;        // contains the resource version, so the API server refuses it when the namespace has changed
};

// The missing annotations. A block is never assigned twice, and a namespace keeps its block. Terminating namespaces get none.
// Pure.
//
//   errors  invalid: all blocks are in use
Result<std::vector<Annotation>> plan_annotations(const kube::Objects& namespaces);

// The command `start`: serves /healthz, waits for its lease, and then watches namespaces until a stop is requested.
Result<> run_policy_controller(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::kube_controller_manager
