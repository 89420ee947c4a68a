#include "release/oci_layout.h"

#include "base/json.h"
#include "base/text.h"
#include "release/blob_check.h"
#include "release/blob_file.h"

#include <algorithm>

namespace slipway::release {

namespace {

constexpr std::size_t piece_size = 256 << 10;

std::string ref_name(const Descriptor& descriptor) {
  auto found = descriptor.annotations.find("org.opencontainers.image.ref.name");
  return found == descriptor.annotations.end() ? "" : found->second;
}

// Reads a file that every layout must have.
Result<std::string> read_part(sys::Files& files, const std::string& folder, const std::string& name) {
  std::optional<std::string> text = TRY(files.read_if_exists(folder + "/" + name));
  if (!text) return error(Code::invalid, "{} is not an image layout, file {} not found", folder, name);
  return *std::move(text);
}

}  // namespace

Result<OciLayout> OciLayout::open(sys::Files& files, std::string folder) {
  if (!TRY(files.info(folder))) return error(Code::not_found, "image layout {}: not found", folder);
  const std::string marker = TRY(read_part(files, folder, "oci-layout"));
  const Json document = TRY(parse_json(marker, folder + "/oci-layout"));
  const auto version = find_string(document, {"imageLayoutVersion"});
  if (!version || !version->starts_with("1.")) return error(Code::invalid, "{}/oci-layout: imageLayoutVersion must be 1", folder);
  std::string text = TRY(read_part(files, folder, "index.json"));
  const Digest digest = Digest::of(text);
  std::string media_type(guess_media_type(text));
  ImageIndex index = TRY(parse_image_index({std::move(media_type), std::move(text), digest}).context(folder + "/index.json"));
  return OciLayout(files, std::move(folder), std::move(index));
}

std::string OciLayout::blob_path(const Digest& digest) const { return folder_ + "/blobs/sha256/" + digest.hex(); }

Result<Digest> OciLayout::find_digest(const Reference& reference) const {
  if (reference.digest) return *reference.digest;
  std::vector<std::string> names;
  for (const Descriptor& descriptor : index_.manifests) {
    if (ref_name(descriptor) == reference.selector()) return descriptor.digest;
    if (!ref_name(descriptor).empty()) names.push_back(ref_name(descriptor));
  }
  return error(Code::not_found, "{} has no image '{}' (images: {})", folder_, reference.selector(),
               names.empty() ? "none" : join(names, ", "));
}

Result<RawManifest> OciLayout::manifest(const sys::Context&, const Reference& reference) {
  const Digest digest = TRY(find_digest(reference));
  const std::optional<sys::FileInfo> info = TRY(files_->info(blob_path(digest)));
  if (!info) return error(Code::not_found, "{} has no image {}", folder_, digest.text());
  if (info->size > largest_manifest) return error(Code::invalid, "{}: manifest {} is too large", folder_, digest.text());
  std::string bytes = TRY(files_->read(blob_path(digest)));
  if (Digest::of(bytes) != digest) {
    return error(Code::invalid, "{}: {}: digest mismatch, the content has {}", folder_, digest.text(), Digest::of(bytes).text());
  }
  auto listed = std::ranges::find(index_.manifests, digest, &Descriptor::digest);
  std::string media_type = listed != index_.manifests.end() ? listed->media_type : std::string(guess_media_type(bytes));
  return RawManifest{std::move(media_type), std::move(bytes), digest};
}

Result<> OciLayout::rest_of_blob(const sys::Context& context, const Reference&, BlobCheck check, const net::Sink& sink) {
  const Descriptor& blob = check.blob();
  if (!TRY(files_->info(blob_path(blob.digest)))) return error(Code::not_found, "{} has no blob {}", folder_, blob.digest.text());
  BlobReader reader = TRY(BlobReader::open(blob_path(blob.digest)));
  std::uint64_t skipped = 0;
  const std::uint64_t had = check.taken();
  std::string buffer(piece_size, '\0');
  while (const std::size_t size = TRY(reader.read(buffer.data(), buffer.size()))) {
    if (context.stop.stop_requested()) return error(Code::cancelled, "stopped while reading blob {}", blob.digest.text());
    std::string_view piece = std::string_view(buffer).substr(0, size);
    const std::uint64_t known = std::min<std::uint64_t>(had - skipped, size);
    skipped += known;
    piece.remove_prefix(known);
    if (piece.empty()) continue;
    TRY(check.take(piece).context(folder_));
    TRY(sink(piece));
  }
  return check.finish().context(folder_);
}

}  // namespace slipway::release
