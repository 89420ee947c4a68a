// Merging, as Ignition does for ignition.config.merge: the child wins.
//
// Structs merge member by member; a scalar of the child replaces the parent's where the child says one. A list merges its
// entries by key (path, name, device, source, the text itself), the parent's order first, then what only the child has.
// Options, mountOptions and append are appended. Files, directories and links share one namespace, as do the kernel
// arguments that should and should not exist: the child's entry removes the parent's of another kind. A header of the child
// without a value removes the parent's.
//
// merge(x, {}) and merge({}, x) are x. It is associative as long as no path changes its kind and no header is removed; two
// valid configs can merge into an invalid one (an owner by number from one and by name from the other), so validate again.
#pragma once

#include "ignition/types.h"

namespace slipway::ignition {

// Several children, as in ignition.config.merge, are merged one after the other: merge(merge(parent, first), second).
//
// The result has the higher version of both; the other config is raised to it first (ignition/translate.h).
Config merge(const Config& parent, const Config& child);

}  // namespace slipway::ignition
