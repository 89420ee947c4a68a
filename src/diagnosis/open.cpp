#include "diagnosis/open.h"

#include "release/layer_reader.h"

#include <functional>

namespace slipway::diagnosis {

namespace {

constexpr std::uint64_t largest_file = 64u << 20;

// Rules read text files only. Of the thousands of rendered assets, they read the image references only.
bool is_wanted(std::string_view path) {
  return !path.ends_with(".gz") && (!path.starts_with("rendered-assets/") || path == image_references);
}

// The path without the top folder of the archive, "log-bundle-20261122061000/bootstrap/..."
std::string_view path_in_bundle(std::string_view path) {
  return path.starts_with("log-bundle-") ? path.substr(std::min(path.find('/'), path.size() - 1) + 1) : path;
}

}  // namespace

Result<Bundle> unpack(std::string_view archive) {
  Bundle bundle;
  TRY(release::read_layer(
      archive, [](std::string_view path) { return is_wanted(path_in_bundle(path)); },
      [&](std::string_view path, std::string content) -> Result<> {
        if (!path_in_bundle(path).empty()) bundle.add(std::string(path_in_bundle(path)), std::move(content));
        return Ok{};
      },
      {.file = largest_file}));
  return bundle;
}

Result<Bundle> read_folder(sys::Files& files, const std::string& folder) {
  Bundle bundle;
  const std::function<Result<>(const std::string&)> walk = [&](const std::string& below) -> Result<> {
    for (const std::string& name : TRY(files.list(folder + below))) {
      const std::string path = below + "/" + name;
      const auto info = TRY(files.info(folder + path));
      if (!info) continue;
      if (info->kind == sys::FileKind::directory) TRY(walk(path));
      if (info->kind == sys::FileKind::file && info->size <= largest_file && is_wanted(std::string_view(path).substr(1))) {
        bundle.add(path.substr(1), TRY(files.read(folder + path)));
      }
    }
    return Ok{};
  };
  TRY(walk(""));
  return bundle;
}

}  // namespace slipway::diagnosis
