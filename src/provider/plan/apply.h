// Creates the resources of a plan, and removes the resources of a cluster.
#pragma once

#include "provider/plan/journal.h"
#include "provider/plan/platform.h"

#include <functional>
#include <string>
#include <vector>

namespace slipway::provider::plan {

// The largest number of calls at once.
inline constexpr int calls_at_once = 8;

// Creates the resources that are missing. A resource that was begun and not completed is removed and created again, unless the
// platform proves that it is whole. After it has created something it looks everything up once more. May be called again after an
// error or a kill: the result is the same as of one call.
//
// A creation whose call had no answer is looked up and repeated, as often as the platform allows (Platform::attempts).
//
// Each creation is an event of kind "resource" with the key as name (docs/formats/events.md); the event of a resource that exists
// has phase `skipped`.
//
//   errors  conflict: a resource with a planned name exists and is not of this cluster; those of the platform, with the key
Result<> apply(const sys::Context& context, Platform& platform, Journal& journal, const Plan& plan);

// Which resources destroy() removes; all if empty.
using Chosen = std::function<bool(const Found&)>;

// Removes resources until two scans in a row find none, and then forgets the journal if no resource of the cluster is left. A
// resource that cannot be removed, for instance because it is in use, is tried again in the next round. Ends when several
// rounds in a row have removed nothing (Platform::patience). Each removal is an event of kind "resource".
//
//   errors  unavailable: lists the resources that are left, each with its reason; denied; cancelled; those of the platform if it
//           does not list its resources
Result<> destroy(const sys::Context& context, Platform& platform, Journal& journal, const Chosen& chosen = {});

// How the journal and the platform differed.
struct Drift {
  std::vector<std::string> gone;        // keys: were created, and do not exist any more
  std::vector<std::string> unrecorded;  // exist completely, and were not in the journal

  bool operator==(const Drift&) const = default;
};

// Brings the journal in line with a scan of the platform, which it does not change. What exists only in part keeps its state: the
// next apply() replaces it. errors: those of scan() and of files
Result<Drift> refresh(const sys::Context& context, Platform& platform, Journal& journal);

}  // namespace slipway::provider::plan
