#include "release/stream_metadata.h"

#include "release/disk_image.h"

#include <algorithm>

namespace slipway::release {

namespace {

constexpr std::string_view prefix = "slipway-";
constexpr std::string_view architecture = ".x86_64.";

}  // namespace

std::string file_name(const DiskImageFile& image) {
  return fmt::format("{}{}-{}{}{}", prefix, image.version, image.platform, architecture, image.format);
}

std::optional<DiskImageFile> parse_file_name(std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  const std::size_t middle = name.rfind(architecture);
  if (middle == std::string_view::npos) return std::nullopt;
  const std::string_view format = name.substr(middle + architecture.size()), first = name.substr(0, middle);
  // A version may contain '-', a platform does not.
  const std::size_t dash = first.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  DiskImageFile image{std::string(first.substr(0, dash)), std::string(first.substr(dash + 1)), std::string(format)};
  if (!find_disk_platform(image.platform) || std::ranges::find(disk_formats(), format) == disk_formats().end())
    return std::nullopt;
  if (is_live(format) && image.platform != live_platform) return std::nullopt;
  return image;
}

Json stream_metadata(const std::vector<ListedImage>& images) {
  JsonObject artifacts;
  for (const ListedImage& each : images) {
    Json& artifact = artifacts[each.image.platform];
    if (!artifact.is_object() || artifact.at("release") != Json(each.image.version))
      artifact = {{"release", each.image.version}, {"formats", JsonObject{}}};
    artifact.at("formats").as_object()[each.image.format] = {{"disk", {{"location", each.location}, {"sha256", each.sha256}}}};
  }
  const std::string version = images.empty() ? "" : images.back().image.version;
  return {{"stream", "slipway"},
          {"metadata", {{"generator", "slipway " + version}}},
          {"architectures", {{"x86_64", {{"artifacts", artifacts}, {"images", JsonObject{}}}}}}};
}

}  // namespace slipway::release
