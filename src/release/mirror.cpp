#include "release/mirror.h"

#include "base/check.h"
#include "base/guarded.h"
#include "release/blob_file.h"
#include "release/copy_progress.h"
#include "sys/files.h"
#include "sys/task_group.h"
#include "sys/temp_dir.h"

#include <algorithm>
#include <optional>
#include <set>

namespace slipway::release {

namespace {

constexpr int at_once = 4;

// One mirroring run from a source to a target.
class Mirroring {
 public:
  Mirroring(const sys::Context& context, ImageSource& source, RegistryClient& client, const Reference& target)
      : context_(context), source_(source), client_(client), target_(target) {}

  Result<MirrorResult> apply(const MirrorPlan& plan);

 private:
  Result<> copy_blob(const sys::Context& context, const ReleaseBlob& blob, const std::string& path, CopyProgress& progress);
  Result<> push_blob(const sys::Context& context, const Descriptor& blob, const std::string& path, CopyProgress& progress);
  Result<> push_image(const std::string& version, const ReleaseImage& image);

  const sys::Context& context_;
  ImageSource& source_;
  RegistryClient& client_;
  const Reference& target_;
};

Result<> Mirroring::push_blob(const sys::Context& context, const Descriptor& blob, const std::string& path,
                              CopyProgress& progress) {
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

Result<> Mirroring::copy_blob(const sys::Context& context, const ReleaseBlob& blob, const std::string& path,
                              CopyProgress& progress) {
  BlobWriter writer = TRY(BlobWriter::create(path));
  TRY(source_.blob(context, blob.from, blob.blob, [&](std::string_view piece) { return writer.write(piece); }));
  TRY(writer.finish());
  return push_blob(context, blob.blob, path, progress);
}

// Does not push a manifest that the target already has, so that a second run changes nothing.
Result<> Mirroring::push_image(const std::string& version, const ReleaseImage& image) {
  Reference place = target_;
  if (image.name.empty())
    place.digest = image.manifest.digest;
  else
    place.tag = image_tag(version, image.name);
  if (TRY(client_.has_manifest(context_, place, image.manifest.digest))) return Ok{};
  return client_.push_manifest(context_, place, image.manifest);
}

Result<MirrorResult> Mirroring::apply(const MirrorPlan& plan) {
  const sys::TempDir folder = TRY(sys::TempDir::make("mirror"));
  sys::RealFiles files;
  CopyProgress progress(context_.events, "mirror", to_string(target_), plan.bytes());
  Guarded<std::uint64_t> copied;
  TRY(sys::for_each_at_once(context_, plan.blobs.size(), at_once, [&](const sys::Context& context, std::size_t i) -> Result<> {
    const ReleaseBlob& blob = plan.blobs[i];
    if (TRY(client_.has_blob(context, target_, blob.blob))) return progress.add(blob.blob.size), Ok{};
    const std::string path = folder.path() + "/" + blob.blob.digest.hex();
    TRY(copy_blob(context, blob, path, progress));
    copied.with_lock([&](std::uint64_t& bytes) { bytes += blob.blob.size; });
    return files.remove(path);
  }));
  for (const ReleaseImage& image : plan.images) TRY(push_image(plan.version, image));
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
  for (const ReleaseBlob& blob : blobs) sum += blob.blob.size;
  return sum;
}

MirrorPlan plan_mirror(const Reference& target, std::string version, std::vector<ReleaseImage> images) {
  std::set<std::string> names;
  for (const ReleaseImage& image : images) CHECK(image.name.empty() || names.insert(image.name).second);
  std::vector<ReleaseBlob> blobs = blobs_of(images);
  return {.target = target, .version = std::move(version), .blobs = std::move(blobs), .images = std::move(images)};
}

Result<MirrorResult> mirror_release(const sys::Context& context, ImageSource& source, const Reference& reference,
                                    RegistryClient& target_client, const Reference& target) {
  const Release release = TRY(load_release(context, source, reference));
  Mirroring mirroring(context, source, target_client, target);
  const MirrorPlan plan = plan_mirror(target, release.version, TRY(collect_images(context, source, reference, release)));
  sys::Span span(context.events, context.clock, "mirror", to_string(target), {{"total", plan.bytes()}});
  Result<MirrorResult> result = mirroring.apply(plan);
  JsonObject fields;
  if (result.ok()) fields = {{"copied", result->copied}, {"skipped", result->skipped}};
  MirrorResult done = TRY(span.end(std::move(result), std::move(fields)));
  done.mirrors = mirrors_of(release, target);
  return done;
}

}  // namespace slipway::release
