#include "provider/local/process_id.h"

#include "base/json.h"
#include "base/number.h"
#include "base/text.h"

#include <cerrno>
#include <csignal>
#include <limits>
#include <optional>

extern "C" {  // glibc 2.36 forgets it in this header
#include <sys/pidfd.h>
}

namespace slipway::provider::local {

Result<std::uint64_t> start_of_stat(std::string_view stat) {
  // Field 2 is the name in parentheses; field 3 follows the last parenthesis.
  const std::size_t name_end = stat.rfind(')');
  if (name_end != std::string_view::npos && name_end + 2 < stat.size()) {
    const std::vector<std::string_view> fields = split(stat.substr(name_end + 2), ' ');
    constexpr std::size_t start_field = 22 - 3;
    if (fields.size() > start_field) {
      if (const auto start = parse_number<std::uint64_t>(fields[start_field])) return *start;
    }
  }
  return error(Code::invalid, "'{}' is not a line of /proc/PID/stat", stat);
}

std::string to_text(const ProcessId& process) {
  return emit_json({{"pid", process.pid}, {"start", process.start}, {"boot", process.boot}}, JsonStyle::compact) + "\n";
}

Result<ProcessId> parse_process_id(std::string_view text, std::string_view name) {
  const Json document = TRY(parse_json(text, name));
  const Json* pid = find(document, {"pid"});
  const Json* start = find(document, {"start"});
  const auto boot = find_string(document, {"boot"});
  std::optional<std::uint64_t> start_number;
  if (start && start->is_uint64()) start_number = start->get_uint64();
  if (start && start->is_int64() && start->get_int64() >= 0) start_number = static_cast<std::uint64_t>(start->get_int64());
  const bool has_pid = pid && pid->is_int64() && pid->get_int64() >= 1 && pid->get_int64() <= std::numeric_limits<int>::max();
  if (!has_pid || !start_number || !boot) {
    return error(Code::invalid, "{}: needs pid, start and boot of a process", name);
  }
  return ProcessId{static_cast<int>(pid->get_int64()), *start_number, std::string(*boot)};
}

Result<ProcessId> identify(sys::Files& files, const std::string& proc, std::string_view pid) {
  const std::string stat = TRY(files.read(fmt::format("{}/{}/stat", proc, pid)));
  ProcessId process;
  std::string_view number = stat;
  process.pid = take_number<int>(number).value_or(process.pid);
  process.start = TRY(start_of_stat(trim(stat)));
  process.boot = trim(TRY(files.read("/proc/sys/kernel/random/boot_id")));
  return process;
}

Result<std::optional<sys::Fd>> open_process(sys::Files& files, const ProcessId& process) {
  sys::Fd handle(::pidfd_open(process.pid, 0));
  if (!handle.is_open()) {
    if (errno == ESRCH) return std::optional<sys::Fd>();
    return sys::system_error(fmt::format("opening process {}", process.pid));
  }
  // Compare after opening the handle: the handle refers to one process, even if its ID is reused later.
  const Result<ProcessId> now = identify(files, "/proc", std::to_string(process.pid));
  if (!now.ok() || now.value() != process) return std::optional<sys::Fd>();
  return std::optional<sys::Fd>(std::move(handle));
}

Result<> signal_process(const sys::Fd& process, int number) {
  if (::pidfd_send_signal(process.get(), number, nullptr, 0) != 0 && errno != ESRCH) return sys::system_error("sending a signal");
  return Ok{};
}

}  // namespace slipway::provider::local
