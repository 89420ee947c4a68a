#include "release/manifest.h"

namespace slipway::release {

namespace {

constexpr std::string_view oci_index = "application/vnd.oci.image.index.v1+json";
constexpr std::string_view oci_manifest = "application/vnd.oci.image.manifest.v1+json";
constexpr std::string_view docker_list = "application/vnd.docker.distribution.manifest.list.v2+json";

Result<std::uint64_t> parse_size(const Json& descriptor) {
  const Json* size = find(descriptor, {"size"});
  if (size == nullptr) return error(Code::invalid, "size: missing, must be a number of bytes");
  if (size->is_uint64()) return size->get_uint64();
  if (size->is_int64() && size->get_int64() >= 0) return static_cast<std::uint64_t>(size->get_int64());
  return error(Code::invalid, "size: must be a number of bytes");
}

Result<Descriptor> parse_descriptor(const Json& json) {
  std::string media_type = TRY(require_string(json, {"mediaType"}));
  const std::string digest = TRY(require_string(json, {"digest"}));
  Digest parsed = TRY(Digest::parse(digest).context("digest"));
  Descriptor descriptor{.media_type = std::move(media_type), .digest = std::move(parsed)};
  descriptor.size = TRY(parse_size(json));
  for (const auto& [key, value] : find_object(json, {"annotations"})) {
    if (value.is_string()) descriptor.annotations.emplace(key, value.get_string());
  }
  descriptor.architecture = find_string(json, {"platform", "architecture"}).value_or("");
  return descriptor;
}

Result<std::vector<Descriptor>> parse_descriptors(const Json& document, std::string_view field) {
  const Json* list = find(document, {field});
  if (list == nullptr || !list->is_array()) return error(Code::invalid, "{}: must be a list", field);
  std::vector<Descriptor> descriptors;
  for (const Json& item : list->get_array()) {
    descriptors.push_back(TRY(parse_descriptor(item).context(fmt::format("{}[{}]", field, descriptors.size()))));
  }
  return descriptors;
}

// Parses the document and checks that it matches its media type. A document that is valid both as index and as manifest would be
// different images for different readers (CVE-2021-41190).
Result<Json> parse_document(const RawManifest& raw, std::string_view other_kind) {
  Json document = TRY(parse_json(raw.bytes, "document"));
  const Json* version = find(document, {"schemaVersion"});
  if (version == nullptr || *version != Json(2)) {
    const bool old = version != nullptr && *version == Json(1);
    return error(Code::invalid, "schemaVersion: {}",
                 old ? "manifests of schema 1 are not supported (push the image with a newer tool)" : "must be 2");
  }
  const auto inner = find_string(document, {"mediaType"});
  if (inner && *inner != raw.media_type) {
    return error(Code::invalid, "mediaType: must be '{}' as stored, got '{}'", raw.media_type, *inner);
  }
  if (find(document, {other_kind}) != nullptr) return error(Code::invalid, "{}: not allowed here", other_kind);
  return document;
}

Result<ImageManifest> read_manifest(const RawManifest& raw) {
  const Json document = TRY(parse_document(raw, "manifests"));
  const Json* config = find(document, {"config"});
  if (config == nullptr) return error(Code::invalid, "config: missing");
  Descriptor config_blob = TRY(parse_descriptor(*config).context("config"));
  std::vector<Descriptor> layers = TRY(parse_descriptors(document, "layers"));
  return ImageManifest{.config = std::move(config_blob), .layers = std::move(layers)};
}

Result<ImageIndex> read_index(const RawManifest& raw) {
  const Json document = TRY(parse_document(raw, "layers"));
  return ImageIndex{.manifests = TRY(parse_descriptors(document, "manifests"))};
}

}  // namespace

bool is_index(std::string_view media_type) { return media_type == oci_index || media_type == docker_list; }

std::string guess_media_type(std::string_view bytes) {
  const Result<Json> document = parse_json(bytes, "document");
  if (!document.ok()) return std::string(oci_manifest);
  const bool has_manifests = find(document.value(), {"manifests"}) != nullptr;
  return std::string(find_string(document.value(), {"mediaType"}).value_or(has_manifests ? oci_index : oci_manifest));
}

Result<ImageManifest> parse_image_manifest(const RawManifest& raw) {
  return read_manifest(raw).context(fmt::format("image manifest {}", raw.digest.text()));
}

Result<ImageIndex> parse_image_index(const RawManifest& raw) {
  return read_index(raw).context(fmt::format("image index {}", raw.digest.text()));
}

}  // namespace slipway::release
