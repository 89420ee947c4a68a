#include "release/release.h"

#include "base/findings.h"
#include "base/json.h"
#include "base/similar.h"
#include "base/text.h"
#include "release/layer_reader.h"

#include <algorithm>
#include <set>

namespace slipway::release {

namespace {

constexpr std::string_view folder = "release-manifests/";
constexpr std::string_view references_name = "image-references";
constexpr std::string_view metadata_name = "release-metadata";
constexpr std::string_view versions_annotation = "io.openshift.build.versions";
constexpr std::uint64_t largest_layer = 256u << 20;  // compressed, held in memory
constexpr std::uint64_t largest_config = 8u << 20;

#if defined(__x86_64__)
constexpr std::string_view architecture = "amd64";
#elif defined(__aarch64__)
constexpr std::string_view architecture = "arm64";
#else
#error "the name of this architecture in image indexes is not known"
#endif

// "kubernetes=1.36.3,etcd=3.6.5"
std::map<std::string, std::string> parse_versions(std::string_view text, const Place& place, const std::string& field,
                                                  Findings& findings) {
  std::map<std::string, std::string> versions;
  for (std::string_view part : split(text, ',')) {
    part = trim(part);
    const std::size_t equals = part.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == part.size()) {
      findings.error(place, field, "'{}' is not NAME=VERSION", part);
    } else if (!versions.emplace(part.substr(0, equals), part.substr(equals + 1)).second) {
      findings.error(place, field, "duplicate name '{}'", part.substr(0, equals));
    }
  }
  return versions;
}

std::optional<Component> parse_component(const Json& tag, const Place& place, const std::string& field, Findings& findings) {
  const auto name = find_string(tag, {"from", "name"});
  if (!name || find_string(tag, {"from", "kind"}) != "DockerImage") {
    findings.error(place, field + ".from", "must have kind DockerImage and a name");
    return std::nullopt;
  }
  Result<Reference> image = parse_reference(*name);
  if (!image.ok() || !image->digest) {
    findings.error(place, field + ".from.name", "{}", image.ok() ? "must have a digest" : image.error().message());
    return std::nullopt;
  }
  Component component{.image = std::move(image).value(), .versions = {}};
  if (const auto versions = find_string(tag, {"annotations", versions_annotation})) {
    component.versions =
        parse_versions(*versions, place, fmt::format("{}.annotations.\"{}\"", field, versions_annotation), findings);
  }
  return component;
}

void parse_components(const Json& document, Release& release, Findings& findings) {
  const Place place{.file = std::string(references_name)};
  if (find_string(document, {"kind"}) != "ImageStream") findings.error(place, "kind", "must be ImageStream");
  if (find_string(document, {"metadata", "name"}) != release.version) {
    findings.error(place, "metadata.name", "must be the version of {}, '{}'", metadata_name, release.version);
  }
  const Json* tags = find(document, {"spec", "tags"});
  if (tags == nullptr || !tags->is_array()) findings.error(place, "spec.tags", "must be a list");
  std::size_t index = 0;
  for (const Json& tag : find_array(document, {"spec", "tags"})) {
    const std::string field = fmt::format("spec.tags[{}]", index++);
    const auto name = find_string(tag, {"name"});
    std::optional<Component> component = parse_component(tag, place, field, findings);
    if (!name || name->empty())
      findings.error(place, field + ".name", "missing");
    else if (release.components.contains(std::string(*name)))
      findings.error(place, field + ".name", "duplicate name '{}'", *name);
    else if (component)
      release.components.emplace(*name, *std::move(component));
  }
}

void parse_metadata(const Json& document, Release& release, Findings& findings) {
  const Place place{.file = std::string(metadata_name)};
  if (find_string(document, {"kind"}) != "cincinnati-metadata-v0")
    findings.error(place, "kind", "must be cincinnati-metadata-v0");
  release.version = find_string(document, {"version"}).value_or("");
  if (release.version.empty()) findings.error(place, "version", "missing");
  for (const auto& [key, value] : find_object(document, {"metadata"})) {
    if (value.is_string()) release.metadata.emplace(key, value.get_string());
  }
  for (const Json& version : find_array(document, {"previous"})) {
    if (version.is_string()) release.previous.emplace_back(version.get_string());
  }
}

// What was found in the folder so far, from the top layer down.
struct Documents {
  std::map<std::string, std::string> texts;  // the two documents
  std::set<std::string> names;               // of the other files
  std::set<std::string> hidden;              // deleted or replaced by an upper layer
  bool lower_layers_hidden = false;

