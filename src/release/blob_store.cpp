#include "release/blob_store.h"

#include "base/text.h"
#include "release/blob_check.h"
#include "release/blob_file.h"
#include "sys/files.h"

#include <optional>

namespace slipway::release {

namespace {

constexpr std::size_t piece_size = 256 << 10;

// Takes the content of a file that may be missing. errors: also invalid: it is longer than the blob
Result<> take_file(const sys::Context& context, sys::Files& files, const std::string& path, BlobCheck& check) {
  if (!TRY(files.info(path))) return Ok{};
  BlobReader reader = TRY(BlobReader::open(path));
  std::string buffer(piece_size, '\0');
  while (const std::size_t size = TRY(reader.read(buffer.data(), buffer.size()))) {
    if (context.stop.stop_requested()) return error(Code::cancelled, "stopped while reading {}", path);
    TRY(check.take(std::string_view(buffer).substr(0, size)));
  }
  return Ok{};
}

// Whether the file is the blob. Removes another one.
Result<bool> has_blob(const sys::Context& context, sys::Files& files, const std::string& path, const Descriptor& blob) {
  if (!TRY(files.info(path))) return false;
  BlobCheck check(blob);
  Result<> same = take_file(context, files, path, check);
  if (same.ok()) same = check.finish();
  if (same.ok()) return true;
  if (same.error().code() != Code::invalid) return std::move(same).error();
  context.log.warn("{} is damaged, fetching it again: {}", path, same.error().message());
  TRY(files.remove(path));
  return false;
}

// A part that is longer than the blob is removed.
Result<BlobCheck> take_part(const sys::Context& context, sys::Files& files, const std::string& part, const Descriptor& blob) {
  BlobCheck check(blob);
  Result<> taken = take_file(context, files, part, check);
  if (taken.ok()) return check;
  if (taken.error().code() != Code::invalid) return std::move(taken).error();
  TRY(files.remove(part));
  return BlobCheck(blob);
}

Result<> complete(const sys::Context& context, ImageSource& source, const Reference& repository, BlobCheck had,
                  const std::string& part) {
  if (had.is_complete() && had.taken() > 0) return had.finish();
  BlobWriter writer = TRY(BlobWriter::append(part));
  TRY(source.rest_of_blob(context, repository, std::move(had), [&](std::string_view piece) { return writer.write(piece); }));
  return writer.finish();
}

}  // namespace

Result<std::string> fetch_blob(const sys::Context& context, ImageSource& source, const Reference& repository,
                               const Descriptor& blob, const std::string& folder) {
  sys::RealFiles files;
  std::string path = fmt::format("{}/sha256-{}", folder, blob.digest.hex());
  const std::string part = path + ".part";
  TRY(files.make_directories(folder, 0700));
  if (TRY(has_blob(context, files, path, blob))) return path;
  for (;;) {
    BlobCheck had = TRY(take_part(context, files, part, blob));
    const std::uint64_t old_size = had.taken();
    if (old_size > 0) context.log.info("blob {}: continuing after {}", blob.digest.text(), human_size(old_size));
    Result<> done = complete(context, source, repository, std::move(had), part);
    if (done.ok()) break;
    const std::optional<sys::FileInfo> rest = TRY(files.info(part));
    const bool is_wrong = done.error().code() == Code::invalid && rest && rest->size == blob.size;
    if (is_wrong) TRY(files.remove(part));
    if (!is_wrong || old_size == 0) return std::move(done).error();
    context.log.warn("{} was damaged, fetching the whole blob: {}", part, done.error().message());
  }
  TRY(files.rename(part, path));
  return path;
}

}  // namespace slipway::release
