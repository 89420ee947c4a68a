// Programs of the host that slipway runs.
#pragma once

#include "base/findings.h"

#include <span>
#include <string_view>

namespace slipway::sys {

// A program and the Debian package that contains it.
struct NeededProgram {
  std::string_view name;
  std::string_view package;
};

// Whether a program is in a folder of PATH.
bool is_in_path(std::string_view program);

// Adds an error for each program that is not in PATH, with the package as the hint.
void find_missing(Findings& findings, std::span<const NeededProgram> programs);

}  // namespace slipway::sys
