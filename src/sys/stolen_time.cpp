#include "sys/stolen_time.h"

#include "base/number.h"
#include "base/text.h"

#include <unistd.h>

namespace slipway::sys {

namespace {

constexpr std::string_view all_processors = "cpu ";
constexpr std::size_t steal = 7;  // index; before it: user nice system idle iowait irq softirq

// The number at this index of a line such as "cpu  10 20 30"; zero if it is missing.
std::int64_t figure(std::string_view line, std::size_t number) {
  for (const std::string_view word : split(line.substr(all_processors.size()), ' ')) {
    if (word.empty() || number-- > 0) continue;
    return parse_number<std::int64_t>(word).value_or(0);
  }
  return 0;
}

}  // namespace

Milliseconds stolen_time(std::string_view proc_stat, long ticks_a_second) {
  std::int64_t ticks = 0, processors = 0;
  for (const std::string_view line : split(proc_stat, '\n')) {
    if (line.starts_with(all_processors)) {
      ticks = figure(line, steal);
    } else if (line.starts_with("cpu")) {
      ++processors;
    }
  }
  if (processors == 0 || ticks_a_second <= 0) return Milliseconds(0);
  return Milliseconds(ticks * 1000 / ticks_a_second / processors);
}

Milliseconds stolen_time(Files& files) {
  const Result<std::string> text = files.read("/proc/stat");
  return text.ok() ? stolen_time(text.value(), ::sysconf(_SC_CLK_TCK)) : Milliseconds(0);
}

}  // namespace slipway::sys
