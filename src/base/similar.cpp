#include "base/similar.h"

#include "base/text.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace slipway {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t(0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t k = 0; k < b.size(); ++k) {
      const std::size_t replaced = diagonal + (a[i] == b[k] ? 0 : 1);
      diagonal = row[k + 1];
      row[k + 1] = std::min({replaced, row[k] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

std::string_view similar_word(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.size() > 64) return "";
  std::string_view best;
  std::size_t best_distance = std::min<std::size_t>(2, word.size() / 2) + 1;
  for (const std::string_view candidate : known) {
    if (const std::size_t distance = edit_distance(to_lower(word), to_lower(candidate)); distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace slipway
