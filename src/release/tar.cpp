#include "release/tar.h"

#include "base/check.h"
#include "base/text.h"
#include "release/libarchive.h"

namespace slipway::release {

namespace {

constexpr std::size_t piece_size = 256 << 10;

la_ssize_t write_piece(archive* a, void* file, const void* data, std::size_t size) {
  const Result<> written = static_cast<BlobWriter*>(file)->write({static_cast<const char*>(data), size});
  if (written.ok()) return static_cast<la_ssize_t>(size);
  archive_set_error(a, 0, "%s", std::string(written.error().message()).c_str());
  return ARCHIVE_FATAL;
}

}  // namespace

void TarReader::Free::operator()(archive* a) const { archive_read_free(a); }
void TarWriter::Free::operator()(archive* a) const { archive_write_free(a); }

TarReader::TarReader(archive* a, std::uint64_t limit) : archive_(a), limit_(limit), buffer_(piece_size, '\0') {
  CHECK(a != nullptr);
  archive_read_support_filter_gzip(a);
  archive_read_support_filter_zstd(a);
  archive_read_support_format_tar(a);
}

Result<TarReader> TarReader::of_memory(std::string_view bytes, std::uint64_t limit) {
  TarReader reader(archive_read_new(), limit);
  if (failed(archive_read_open_memory(reader.archive_.get(), bytes.data(), bytes.size()))) return reader.failure();
  return reader;
}

Result<TarReader> TarReader::of_file(const std::string& path) {
  TRY(BlobReader::open(path));  // for its error: that of the archive has no path
  TarReader reader(archive_read_new(), no_limit);
  if (failed(archive_read_open_filename(reader.archive_.get(), path.c_str(), piece_size))) return reader.failure();
  return reader;
}

Error TarReader::failure() const { return error(Code::invalid, "{}", message_of(archive_.get())); }

Result<> TarReader::check_limit() const {
  if (static_cast<std::uint64_t>(archive_filter_bytes(archive_.get(), 0)) <= limit_) return Ok{};
  return error(Code::invalid, "unpacks to more than {}", human_size(limit_));
}

// In pieces, so that the limit also applies within an entry. Holes of sparse files are not read.
Result<> TarReader::skip() {
  const void* piece = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  while (is_in_entry_) {
    const int status = archive_read_data_block(archive_.get(), &piece, &size, &offset);
    if (status == ARCHIVE_EOF) break;
    if (failed(status)) return failure();
    TRY(check_limit());
  }
  is_in_entry_ = false;
  return Ok{};
}

Result<std::optional<TarEntry>> TarReader::next() {
  TRY(skip());
  archive_entry* entry = nullptr;
  const int status = archive_read_next_header(archive_.get(), &entry);
  TRY(check_limit());
  if (status == ARCHIVE_EOF) return std::optional<TarEntry>();
  if (failed(status)) return failure();
  is_in_entry_ = true;
  const char* name = archive_entry_pathname(entry);
  return std::optional(TarEntry{.name = name != nullptr ? name : "",
                                .is_file = archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr,
                                .size = static_cast<std::uint64_t>(archive_entry_size(entry))});
}

Result<std::string_view> TarReader::read() {
  if (!is_in_entry_) return std::string_view();
  const la_ssize_t size = archive_read_data(archive_.get(), buffer_.data(), buffer_.size());
  if (size < 0) return failure();
  if (size == 0) is_in_entry_ = false;
  return std::string_view(buffer_).substr(0, static_cast<std::size_t>(size));
}

TarWriter::TarWriter(std::unique_ptr<BlobWriter> file, archive* a) : file_(std::move(file)), archive_(a) {
  CHECK(a != nullptr);
  archive_write_set_format_pax_restricted(a);
  archive_write_set_bytes_in_last_block(a, 1);
}

Result<> TarWriter::check(int status) const {
  if (!failed(status)) return Ok{};
  return error(Code::unavailable, "{}", message_of(archive_.get()));
}

Result<TarWriter> TarWriter::create(const std::string& path) {
  TarWriter writer(std::make_unique<BlobWriter>(TRY(BlobWriter::create(path))), archive_write_new());
  TRY(writer.check(archive_write_open(writer.archive_.get(), writer.file_.get(), nullptr, write_piece, nullptr)));
  return writer;
}

Result<> TarWriter::begin(const std::string& name, std::uint64_t size) {
  const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(), archive_entry_free);
  CHECK(entry != nullptr);
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
  return check(archive_write_header(archive_.get(), entry.get()));
}

Result<> TarWriter::write(std::string_view piece) {
  const la_ssize_t written = archive_write_data(archive_.get(), piece.data(), piece.size());
  return check(written == static_cast<la_ssize_t>(piece.size()) ? ARCHIVE_OK : ARCHIVE_FATAL);
}

Result<> TarWriter::finish() {
  TRY(check(archive_write_close(archive_.get())));
  return file_->finish();
}

}  // namespace slipway::release
