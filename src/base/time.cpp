#include "base/time.h"

#include "base/number.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace slipway {

namespace {

using namespace std::chrono;

// Removes exactly `digits` digits from the start of the text.
bool take_digits(std::string_view& text, std::size_t digits, int& number) {
  const std::optional<unsigned> read = parse_number<unsigned>(text.substr(0, digits));
  if (text.size() < digits || !read) return false;
  number = static_cast<int>(*read);
  text.remove_prefix(digits);
  return true;
}

bool take_char(std::string_view& text, std::string_view allowed) {
  if (text.empty() || allowed.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string to_rfc3339(WallTime time) {
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  if (clock.subseconds().count() != 0) text += fmt::format(".{:03}", clock.subseconds().count());
  return text + 'Z';
}

Result<WallTime> parse_rfc3339(std::string_view text) {
  const Error wrong = error(Code::invalid, "'{}' is not a time like 2026-11-21T09:30:00Z", text);
  int year_number, month_number, day_number, hour, minute, second;
  if (!take_digits(text, 4, year_number) || !take_char(text, "-") || !take_digits(text, 2, month_number) ||
      !take_char(text, "-") || !take_digits(text, 2, day_number) || !take_char(text, "Tt ") || !take_digits(text, 2, hour) ||
      !take_char(text, ":") || !take_digits(text, 2, minute) || !take_char(text, ":") || !take_digits(text, 2, second)) {
    return wrong;
  }
  const year_month_day date(year(year_number), month(static_cast<unsigned>(month_number)),
                            day(static_cast<unsigned>(day_number)));
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return wrong;
  int thousandths = 0;
  if (take_char(text, ".")) {
    int weight = 100;
    int digit = 0;
    if (!take_digits(text, 1, digit)) return wrong;
    do {
      thousandths += digit * weight;
      weight /= 10;
    } while (take_digits(text, 1, digit));
  }
  minutes offset{0};
  if (!take_char(text, "Zz")) {
    const bool west = !text.empty() && text.front() == '-';
    int offset_hours, offset_minutes;
    if (!take_char(text, "+-") || !take_digits(text, 2, offset_hours) || !take_char(text, ":") ||
        !take_digits(text, 2, offset_minutes) || offset_hours > 23 || offset_minutes > 59) {
      return wrong;
    }
    offset = hours(offset_hours) + minutes(offset_minutes);
    if (west) offset = -offset;
  }
  if (!text.empty()) return wrong;
  const WallTime time(sys_days(date) + hours(hour) + minutes(minute) + seconds(second) + milliseconds(thousandths) - offset);
  // A leap second or an offset can move the time out of the years with four digits.
  if (time < sys_days(year(0) / January / 1) || time >= sys_days(year(10'000) / January / 1)) return wrong;
  return time;
}

std::string human_duration(Milliseconds duration) {
  const long long ms = duration.count();
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 59'950) return fmt::format("{:.1f} s", static_cast<double>(ms) / 1000);
  const long long seconds_total = (ms + 500) / 1000;
  if (seconds_total < 3600) return fmt::format("{} min {} s", seconds_total / 60, seconds_total % 60);
  return fmt::format("{} h {} min", seconds_total / 3600, seconds_total % 3600 / 60);
}

Result<Milliseconds> parse_duration(std::string_view text) {
  const Error wrong = error(Code::invalid, "'{}' is not a duration like 10m or 1h30m", text);
  const std::pair<std::string_view, Milliseconds> units[] = {{"ms", 1ms}, {"s", 1s}, {"m", 1min}, {"h", 1h}};
  constexpr std::uint32_t max_count = 1'000'000;  // of each unit, to prevent an overflow
  Milliseconds sum{};
  if (text.empty()) return wrong;
  while (!text.empty()) {
    const std::optional<std::uint32_t> number = take_number<std::uint32_t>(text);
    if (!number || *number > max_count) return wrong;
    const auto unit = std::ranges::find_if(units, [&](const auto& candidate) { return text.starts_with(candidate.first); });
    if (unit == std::end(units)) return wrong;
    text.remove_prefix(unit->first.size());
    sum += *number * unit->second;
  }
  return sum;
}

}  // namespace slipway
