// The table of broken links: what the walk in why.h can find, how it finds it, how long it waits before it says so, and what to
// do. docs/why.md shows the same table to users.
#pragma once

#include "base/time.h"

#include <span>
#include <string_view>

namespace slipway::diagnosis {

// From what is awaited to what causes the failure. The end of a chain with the highest level is the first to be reported.
enum class Level { condition, cluster_operator, revision, pod, node, machine, reachability, host };
std::string_view to_string(Level level);

struct LinkRow {
  std::string_view name;  // "node-silent"; never changes, so that programs can compare it
  Level level;
  std::string_view found;  // how
  // How long it may last before it is a fault. The walk counts from `since`. If nothing says since when, `slipway why` reports it
  // at once, and a wait reports it when it has seen it for that long.
  Milliseconds patience;
  std::string_view next_step;  // {} is the name of the object
};

std::span<const LinkRow> link_rows();

// `installing`: the objects of a cluster come up one after the other, on machines that may be several times slower than usual,
// and machines reboot. What tells of speed gets more patience then; facts about machines and their network keep theirs.
enum class Situation { usual, installing };
Milliseconds patience_of(const LinkRow& row, Situation situation);

// A CHECK fails if there is no such row.
const LinkRow& link_row(std::string_view name);

}  // namespace slipway::diagnosis
