#include "ignition/fields.h"

#include <fmt/core.h>

namespace slipway::ignition {

std::string key_of(const Partition& partition) {
  if (partition.number.value_or(0) != 0) return fmt::format("number:{}", *partition.number);
  return partition.label ? "label:" + *partition.label : "";
}

std::string member_path(const std::string& path, std::string_view key) {
  const bool plain = !key.empty() && key.find_first_of(".[]\"") == std::string_view::npos;
  if (!plain) return fmt::format("{}[\"{}\"]", path, key);
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string item_path(const std::string& path, std::size_t index) { return fmt::format("{}[{}]", path, index); }

}  // namespace slipway::ignition
