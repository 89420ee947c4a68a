// The rules: each looks in a bundle for one thing that can be wrong with a cluster.
#pragma once

#include "diagnosis/bundle.h"
#include "diagnosis/finding.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace slipway::diagnosis {

struct Rule {
  std::string_view name;                          // of what it finds
  std::optional<Finding> (*look)(const Bundle&);  // nothing unless the bundle proves it; the name is filled in
};

// In the order in which one explains the next: a full disk before the pods that crash because of it.
std::span<const Rule> rules();

// What all rules find, those that will not heal by themselves first. Pure; tens of milliseconds for a bundle of ten megabytes.
std::vector<Finding> diagnose(const Bundle& bundle);

}  // namespace slipway::diagnosis
