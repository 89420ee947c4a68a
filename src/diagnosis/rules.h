// The rules: each searches a bundle for one fault of a cluster.
#pragma once

#include "diagnosis/bundle.h"
#include "diagnosis/finding.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace slipway::diagnosis {

struct Rule {
  std::string_view name;                           // of its findings
  std::optional<Finding> (*check)(const Bundle&);  // a finding only if the bundle proves it; its name is empty
};

// Causes come before their effects: a full disk before the pods that crash because of it.
std::span<const Rule> rules();

// The findings of all rules, final ones first. Pure. Takes tens of milliseconds for a bundle of 10 MB.
std::vector<Finding> diagnose(const Bundle& bundle);

}  // namespace slipway::diagnosis
