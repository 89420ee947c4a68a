// Revisions: numbered copies of everything that a static pod is made of. Pure.
#pragma once

#include "components/controller/operand.h"
#include "components/controller/reconcile.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components {

// Label of a copy, with its number; by it copies are found again when their revision is removed, or was never completed.
inline constexpr std::string_view revision_label = "slipway.invalid/revision";

struct RevisionState {
  int latest = 0;                      // newest revision that is whole; 0: none
  std::string reason{};                // of it
  std::vector<std::string> missing{};  // "Secret openshift-etcd/etcd-all-certs": why there cannot be a new one
  Plan plan{};                         // what brings the next one about, or removes old ones
};

// A new revision when all parts that are not optional are there and one differs from its copy in the latest, or when
// spec.forceRedeploymentReason changed. First its copies, then, in another plan, revision-status-N. Only data is compared. The
// number is one that no revision had before, as far as markers and the settings' status tell.
//
// Old ones are removed, copies and marker: but for the latest, those that a node has or shall have, and the newest others: as
// many as the larger of spec.succeededRevisionLimit and spec.failedRevisionLimit says, five without, all when one of them is -1.
//
//   may_begin  false while parts are on their way: what is there is not copied, only old revisions are removed
RevisionState plan_revision(const Operand& operand, const Json& settings, const Snapshot& seen, bool may_begin = true);

}  // namespace slipway::components
