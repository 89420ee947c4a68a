// The check of a Containerfile before it is built. Pure.
//
// https://docs.docker.com/reference/dockerfile/
#pragma once

#include "base/findings.h"

#include <functional>
#include <string>
#include <string_view>

namespace slipway::machineconfig {

// The stage that a user's text begins with: the system of the release with the config of the pool.
inline constexpr std::string_view configs_stage = "configs";

// Finds what a build would find after minutes: more than 4096 characters, no FROM, a last stage that is not built on "configs"
// (in one or more steps), unknown instructions, instructions without their arguments, a here-document without its end.
// Understands comments, parser directives, continued lines and here-documents.
//
//   field          of the text, for findings: "spec.containerFile[0].content"
//   place_of_line  the place of a line of the text, from 1
void check_containerfile(std::string_view text, const std::string& field, const std::function<Place(int line)>& place_of_line,
                         Findings& findings);

}  // namespace slipway::machineconfig
