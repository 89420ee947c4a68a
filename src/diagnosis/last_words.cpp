#include "diagnosis/last_words.h"

#include "base/number.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::diagnosis {

std::optional<std::int64_t> starts_before(std::string_view path) {
  std::string_view file = path.substr(path.rfind('/') + 1);
  const std::optional<std::int64_t> value = take_number<std::int64_t>(file);
  return file == ".log" ? value : std::nullopt;
}

std::string_view failure_line(std::string_view text, int& number) {
  constexpr std::array words = {std::string_view("panic"),  std::string_view("fatal"),
                                std::string_view("Fatal"),  std::string_view("\"level\":\"error"),
                                std::string_view("error:"), std::string_view("Error:")};
  constexpr std::size_t looked_at = 60;  // lines from the end; a stack trace may follow the message
  const std::vector<std::string_view> lines = split(text, '\n');
  const std::size_t first = lines.size() > looked_at ? lines.size() - looked_at : 0;
  std::size_t best = lines.size() - 1;
  for (std::size_t i = lines.size(); i-- > first;) {
    if (std::ranges::none_of(words, [&](std::string_view word) { return lines[i].find(word) != std::string_view::npos; }))
      continue;
    best = i;
    break;
  }
  number = static_cast<int>(best) + 1;
  return lines[best];
}

std::optional<Quote> last_words(const Bundle& bundle, const std::string& pod, std::string_view container) {
  const std::size_t slash = pod.find('/');
  const std::string folder = fmt::format("{}_{}_", pod.substr(0, slash), pod.substr(slash + 1));
  std::optional<std::pair<std::int64_t, Quote>> latest;
  for (const Machine& machine : bundle.machines()) {
    const std::string prefix = fmt::format("{}containers/logs/{}", machine.folder, folder);
    for (const std::string_view path : bundle.paths(prefix, ".log")) {
      const std::optional<std::int64_t> starts = starts_before(path);
      if (path.find(fmt::format("/{}/", container)) == std::string_view::npos || !starts) continue;
      const std::string_view text = trim(*bundle.find(path));
      if (text.empty() || (latest && latest->first >= *starts)) continue;
      int number = 0;
      const std::string_view line = failure_line(text, number);
      latest = {*starts, Quote{std::string(path), number, shortened(line)}};
    }
  }
  if (!latest) return std::nullopt;
  return latest->second;
}

}  // namespace slipway::diagnosis
