#include "release/release_images.h"

#include "release/signature.h"
#include "sys/task_group.h"

#include <algorithm>
#include <set>

namespace slipway::release {

namespace {

constexpr int at_once = 4;

// The image itself, or the images of an index followed by the index.
Result<std::vector<ReleaseImage>> expand(const sys::Context& context, ImageSource& source, ReleaseImage image) {
  std::vector<ReleaseImage> images;
  if (is_index(image.manifest.media_type)) {
    const ImageIndex index = TRY(parse_image_index(image.manifest));
    for (const Descriptor& descriptor : index.manifests) {
      RawManifest manifest = TRY(source.manifest(context, image.from.with_digest(descriptor.digest)));
      if (is_index(manifest.media_type))
        return error(Code::invalid, "index {} contains another index", image.manifest.digest.text());
      ReleaseImage inner{.name = "", .from = image.from, .manifest = std::move(manifest)};
      for (ReleaseImage& each : TRY(expand(context, source, std::move(inner)))) images.push_back(std::move(each));
    }
  } else {
    ImageManifest manifest = TRY(parse_image_manifest(image.manifest));
    image.blobs = std::move(manifest.layers);
    image.blobs.push_back(std::move(manifest.config));
  }
  images.push_back(std::move(image));
  return images;
}

Result<std::vector<ReleaseImage>> collect_component(const sys::Context& context, ImageSource& source, const Reference& repository,
                                                    const Component& component, const std::string& name) {
  Reference from = repository.with_digest(*component.image.digest);
  Result<RawManifest> manifest = source.manifest(context, from);
  if (!manifest.ok() && manifest.error().code() == Code::not_found) {
    from = component.image;
    manifest = source.manifest(context, from);
  }
  if (!manifest.ok()) return std::move(manifest).error();
  return expand(context, source, {.name = name, .from = from, .manifest = std::move(manifest).value()});
}

}  // namespace

Result<std::vector<ReleaseImage>> collect_images(const sys::Context& context, ImageSource& source, const Reference& reference,
                                                 const Release& release) {
  const std::vector<std::pair<std::string, Component>> components(release.components.begin(), release.components.end());
  std::vector<std::vector<ReleaseImage>> found(components.size());
  TRY(sys::for_each_at_once(context, components.size(), at_once, [&](const sys::Context& inner, std::size_t i) -> Result<> {
    const auto& [name, component] = components[i];
    found[i] = TRY(collect_component(inner, source, reference, component, name).context("component " + name));
    return Ok{};
  }));
  if (std::optional<RawManifest> signatures = TRY(find_signature_image(context, source, reference, release.digest))) {
    ReleaseImage beside{.name = signature_tag(release.digest), .from = reference, .manifest = *std::move(signatures)};
    found.push_back(TRY(expand(context, source, std::move(beside)).context("signatures")));
  }
  RawManifest manifest = TRY(source.manifest(context, reference.with_digest(release.digest)));
  ReleaseImage itself{.name = std::string(release_image), .from = reference, .manifest = std::move(manifest)};
  found.push_back(TRY(expand(context, source, std::move(itself))));
  std::vector<ReleaseImage> images;
  for (std::vector<ReleaseImage>& some : found) std::ranges::move(some, std::back_inserter(images));
  return images;
}

std::vector<ReleaseBlob> blobs_of(const std::vector<ReleaseImage>& images) {
  std::vector<ReleaseBlob> blobs;
  std::set<Digest> known;
  for (const ReleaseImage& image : images) {
    for (const Descriptor& blob : image.blobs) {
      if (known.insert(blob.digest).second) blobs.push_back({blob, image.from});
    }
  }
  std::ranges::stable_sort(blobs, std::greater(), [](const ReleaseBlob& blob) { return blob.blob.size; });
  return blobs;
}

std::string image_tag(const std::string& version, std::string_view name) {
  if (is_signature_tag(name)) return std::string(name);
  std::string tag = name == release_image ? version : fmt::format("{}-{}", version, name);
  std::ranges::replace(tag, '+', '_');
  return tag;
}

}  // namespace slipway::release
