#include "data/data.h"

#include "base/check.h"

#include <algorithm>

namespace slipway::data {

std::string_view content(std::span<const File> folder, std::string_view path) {
  const auto found = std::ranges::lower_bound(folder, path, {}, &File::path);
  CHECK(found != folder.end() && found->path == path);
  return found->content;
}

}  // namespace slipway::data
