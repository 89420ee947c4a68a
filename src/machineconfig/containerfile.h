// Reads a Containerfile, and checks it before it is built. Pure.
//
// https://docs.docker.com/reference/dockerfile/
#pragma once

#include "base/findings.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::machineconfig {

// The stage that a user's text begins with: the system of the release with the config of the pool.
inline constexpr std::string_view configs_stage = "configs";

struct Instruction {
  int line = 0;                 // where it begins, from 1
  std::string name;             // in lower case, "run"
  std::string rest;             // its arguments; continued lines are joined by blanks
  std::string open_document{};  // the word of a here-document that has no end; usually empty

  bool operator==(const Instruction&) const = default;
};

// The instructions in order, known or not. Understands comments, parser directives, continued lines and here-documents.
std::vector<Instruction> read_instructions(std::string_view containerfile);

// What of a text is lost if other stages come before it: the parser directive "escape", and each ARG before the first FROM, which
// the lines FROM use. Lines to begin the whole Containerfile with; often empty.
std::string lines_for_the_beginning(std::string_view containerfile);

// Finds what a build would find after minutes: more than 4096 characters, no FROM, a last stage that is not built on "configs"
// (in one or more steps), unknown instructions, instructions without their arguments, a here-document without its end.
//
//   field          of the text, for findings: "spec.containerFile[0].content"
//   place_of_line  the place of a line of the text, from 1
void check_containerfile(std::string_view text, const std::string& field, const std::function<Place(int line)>& place_of_line,
                         Findings& findings);

}  // namespace slipway::machineconfig
