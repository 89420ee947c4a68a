// Identifies a process by its ID and start time, because process IDs are reused.
#pragma once

#include "base/result.h"
#include "sys/fd.h"
#include "sys/files.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::provider::local {

struct ProcessId {
  int pid = 0;
  std::uint64_t start = 0;  // clock ticks since the host booted, field 22 of /proc/PID/stat
  std::string boot;         // /proc/sys/kernel/random/boot_id: changes when the host reboots

  bool operator==(const ProcessId&) const = default;
};

// The start time in a line of /proc/PID/stat. The program's name may contain any characters. errors: invalid
Result<std::uint64_t> start_of_stat(std::string_view stat);

// {"pid":4711,"start":123456,"boot":"5f0c..."}; errors of parse: invalid, with the document's name
std::string to_text(const ProcessId& process);
Result<ProcessId> parse_process_id(std::string_view text, std::string_view name);

// Identifies a process. `proc` is the host's /proc; `pid` may be "self". errors: not_found, as Files
Result<ProcessId> identify(sys::Files& files, const std::string& proc, std::string_view pid);

// A handle of the process; empty if the process has ended, even if its ID is reused. errors: as system calls
Result<std::optional<sys::Fd>> open_process(sys::Files& files, const ProcessId& process);

// Sends a signal through the handle. Succeeds if the process has ended. errors: as system calls
Result<> signal_process(const sys::Fd& process, int number);

}  // namespace slipway::provider::local
