#include "sys/disk_speed.h"

#include "sys/fd.h"
#include "sys/task_group.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace slipway::sys {

namespace {

using Times = std::vector<std::chrono::microseconds>;

Result<> write_blocks(const Context& context, const Fd& disk, const DiskLoad& load, std::size_t first, Times& times) {
  const SteadyTime end = context.clock.steady() + load.limit;
  const std::string block(load.block, 'e');
  for (std::size_t done = 0; done + block.size() <= load.bytes_each; done += block.size()) {
    if (context.stop.stop_requested()) return error(Code::cancelled, "stopped");
    if (context.clock.steady() > end) break;
    const ssize_t size = ::pwrite(disk.get(), block.data(), block.size(), static_cast<off_t>(first + done));
    if (size != static_cast<ssize_t>(block.size()))
      return size < 0 ? system_error("writing") : error(Code::internal, "a short write");
    const auto start = std::chrono::steady_clock::now();
    if (::fdatasync(disk.get()) != 0) return system_error("making a write durable");
    times.push_back(std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start));
  }
  return Ok{};
}

}  // namespace

Result<std::vector<Times>> measure_durable_writes(const Context& context, const std::string& target, const DiskLoad& load) {
  // With O_EXCL, the kernel refuses a device if the device or one of its partitions is in use.
  const Fd disk(::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_EXCL));
  if (!disk.is_open() && errno == EBUSY) return error(Code::conflict, "{}: is in use, so it cannot be overwritten", target);
  if (!disk.is_open()) return system_error("opening " + target);
  std::vector<Times> times(static_cast<std::size_t>(load.writers));
  TRY(for_each_at_once(context, times.size(), load.writers, [&](const Context& own, std::size_t i) {
        return write_blocks(own, disk, load, i * load.bytes_each, times[i]);
      }).context(target));
  const bool has_none = std::all_of(times.begin(), times.end(), [](const Times& each) { return each.empty(); });
  if (has_none) return error(Code::unavailable, "{}: no write ended within {}", target, human_duration(load.limit));
  return times;
}

std::chrono::microseconds percentile_99(Times times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const std::size_t rank = (times.size() * 99 + 99) / 100;  // of the smallest time that is not less than 99 % of them
  return times[rank - 1];
}

}  // namespace slipway::sys
