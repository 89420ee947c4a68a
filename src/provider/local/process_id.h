// A process that can be found again: its number and when it started, since numbers are used again.
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
  std::uint64_t start = 0;  // clock ticks since the host was started, field 22 of /proc/PID/stat
  std::string boot;         // /proc/sys/kernel/random/boot_id: after a reboot of the host nothing is the same

  bool operator==(const ProcessId&) const = default;
};

// The start time in a line of /proc/PID/stat, where the program's name may hold anything. errors: invalid
Result<std::uint64_t> start_of_stat(std::string_view stat);

// {"pid":4711,"start":123456,"boot":"5f0c..."}; errors of parse: invalid, with the document's name
std::string to_text(const ProcessId& process);
Result<ProcessId> parse_process_id(std::string_view text, std::string_view name);

// A process as the host sees it. `proc` is the host's /proc, "self" may stand for pid. errors: not_found, as Files
Result<ProcessId> identify(sys::Files& files, const std::string& proc, std::string_view pid);

// A handle on the process; nothing when it has ended or another one has its number. errors: as system calls
Result<std::optional<sys::Fd>> open_process(sys::Files& files, const ProcessId& process);

// Sends a signal through the handle; fine when the process has ended. errors: as system calls
Result<> signal_process(const sys::Fd& process, int number);

}  // namespace slipway::provider::local
