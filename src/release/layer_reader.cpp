#include "release/layer_reader.h"

#include "base/text.h"
#include "release/tar.h"

namespace slipway::release {

namespace {

std::string_view normal_name(std::string_view name) {
  while (name.starts_with("./") || name.starts_with("/")) name.remove_prefix(name.starts_with("/") ? 1 : 2);
  while (name.ends_with("/")) name.remove_suffix(1);
  return name;
}

Result<std::string> read_content(TarReader& tar, std::string_view name, std::uint64_t limit) {
  std::string content;
  for (;;) {
    const std::string_view piece = TRY(tar.read());
    if (piece.empty()) return content;
    content.append(piece);
    if (content.size() > limit) return error(Code::invalid, "{} is larger than {}", to_utf8(name), human_size(limit));
  }
}

}  // namespace

Result<> read_layer(std::string_view blob, const std::function<bool(LayerName)>& wanted,
                    const std::function<Result<>(LayerName, std::string content)>& found, LayerLimits limits) {
  TarReader tar = TRY(TarReader::of_memory(blob, limits.layer).context("layer"));
  for (;;) {
    const std::optional<TarEntry> entry = TRY(tar.next().context("layer"));
    if (!entry) return Ok{};
    const std::string_view name = normal_name(entry->name);
    if (name.empty() || (!entry->is_file && limits.only_files) || !wanted(name)) continue;
    std::string content;
    if (entry->is_file) content = TRY(read_content(tar, name, limits.file).context("layer"));
    TRY(found(name, std::move(content)));
  }
}

}  // namespace slipway::release
