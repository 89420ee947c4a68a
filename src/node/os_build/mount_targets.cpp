#include "node/os_build/mount_targets.h"

#include "release/digest.h"
#include "release/manifest.h"
#include "release/tar.h"

#include <array>
#include <optional>
#include <set>
#include <utility>

namespace slipway::node {

namespace {

using release::Digest;

constexpr std::array<std::string_view, 2> targets = {"hostname", "resolv.conf"};  // in etc
constexpr std::string_view layer_type = "application/vnd.oci.image.layer.v1.tar";

// The blobs of a layout.
class Blobs {
 public:
  Blobs(sys::Files& files, std::string layout) : files_(files), layout_(std::move(layout)) {}

  std::string path(std::string_view digest) const {
    return fmt::format("{}/blobs/sha256/{}", layout_, digest.substr(digest.find(':') + 1));
  }
  Result<Json> read(const Json& descriptor) {
    const std::string file = path(text_of(descriptor, {"digest"}));
    const std::string text = TRY(files_.read(file));
    return parse_json(text, file);
  }
  // Returns its descriptor.
  Result<Json> write(std::string_view content, std::string_view type) {
    const std::string digest = Digest::of(content).text();
    TRY(files_.write(path(digest), content, 0644));
    return Json{{"mediaType", type}, {"digest", digest}, {"size", content.size()}};
  }

 private:
  sys::Files& files_;
  std::string layout_;
};

Result<> read_entries(const std::string& layer, std::vector<LayerEntry>& entries) {
  release::TarReader tar = TRY(release::TarReader::of_file(layer));
  while (std::optional<release::TarEntry> entry = TRY(tar.next())) {
    entries.push_back({std::move(entry->name), entry->is_file && entry->size == 0});
  }
  return Ok{};
}

// An archive that removes the files.
Result<std::string> make_layer(sys::Files& files, const std::string& path, const std::vector<std::string>& names) {
  TRY(files.remove(path));
  release::TarWriter tar = TRY(release::TarWriter::create(path));
  for (const std::string& name : names) TRY(tar.begin("etc/.wh." + name, 0));
  TRY(tar.finish());
  std::string content = TRY(files.read(path));
  TRY(files.remove(path));
  return content;
}

}  // namespace

std::vector<std::string> mount_targets_in(const std::vector<LayerEntry>& entries) {
  std::set<std::string> found;
  for (const LayerEntry& entry : entries) {
    const std::string_view name = std::string_view(entry.name).substr(entry.name.starts_with("./") ? 2 : 0);
    for (const std::string_view target : targets) {
      if (name == fmt::format("etc/.wh.{}", target)) found.erase(std::string(target));
      if (name != fmt::format("etc/{}", target)) continue;
      if (entry.is_empty_file)
        found.emplace(target);
      else
        found.erase(std::string(target));
    }
  }
  return {found.begin(), found.end()};
}

Result<> remove_mount_targets(const sys::Context& context, sys::Files& files, const std::string& layout,
                              std::size_t base_layers) {
  Blobs blobs(files, layout);
  const std::string index_path = layout + "/index.json", index_text = TRY(files.read(index_path));
  Json index = TRY(parse_json(index_text, index_path));
  const JsonArray& images = find_array(index, {"manifests"});
  if (images.size() != 1) return error(Code::invalid, "{} has {} images instead of one", layout, images.size());
  Json manifest = TRY(blobs.read(images[0]));
  std::vector<LayerEntry> entries;
  const JsonArray& layers = find_array(manifest, {"layers"});
  for (std::size_t i = base_layers; i < layers.size(); ++i) {
    if (context.stop.stop_requested()) return error(Code::cancelled, "stopped while reading {}", layout);
    TRY(read_entries(blobs.path(text_of(layers[i], {"digest"})), entries));
  }
  const std::vector<std::string> names = mount_targets_in(entries);
  if (names.empty()) return Ok{};

  const Json* described = find(manifest, {"config"});
  if (!described) return error(Code::invalid, "{}: the manifest has no config", layout);
  Json config = TRY(blobs.read(*described));
  if (!find(config, {"rootfs", "diff_ids"})) return error(Code::invalid, "{}: the config of the image has no layers", layout);
  const std::string content = TRY(make_layer(files, layout + "/layer.new", names));
  const Json layer = TRY(blobs.write(content, layer_type));
  config.as_object()["rootfs"].as_object()["diff_ids"].as_array().push_back(layer.as_object().at("digest"));
  if (find(config, {"history"}))
    config.as_object()["history"].as_array().push_back(
        {{"created_by", "slipway-node os-image-build"}, {"comment", "without mounts"}});
  manifest.as_object()["layers"].as_array().push_back(layer);
  manifest.as_object()["config"] =
      TRY(blobs.write(emit_json(config, JsonStyle::compact), "application/vnd.oci.image.config.v1+json"));
  const Json image = TRY(blobs.write(emit_json(manifest, JsonStyle::compact), "application/vnd.oci.image.manifest.v1+json"));
  JsonObject& entry = index.as_object()["manifests"].as_array()[0].as_object();
  for (const char* key : {"digest", "size"}) entry[key] = image.as_object().at(key);
  return files.write(index_path, emit_json(index, JsonStyle::compact), 0644);
}

}  // namespace slipway::node
