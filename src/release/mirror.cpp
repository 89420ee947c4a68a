#include "release/mirror.h"

#include "base/check.h"
#include "base/guarded.h"
#include "release/blob_file.h"
#include "sys/events.h"
#include "sys/files.h"
#include "sys/task_group.h"
#include "sys/temp_dir.h"

#include <algorithm>
#include <optional>
#include <set>

namespace slipway::release {

namespace {

constexpr int at_once = 4;
constexpr std::uint64_t progress_steps = 100;  // maximum number of progress events in a run

// Counts the bytes done and emits progress events at a limited rate.
class Progress {
 public:
  Progress(sys::Events& events, std::string name, std::uint64_t total) : events_(events), name_(std::move(name)), total_(total) {}

  void add(std::uint64_t bytes) {
    const std::uint64_t now = done_.with_lock([&](Done& done) -> std::uint64_t {
      done.bytes += bytes;
      if (done.bytes < done.reported + total_ / progress_steps && done.bytes < total_) return 0;
      return done.reported = done.bytes;
    });
    if (now == 0) return;
    events_.emit({.kind = "mirror", .name = name_, .phase = sys::Phase::progress, .fields = {{"bytes", now}, {"total", total_}}});
  }

 private:
  struct Done {
    std::uint64_t bytes = 0;
    std::uint64_t reported = 0;
  };

  sys::Events& events_;
  const std::string name_;
  const std::uint64_t total_;
  Guarded<Done> done_;
};

// One mirroring run from a source to a target.
class Mirroring {
 public:
  Mirroring(const sys::Context& context, ImageSource& source, RegistryClient& client, const Reference& target)
      : context_(context), source_(source), client_(client), target_(target) {}

  // All images of the release, in the order in which they must be pushed.
  Result<std::vector<MirrorImage>> collect(const Reference& reference, const Release& release);

  Result<MirrorResult> apply(const MirrorPlan& plan);

 private:
  Result<std::vector<MirrorImage>> collect_component(const sys::Context& context, const Reference& release_repository,
                                                     const Component& component, const std::string& tag);
  Result<std::vector<MirrorImage>> expand(const sys::Context& context, MirrorImage image);
  Result<> copy_blob(const sys::Context& context, const MirrorBlob& blob, const std::string& path, Progress& progress);
  Result<> push_blob(const sys::Context& context, const Descriptor& blob, const std::string& path, Progress& progress);
  Result<> push_image(const MirrorImage& image);

