#include "assets/preview/unified_diff.h"

#include "base/text.h"

#include <fmt/core.h>
#include <dtl/dtl.hpp>

#include <vector>

namespace slipway::assets {

namespace {

std::vector<std::string> lines_of(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return {};
  const std::vector<std::string_view> lines = split(text, '\n');
  return {lines.begin(), lines.end()};
}

// `diff -u` numbers an empty range by the line before it; the library uses the line after it.
long long first_line(long long first, long long count) { return count == 0 ? first - 1 : first; }

}  // namespace

std::string unified_diff(std::string_view before_name, std::string_view before, std::string_view after_name,
                         std::string_view after) {
  const std::vector<std::string> one = lines_of(before), other = lines_of(after);
  if (one == other) return "";
  dtl::Diff<std::string> diff(one, other, true);
  diff.onHuge();
  diff.compose();
  diff.composeUnifiedHunks();
  std::string text = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
  for (const auto& hunk : diff.getUniHunks()) {
    text += fmt::format("@@ -{},{} +{},{} @@\n", first_line(hunk.a, hunk.b), hunk.b, first_line(hunk.c, hunk.d), hunk.d);
    for (const auto* part : {&hunk.common[0], &hunk.change, &hunk.common[1]}) {
      for (const auto& [line, info] : *part) {
        text += fmt::format("{}{}\n", info.type == dtl::SES_ADD ? '+' : info.type == dtl::SES_DELETE ? '-' : ' ', line);
      }
    }
  }
  return text;
}

}  // namespace slipway::assets
