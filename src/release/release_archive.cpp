#include "release/release_archive.h"

#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "release/blob_file.h"
#include "release/copy_progress.h"
#include "release/oci_layout.h"
#include "release/release_images.h"
#include "release/tar.h"

#include <algorithm>
#include <optional>

namespace slipway::release {

namespace {

constexpr std::string_view marker_file = "oci-layout", index_file = "index.json", blob_folder = "blobs/sha256/";
constexpr std::string_view marker = R"({"imageLayoutVersion":"1.0.0"})";
constexpr std::string_view index_type = "application/vnd.oci.image.index.v1+json";

std::string repository_of(const Reference& image) { return fmt::format("{}/{}", image.registry, image.repository); }

// The index of the layout: all images that have a name. The names of images are those that a cluster pulls.
std::string index_of(const std::vector<ReleaseImage>& images, const Release& release, const std::string& repository) {
  JsonArray manifests;
  for (const ReleaseImage& image : images) {
    if (image.name.empty()) continue;
    const auto component = release.components.find(image.name);
    const std::string place = component == release.components.end() ? repository : repository_of(component->second.image);
    manifests.push_back({{"mediaType", image.manifest.media_type},
                         {"size", image.manifest.bytes.size()},
                         {"digest", image.manifest.digest.text()},
                         {"annotations",
                          {{"io.containerd.image.name", fmt::format("{}:{}", place, image_tag(release.version, image.name))},
                           {"org.opencontainers.image.ref.name", image.name}}}});
  }
  return emit_json({{"schemaVersion", 2}, {"mediaType", index_type}, {"manifests", std::move(manifests)}}, JsonStyle::pretty);
}

// A file below blobs/: a manifest, which is in memory, or a blob of the source.
struct BlobToWrite {
  Digest digest;
  std::uint64_t size;
  const ReleaseImage* manifest = nullptr;
  const ReleaseBlob* blob = nullptr;
};

std::vector<BlobToWrite> files_below_blobs(const std::vector<ReleaseImage>& images, const std::vector<ReleaseBlob>& blobs) {
  std::vector<BlobToWrite> all;
  for (const ReleaseImage& image : images) all.push_back({image.manifest.digest, image.manifest.bytes.size(), &image, nullptr});
  for (const ReleaseBlob& blob : blobs) all.push_back({blob.blob.digest, blob.blob.size, nullptr, &blob});
  std::ranges::sort(all, {}, &BlobToWrite::digest);
  // clang 14 does not compile std::ranges::unique of this library.
  const auto is_same = [](const BlobToWrite& one, const BlobToWrite& other) { return one.digest == other.digest; };
  all.erase(std::unique(all.begin(), all.end(), is_same), all.end());
  return all;
}

Result<> add_file(TarWriter& tar, std::string_view name, std::string_view content) {
  TRY(tar.begin(std::string(name), content.size()));
  return tar.write(content);
}

Result<> write_archive(const sys::Context& context, ImageSource& source, const std::string& index,
                       const std::vector<BlobToWrite>& blobs, const std::string& path, CopyProgress& progress) {
  TarWriter tar = TRY(TarWriter::create(path));
  TRY(add_file(tar, marker_file, marker));
  TRY(add_file(tar, index_file, index));
  for (const BlobToWrite& each : blobs) {
    const std::string name = fmt::format("{}{}", blob_folder, each.digest.hex());
    if (each.manifest) {
      TRY(add_file(tar, name, each.manifest->manifest.bytes));
    } else {
      TRY(tar.begin(name, each.size));
      TRY(source.blob(context, each.blob->from, each.blob->blob, [&](std::string_view piece) { return tar.write(piece); }));
    }
    progress.add(each.size);
  }
  return tar.finish();
}

std::string_view without_dot(std::string_view name) {
  while (name.starts_with("./")) name.remove_prefix(2);
  return name;
}

// The digest in the name of a blob's file; nothing for other names.
std::optional<Digest> digest_of_file(std::string_view name) {
  if (!name.starts_with(blob_folder)) return std::nullopt;
  Result<Digest> digest = Digest::parse(fmt::format("sha256:{}", name.substr(blob_folder.size())));
  return digest.ok() ? std::optional(std::move(digest).value()) : std::nullopt;
}

Result<> unpack_blob(TarReader& tar, const Digest& digest, const std::string& path) {
  BlobWriter writer = TRY(BlobWriter::create(path));
  Sha256 hash;
  for (;;) {
    const std::string_view piece = TRY(tar.read());
    if (piece.empty()) break;
    hash.update(piece);
    TRY(writer.write(piece));
  }
  TRY(writer.finish());
  const Digest content = Digest::from_hex(hash.finish_hex());
  if (content == digest) return Ok{};
  return error(Code::invalid, "blob {}: digest mismatch, the content has {}", digest.text(), content.text());
}

// oci-layout or index.json.
Result<> unpack_document(sys::Files& files, TarReader& tar, std::string_view name, const std::string& path) {
  std::string content;
  for (;;) {
    const std::string_view piece = TRY(tar.read());
    if (piece.empty()) break;
    content.append(piece);
    if (content.size() > largest_manifest)
      return error(Code::invalid, "{} is larger than {}", name, human_size(largest_manifest));
  }
  return files.write(path, content, 0644);
}

Result<> unpack(const sys::Context& context, sys::Files& files, const std::string& path, const std::string& folder,
                CopyProgress& progress) {
  TarReader tar = TRY(TarReader::of_file(path));
  for (;;) {
    if (context.stop.stop_requested()) return error(Code::cancelled, "stopped");
    const std::optional<TarEntry> entry = TRY(tar.next());
    if (!entry) return Ok{};
    const std::string_view name = without_dot(entry->name);
    if (!entry->is_file && (name.empty() || name == "blobs/" || name == blob_folder)) continue;  // other tools store folders
    const std::string target = fmt::format("{}/{}", folder, name);
    if (const std::optional<Digest> digest = digest_of_file(name); digest && entry->is_file) {
      TRY(unpack_blob(tar, *digest, target));
    } else if (entry->is_file && (name == marker_file || name == index_file)) {
      TRY(unpack_document(files, tar, name, target));
    } else {
      return error(Code::invalid, "'{}' does not belong to an image layout", to_utf8(entry->name));
    }
    progress.add(entry->size);
  }
}

// Reads the release of a layout and checks that all of its images are there.
Result<ArchivedRelease> check_layout(const sys::Context& context, sys::Files& files, const std::string& folder) {
  OciLayout layout = TRY(OciLayout::open(files, folder));
  const Reference reference{.registry = "layout.invalid", .repository = "release", .tag = std::string(release_image)};
  const Release release = TRY(load_release(context, layout, reference));
  const std::vector<ReleaseImage> images = TRY(collect_images(context, layout, reference, release));
  ArchivedRelease found{.version = release.version, .digest = release.digest};
  for (const ReleaseImage& image : images) found.bytes += image.manifest.bytes.size();
  for (const ReleaseBlob& blob : blobs_of(images)) {
    const auto info = TRY(files.info(fmt::format("{}/{}{}", folder, blob_folder, blob.blob.digest.hex())));
    if (!info || info->size != blob.blob.size) return error(Code::invalid, "blob {}: missing", blob.blob.digest.text());
    found.bytes += blob.blob.size;
  }
  return found;
}

}  // namespace

Result<ArchivedRelease> export_release(const sys::Context& context, sys::Files& files, ImageSource& source,
                                       const Reference& reference, const std::string& repository, const std::string& path) {
  const Release release = TRY(load_release(context, source, reference));
  const std::vector<ReleaseImage> images = TRY(collect_images(context, source, reference, release));
  const std::vector<ReleaseBlob> blobs = blobs_of(images);
  const std::vector<BlobToWrite> all = files_below_blobs(images, blobs);
  ArchivedRelease archived{.version = release.version, .digest = release.digest};
  for (const BlobToWrite& each : all) archived.bytes += each.size;
  const std::string temporary = path + ".new";
  TRY(files.remove(temporary));
  sys::Span span(context.events, context.clock, "export", path, {{"total", archived.bytes}});
  CopyProgress progress(context.events, "export", path, archived.bytes);
  const std::string index = index_of(images, release, repository);
  Result<> written = write_archive(context, source, index, all, temporary, progress);
  if (written.ok())
    written = files.rename(temporary, path);
  else
    (void)files.remove(temporary).ok();
  TRY(span.end(std::move(written)));
  return archived;
}

Result<ArchivedRelease> import_release(const sys::Context& context, sys::Files& files, const std::string& path,
                                       const std::string& folder) {
  const std::optional<sys::FileInfo> info = TRY(files.info(path));
  if (!info) return error(Code::not_found, "{}: not found", path);
  if (TRY(files.info(folder))) return error(Code::conflict, "{}: already exists", folder);
  TRY(files.make_directories(fmt::format("{}/{}", folder, blob_folder), 0755));
  sys::Span span(context.events, context.clock, "import", path, {{"total", info->size}});
  CopyProgress progress(context.events, "import", path, info->size);
  const Result<> unpacked = unpack(context, files, path, folder, progress);
  Result<ArchivedRelease> checked = unpacked.ok() ? check_layout(context, files, folder) : unpacked.error();
  return span.end(std::move(checked)).context(path);
}

}  // namespace slipway::release
