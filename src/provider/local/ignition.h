// The real Ignition, before a machine's first boot: the program of the machine's own root, in the machine's own network.
#pragma once

#include "provider/local/boot_entry.h"

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

struct IgnitionInput {
  std::string machine;
  std::string sysroot;
  Deployment deployment;
  std::string config;             // a file on the host
  std::string network_namespace;  // "/run/netns/master-0"
  std::string work_folder;        // an empty folder in the owner's private /run
};

// Applies the config to the deployment's /etc and the disk's /var. Ignition itself tries on while a server cannot be reached
// or answers 5xx, and gives up on everything else.
//
//   config  spec up to 3.3.0 (the executor's limit)
//   told    what Ignition prints, as far as it is for people (line_for_people)
//   errors  invalid: Ignition gave up for good, with what it said; unavailable: it could not be run; cancelled: a stop, the
//           disk is half-way
Result<> run_ignition(const sys::Context& context, sys::Runner& runner, const IgnitionInput& input,
                      const std::function<void(std::string_view)>& told);

// A line of Ignition's output as people may see it; nothing for one that shows the config, which may hold secrets: those of level
// DEBUG and those without a level. Commands that failed are shown without their arguments (passwords of users). Pure.
std::optional<std::string> line_for_people(std::string_view line);

// What became of one attempt to get a config, by such a line: empty when it is there, "Internal Server Error", "dial tcp ...:
// connection refused"; nothing for other lines. Pure.
std::optional<std::string> attempt_result(std::string_view line);

// Why Ignition gave up: the last of these lines, without what it puts before it. Pure.
std::string ignition_reason(const std::vector<std::string>& lines);

}  // namespace slipway::provider::local
