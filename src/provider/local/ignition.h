// Runs Ignition before a machine's first boot: the program from the machine's own root, in the machine's network.
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

// Applies the config to the deployment's /etc and the disk's /var. Ignition retries if a server cannot be reached or answers 5xx;
// other failures are final.
//
//   config  spec up to 3.3.0 (the limit of Ignition)
//   report  gets the lines of Ignition's output that may be shown (printable_line)
//   errors  invalid: Ignition failed, with its message; unavailable: Ignition could not be run; cancelled: a stop, and the disk
//           is incomplete
Result<> run_ignition(const sys::Context& context, sys::Runner& runner, const IgnitionInput& input,
                      const std::function<void(std::string_view)>& report);

// A line of Ignition's output without secrets. Lines of level DEBUG and lines without a level may contain the config, so the
// result is empty for them. Failed commands are shown without their arguments, which may be passwords. Pure.
std::optional<std::string> printable_line(std::string_view line);

// The result of an attempt to fetch a config, from such a line: "" after success, else the failure ("Internal Server Error",
// "dial tcp ...: connection refused"). Empty for other lines. Pure.
std::optional<std::string> attempt_result(std::string_view line);

// Why Ignition failed: the last of these lines, without its prefix. Pure.
std::string ignition_reason(const std::vector<std::string>& lines);

}  // namespace slipway::provider::local
