#include "release/layer_reader.h"

#include "base/check.h"
#include "base/text.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

namespace slipway::release {

namespace {

struct FreeArchive {
  void operator()(archive* a) const { archive_read_free(a); }
};
using Archive = std::unique_ptr<archive, FreeArchive>;

Error broken(archive* a) {
  const char* words = archive_error_string(a);
  return error(Code::invalid, "layer: {}", to_utf8(words != nullptr ? words : "broken archive"));
}

bool failed(int status) { return status != ARCHIVE_OK && status != ARCHIVE_WARN; }

Result<Archive> open_archive(std::string_view blob) {
  Archive a(archive_read_new());
  CHECK(a != nullptr);
  archive_read_support_filter_gzip(a.get());
  archive_read_support_filter_zstd(a.get());
  archive_read_support_format_tar(a.get());
  if (failed(archive_read_open_memory(a.get(), blob.data(), blob.size()))) return broken(a.get());
  return a;
}

std::string_view normal_name(std::string_view name) {
  while (name.starts_with("./") || name.starts_with("/")) name.remove_prefix(name.starts_with("/") ? 1 : 2);
  while (name.ends_with("/")) name.remove_suffix(1);
  return name;
}

Result<std::string> read_content(archive* a, std::string_view name, std::uint64_t limit) {
  std::string content;
  char piece[65536];
  for (;;) {
    const la_ssize_t size = archive_read_data(a, piece, sizeof piece);
    if (size < 0) return broken(a);
    if (size == 0) return content;
    content.append(piece, static_cast<std::size_t>(size));
    if (content.size() > limit) return error(Code::invalid, "layer: {} is larger than {}", to_utf8(name), human_size(limit));
  }
}

Result<> check_size(archive* a, std::uint64_t limit) {
  if (static_cast<std::uint64_t>(archive_filter_bytes(a, 0)) <= limit) return Ok{};
  return error(Code::invalid, "layer: unpacks to more than {}", human_size(limit));
}

// Skips an entry's content in pieces, so that the limit also applies within an entry.
Result<> skip_content(archive* a, std::uint64_t limit) {
  const void* piece = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  for (;;) {
    const int status = archive_read_data_block(a, &piece, &size, &offset);
    if (status == ARCHIVE_EOF) return Ok{};
    if (failed(status)) return broken(a);
    TRY(check_size(a, limit));
  }
}

}  // namespace

Result<> read_layer(std::string_view blob, const std::function<bool(LayerName)>& wanted,
                    const std::function<Result<>(LayerName, std::string content)>& found, LayerLimits limits) {
  const Archive a = TRY(open_archive(blob));
  archive_entry* entry = nullptr;
  for (;;) {
    const int status = archive_read_next_header(a.get(), &entry);
    TRY(check_size(a.get(), limits.layer));
    if (status == ARCHIVE_EOF) return Ok{};
    if (failed(status)) return broken(a.get());
    const char* raw_name = archive_entry_pathname(entry);
    const std::string name(normal_name(raw_name != nullptr ? raw_name : ""));  // null: not representable in this locale
    const bool is_file = archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr;
    if (!name.empty() && (is_file || !limits.only_files) && wanted(name)) {
      std::string content;
      if (is_file) content = TRY(read_content(a.get(), name, limits.file));
      TRY(found(name, std::move(content)));
    } else {
      TRY(skip_content(a.get(), limits.layer));
    }
  }
}

}  // namespace slipway::release
