// The steps of a build, numbered as podman numbers them in its output. Pure.
#pragma once

#include "machineconfig/containerfile.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

// An instruction of a stage.
struct Step {
  int stage = 0;   // from 1
  int number = 0;  // in its stage, from 1: FROM is the first
  machineconfig::Instruction instruction;

  bool operator==(const Step&) const = default;
};

// Whether the line of podman's output begins a step.
bool begins_step(std::string_view line);

// In order. ARG before the first FROM is not a step.
std::vector<Step> steps_of(std::string_view containerfile);

// The last step that podman began, by its output ("STEP 3/5: RUN make", "[2/2] STEP 1/4: FROM configs"). nullptr: no step began,
// or one that podman added. Valid as long as the list.
const Step* last_step(const std::vector<Step>& steps, const std::vector<std::string>& output);

}  // namespace slipway::node
