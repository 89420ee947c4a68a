// Reads and writes blobs in files, in pieces, because blobs can be too large for memory.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace slipway::release {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Errors of both classes have the path and the system's message. Threads: one at a time.
class BlobReader {
 public:
  static Result<BlobReader> open(const std::string& path);

  // Fills the buffer; returns the number of bytes, 0 at the end.
  Result<std::size_t> read(char* buffer, std::size_t size);

 private:
  BlobReader(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
};

class BlobWriter {
 public:
  // Creates a file that must not exist.
  static Result<BlobWriter> create(const std::string& path);

  // Opens a file to write after its content, or creates it.
  static Result<BlobWriter> append(const std::string& path);

  Result<> write(std::string_view piece);
  Result<> finish();  // call once; the content can be read afterwards

 private:
  static Result<BlobWriter> open(const std::string& path, const char* mode);
  BlobWriter(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
};

}  // namespace slipway::release
