#include "release/blob_file.h"

#include "sys/fd.h"

namespace slipway::release {

Result<BlobReader> BlobReader::open(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return sys::system_error("reading " + path);
  return BlobReader(path, file);
}

Result<std::size_t> BlobReader::read(char* buffer, std::size_t size) {
  const std::size_t got = std::fread(buffer, 1, size, file_.get());
  if (got < size && std::ferror(file_.get()) != 0) return sys::system_error("reading " + path_);
  return got;
}

Result<BlobWriter> BlobWriter::create(const std::string& path) { return open(path, "wbxe"); }
Result<BlobWriter> BlobWriter::append(const std::string& path) { return open(path, "abe"); }

Result<BlobWriter> BlobWriter::open(const std::string& path, const char* mode) {
  std::FILE* file = std::fopen(path.c_str(), mode);
  if (file == nullptr) return sys::system_error("writing " + path);
  return BlobWriter(path, file);
}

Result<> BlobWriter::write(std::string_view piece) {
  if (std::fwrite(piece.data(), 1, piece.size(), file_.get()) != piece.size()) return sys::system_error("writing " + path_);
  return Ok{};
}

Result<> BlobWriter::finish() {
  if (std::fflush(file_.get()) != 0) return sys::system_error("writing " + path_);
  file_.reset();
  return Ok{};
}

}  // namespace slipway::release