  bool are_complete() const { return texts.size() == 2; }
};

Result<> read_documents(std::string_view layer, Documents& documents) {
  std::set<std::string> seen;  // names in this layer; hide names in lower layers, but not in this one
  bool opaque = false;
  auto wanted = [&](LayerName path) {
    if (!path.starts_with(folder) || path.find('/', folder.size()) != LayerName::npos) return false;
    std::string name(path.substr(folder.size()));
    if (documents.hidden.contains(name)) return false;
    if (name == ".wh..wh..opq") {
      opaque = true;
    } else if (name.starts_with(".wh.")) {
      seen.insert(name.substr(4));
    } else {
      seen.insert(name);
      if (name == references_name || name == metadata_name) return true;
      documents.names.insert(std::move(name));
    }
    return false;
  };
  TRY(read_layer(layer, wanted, [&](LayerName path, std::string content) -> Result<> {
    documents.texts.insert_or_assign(std::string(path.substr(folder.size())), std::move(content));
    return Ok{};
  }));
  documents.hidden.merge(seen);
  documents.lower_layers_hidden = opaque;
  return Ok{};
}

Result<Documents> find_documents(const sys::Context& context, ImageSource& source, const Reference& repository,
                                 const ImageManifest& image) {
  Documents documents;
  for (std::size_t i = image.layers.size(); i-- > 0 && !documents.are_complete() && !documents.lower_layers_hidden;) {
    const std::string layer = TRY(blob_text(context, source, repository, image.layers[i], largest_layer));
    TRY(read_documents(layer, documents).context(image.layers[i].digest.text()));
  }
  for (std::string_view name : {references_name, metadata_name}) {
    if (!documents.texts.contains(std::string(name))) {
      return error(Code::invalid, "not a release image, /{}{} not found", folder, name);
    }
  }
  return documents;
}

Result<Release> load(const sys::Context& context, ImageSource& source, const Reference& reference) {
  RawManifest top = TRY(source.manifest(context, reference));
  const Digest digest = top.digest;
  const RawManifest manifest = TRY(manifest_for_this_machine(context, source, reference, std::move(top)));
  const ImageManifest image = TRY(parse_image_manifest(manifest));
  Documents documents = TRY(find_documents(context, source, reference, image));
  Release release =
      TRY(parse_release(digest, documents.texts[std::string(references_name)], documents.texts[std::string(metadata_name)]));
  const std::string config = TRY(blob_text(context, source, reference, image.config, largest_config));
  release.created = text_of(TRY(parse_json(config, "image config")), {"created"});
  release.manifests.assign(documents.names.begin(), documents.names.end());
  return release;
}

bool is_similar(const std::string& known, std::string_view asked) {
  return !asked.empty() && asked.size() <= 64 && (known.find(asked) != std::string::npos || edit_distance(known, asked) <= 2);
}

}  // namespace

std::map<std::string, std::string> Release::versions() const {
  std::map<std::string, std::string> all;
  for (const auto& [name, component] : components) all.insert(component.versions.begin(), component.versions.end());
  return all;
}

Result<const Component*> Release::component(std::string_view name) const {
  if (auto found = components.find(std::string(name)); found != components.end()) return &found->second;
  std::vector<std::string> similar;
  for (const auto& [known, component] : components) {
    if (is_similar(known, name)) similar.push_back(known);
  }
  return error(Code::not_found, "release {} has no component '{}'{}", version, name,
               similar.empty() ? "" : fmt::format(" (did you mean {}?)", join(similar, ", ")));
}

Result<Release> parse_release(const Digest& digest, std::string_view image_references, std::string_view release_metadata) {
  const Json references = TRY(parse_json(image_references, references_name));
  const Json metadata = TRY(parse_json(release_metadata, metadata_name));
  Release release{.version = {}, .digest = digest, .created = {}, .metadata = {}, .components = {}, .manifests = {}};
  Findings findings;
  parse_metadata(metadata, release, findings);
  parse_components(references, release, findings);
  TRY(findings.to_result());
  return release;
}

std::string_view machine_architecture() { return architecture; }

Result<RawManifest> manifest_for_this_machine(const sys::Context& context, ImageSource& source, const Reference& repository,
                                              RawManifest manifest) {
  if (!is_index(manifest.media_type)) return manifest;
  const ImageIndex index = TRY(parse_image_index(manifest));
  for (const Descriptor& descriptor : index.manifests) {
    if (descriptor.architecture == architecture) return source.manifest(context, repository.with_digest(descriptor.digest));
  }
  return error(Code::invalid, "image index {} has no image for {}", manifest.digest.text(), architecture);
}

Result<Release> load_release(const sys::Context& context, ImageSource& source, const Reference& reference) {
  return load(context, source, reference).context("reading release " + source.describe(reference));
}

}  // namespace slipway::release
