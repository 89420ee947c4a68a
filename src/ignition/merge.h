// Merges configs as Ignition does for ignition.config.merge: the child overrides the parent.
//
// Structs are merged member by member. A scalar of the child replaces the scalar of the parent if it is present. Items of a list
// are merged by key (path, name, device, source, or the text itself): first the items of the parent in their order, then the
// items that only the child has. Options, mountOptions and append are appended. Files, directories and links share one namespace,
// and so do the two lists of kernel arguments: an item of the child removes the parent's item with the same key in another list.
// A header of the child without a value removes the header of the parent.
//
// merge(x, {}) and merge({}, x) are x. Merging is associative unless a path changes its kind or a header is removed. Validate the
// result: two valid configs can merge into an invalid config (an owner by ID from one and by name from the other).
#pragma once

#include "ignition/types.h"

namespace slipway::ignition {

// The result has the higher version of the two. The other config is raised to that version first (ignition/translate.h).
//
// To merge several children, as in ignition.config.merge, merge them in order: merge(merge(parent, first), second).
Config merge(const Config& parent, const Config& child);

}  // namespace slipway::ignition