  const sys::Context& context_;
  ImageSource& source_;
  RegistryClient& client_;
  const Reference& target_;
};

// The image itself, or the images of an index followed by the index.
Result<std::vector<MirrorImage>> Mirroring::expand(const sys::Context& context, MirrorImage image) {
  std::vector<MirrorImage> images;
  if (is_index(image.manifest.media_type)) {
    const ImageIndex index = TRY(parse_image_index(image.manifest));
    for (const Descriptor& descriptor : index.manifests) {
      RawManifest manifest = TRY(source_.manifest(context, image.from.with_digest(descriptor.digest)));
      if (is_index(manifest.media_type))
        return error(Code::invalid, "index {} contains another index", image.manifest.digest.text());
      for (MirrorImage& inner : TRY(expand(context, {.tag = "", .from = image.from, .manifest = std::move(manifest)}))) {
        images.push_back(std::move(inner));
      }
    }
  } else {
    ImageManifest manifest = TRY(parse_image_manifest(image.manifest));
    image.blobs = std::move(manifest.layers);
    image.blobs.push_back(std::move(manifest.config));
  }
  images.push_back(std::move(image));
  return images;
}

Result<std::vector<MirrorImage>> Mirroring::collect_component(const sys::Context& context, const Reference& release_repository,
                                                              const Component& component, const std::string& tag) {
  Reference from = release_repository.with_digest(*component.image.digest);
  Result<RawManifest> manifest = source_.manifest(context, from);
  if (!manifest.ok() && manifest.error().code() == Code::not_found) {
    from = component.image;
    manifest = source_.manifest(context, from);
  }
  if (!manifest.ok()) return std::move(manifest).error();
  return expand(context, {.tag = tag, .from = from, .manifest = std::move(manifest).value()});
}

Result<std::vector<MirrorImage>> Mirroring::collect(const Reference& reference, const Release& release) {
  const std::vector<std::pair<std::string, Component>> components(release.components.begin(), release.components.end());
  std::vector<std::vector<MirrorImage>> found(components.size());
  TRY(sys::for_each_at_once(context_, components.size(), at_once, [&](const sys::Context& context, std::size_t i) -> Result<> {
    const auto& [name, component] = components[i];
    found[i] =
        TRY(collect_component(context, reference, component, mirror_tag(release.version, name)).context("component " + name));
    return Ok{};
  }));
  RawManifest manifest = TRY(source_.manifest(context_, reference.with_digest(release.digest)));
  found.push_back(
      TRY(expand(context_, {.tag = mirror_tag(release.version, ""), .from = reference, .manifest = std::move(manifest)})));
  std::vector<MirrorImage> images;
  for (std::vector<MirrorImage>& some : found) std::ranges::move(some, std::back_inserter(images));
  return images;
}

Result<> Mirroring::push_blob(const sys::Context& context, const Descriptor& blob, const std::string& path, Progress& progress) {
  std::uint64_t reported = 0;  // bytes added to the progress; a retried upload starts from 0 again
  std::uint64_t sent = 0;
  std::optional<BlobReader> file;
  auto open = [&]() -> Result<RegistryClient::Reader> {
    file = TRY(BlobReader::open(path));
    sent = 0;
    return RegistryClient::Reader([&](char* buffer, std::size_t size) -> Result<std::size_t> {
      const std::size_t got = TRY(file->read(buffer, size));
      sent += got;
      if (sent > reported) progress.add(sent - std::exchange(reported, sent));
      return got;
    });
  };
  return client_.push_blob(context, target_, blob, open);
}

Result<> Mirroring::copy_blob(const sys::Context& context, const MirrorBlob& blob, const std::string& path, Progress& progress) {
  BlobWriter writer = TRY(BlobWriter::create(path));
  TRY(source_.blob(context, blob.from, blob.blob, [&](std::string_view piece) { return writer.write(piece); }));
  TRY(writer.finish());
  return push_blob(context, blob.blob, path, progress);
}

// Does not push a manifest that the target already has, so that a second run changes nothing.
Result<> Mirroring::push_image(const MirrorImage& image) {
  Reference place = target_;
  place.tag = image.tag;
  if (image.tag.empty()) place.digest = image.manifest.digest;
  if (TRY(client_.has_manifest(context_, place, image.manifest.digest))) return Ok{};
  return client_.push_manifest(context_, place, image.manifest);
}

Result<MirrorResult> Mirroring::apply(const MirrorPlan& plan) {
  const sys::TempDir folder = TRY(sys::TempDir::make("mirror"));
  sys::RealFiles files;
  Progress progress(context_.events, to_string(target_), plan.bytes());
  Guarded<std::uint64_t> copied;
  TRY(sys::for_each_at_once(context_, plan.blobs.size(), at_once, [&](const sys::Context& context, std::size_t i) -> Result<> {
    const MirrorBlob& blob = plan.blobs[i];
    if (TRY(client_.has_blob(context, target_, blob.blob))) return progress.add(blob.blob.size), Ok{};
    const std::string path = folder.path() + "/" + blob.blob.digest.hex();
    TRY(copy_blob(context, blob, path, progress));
    copied.with_lock([&](std::uint64_t& bytes) { bytes += blob.blob.size; });
    return files.remove(path);
  }));
  for (const MirrorImage& image : plan.images) TRY(push_image(image));
  const std::uint64_t bytes = copied.with_lock([](std::uint64_t value) { return value; });
  return MirrorResult{.copied = bytes,
                      .skipped = plan.bytes() - bytes,
                      .release = target_.with_digest(plan.images.back().manifest.digest),
                      .mirrors = {}};
}

std::vector<Mirror> mirrors_of(const Release& release, const Reference& target) {
  std::set<std::string> sources;
  for (const auto& [name, component] : release.components)
    sources.insert(component.image.registry + "/" + component.image.repository);
  std::vector<Mirror> mirrors;
  for (const std::string& source : sources) mirrors.push_back({source, {to_string(target)}});
  return mirrors;
}

}  // namespace

std::uint64_t MirrorPlan::bytes() const {
  std::uint64_t sum = 0;
  for (const MirrorBlob& blob : blobs) sum += blob.blob.size;
  return sum;
}

std::string mirror_tag(const std::string& version, const std::string& component) {
  std::string tag = component.empty() ? version : version + "-" + component;
  std::ranges::replace(tag, '+', '_');
  return tag;
}

MirrorPlan plan_mirror(const Reference& target, std::vector<MirrorImage> images) {
  MirrorPlan plan{.target = target, .blobs = {}, .images = std::move(images)};
  std::set<std::string> tags;
  std::set<Digest> known;
  for (const MirrorImage& image : plan.images) {
    CHECK(image.tag.empty() || tags.insert(image.tag).second);
    for (const Descriptor& blob : image.blobs) {
      if (known.insert(blob.digest).second) plan.blobs.push_back({blob, image.from});
    }
  }
  std::ranges::stable_sort(plan.blobs, std::greater(), [](const MirrorBlob& blob) { return blob.blob.size; });
  return plan;
}

Result<MirrorResult> mirror_release(const sys::Context& context, ImageSource& source, const Reference& reference,
                                    RegistryClient& target_client, const Reference& target) {
  const Release release = TRY(load_release(context, source, reference));
  Mirroring mirroring(context, source, target_client, target);
  const MirrorPlan plan = plan_mirror(target, TRY(mirroring.collect(reference, release)));
  sys::Span span(context.events, context.clock, "mirror", to_string(target), {{"total", plan.bytes()}});
  Result<MirrorResult> result = mirroring.apply(plan);
  JsonObject fields;
  if (result.ok()) fields = {{"copied", result->copied}, {"skipped", result->skipped}};
  MirrorResult done = TRY(span.end(std::move(result), std::move(fields)));
  done.mirrors = mirrors_of(release, target);
  return done;
}

}  // namespace slipway::release
