// FileReader: reads parts of a regular file that is too large to be read as a whole.
#pragma once

#include "base/result.h"
#include "sys/fd.h"

#include <cstdint>
#include <memory>
#include <string>

namespace slipway::sys {

// Cheap to copy; the copies use the same open file. Threads: any. Blocks on the disk.
class FileReader {
 public:
  // errors: those of files; invalid: it is no regular file
  static Result<FileReader> open(const std::string& path);

  std::uint64_t size() const { return size_; }             // when it was opened
  std::int64_t changed_at() const { return changed_at_; }  // its content, in nanoseconds since 1970, when it was opened

  // Shorter only at the end of the file. errors: internal
  Result<std::string> read(std::uint64_t offset, std::size_t length) const;

 private:
  FileReader(Fd file, std::string path, std::uint64_t size, std::int64_t changed_at)
      : file_(std::make_shared<const Fd>(std::move(file))), path_(std::move(path)), size_(size), changed_at_(changed_at) {}

  std::shared_ptr<const Fd> file_;
  std::string path_;
  std::uint64_t size_ = 0;
  std::int64_t changed_at_ = 0;
};

}  // namespace slipway::sys
