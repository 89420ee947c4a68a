// The instructions of a Containerfile, numbered as podman numbers them in its output. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

struct Instruction {
  int stage = 0;     // from 1
  int step = 0;      // in its stage, from 1: FROM is the first
  int line = 0;      // where it begins, from 1
  std::string text;  // continued lines are joined by blanks; without here-documents

  bool operator==(const Instruction&) const = default;
};

// In order. ARG before the first FROM is not a step and has the numbers 0. Comments, empty lines, continued lines, the parser
// directive `escape` and here-documents are understood.
std::vector<Instruction> instructions_of(std::string_view containerfile);

// The instruction of the last step that podman began, by its output ("STEP 3/5: RUN make", "[2/2] STEP 1/4: FROM configs").
// nullptr: no step began, or one that podman added. Valid as long as the list.
const Instruction* last_step(const std::vector<Instruction>& instructions, const std::vector<std::string>& output);

}  // namespace slipway::node
