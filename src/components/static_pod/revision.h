// Revisions: numbered copies of all parts of a static pod. Pure.
#pragma once

#include "components/controller/operand.h"
#include "components/controller/reconcile.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components {

// Label of a copy, with the number of its revision. It finds the copies of old and of incomplete revisions for removal.
inline constexpr std::string_view revision_label = "slipway.invalid/revision";

struct RevisionState {
  int latest = 0;                      // newest complete revision; 0: none
  bool is_current = false;             // the latest revision has the parts as they are now, so that no other one is needed
  std::string reason{};                // of the latest revision
  std::vector<std::string> missing{};  // "Secret openshift-etcd/etcd-all-certs": why there can be no new revision
  Plan plan{};                         // creates the next revision, or removes old ones
};

// Plans a new revision if all parts that are not optional exist and one differs from its copy in the latest revision, or if
// spec.forceRedeploymentReason changed. It creates the copies first and revision-status-N in a later plan. Only data is compared.
// The number is larger than that of every marker and of the settings' status.
//
// Removes copies and markers of old revisions. These stay: the latest, those that a node has or must get, and the newest others.
// The larger of spec.succeededRevisionLimit and spec.failedRevisionLimit is the number of others; default five, all if one is -1.
//
//   may_begin  false while parts are about to change: creates no copies, only removes old revisions
RevisionState plan_revision(const Operand& operand, const Json& settings, const Snapshot& seen, bool may_begin = true);

}  // namespace slipway::components
