// cluster-policy-controller: gives every namespace the ranges of user ids, groups and SELinux labels that security context
// constraints of OpenShift go by, as annotations. Of OpenShift's controller of this name this is the part that the release has
// use for.
#pragma once

#include "components/program/program.h"
#include "kube/client.h"

#include <string>
#include <vector>

namespace slipway::components::kube_controller_manager {

// Block number `index` of the cluster's user ids 1000000000-1999999999, ten thousand in each: "1000560000/10000".
inline constexpr int block_count = 100'000;
std::string id_range(int index);
// The SELinux categories that belong to it: "s0:c24,c4".
std::string mcs_label(int index);

struct Annotation {
  std::string name;  // of the namespace
  Json patch;        // says which version of the object it is made for: another one refuses it
};

// What is missing. Blocks are never given twice; a namespace that has a block keeps it; one that is going gets none. Pure.
//   errors  invalid: all blocks are taken
Result<std::vector<Annotation>> plan_annotations(const kube::Objects& namespaces);

// The command `start`: serves /healthz, waits for its lease, then follows namespaces until a stop.
Result<> run_policy_controller(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::kube_controller_manager
