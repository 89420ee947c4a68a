// Tar archives, read and written one entry after another.
#pragma once

#include "base/result.h"
#include "release/blob_file.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct archive;

namespace slipway::release {

struct TarEntry {
  std::string name;      // as stored; empty if this locale cannot represent it
  bool is_file = false;  // a regular file; a hard link is none
  std::uint64_t size = 0;
};

// Reads an archive: plain, or compressed with gzip or zstd.
//
//   errors   of all functions: invalid: not an archive, a corrupt archive, it unpacks to more than the limit
//   threads  one at a time
class TarReader {
 public:
  static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

  // `bytes` must outlive the reader. limit: maximum bytes of the whole archive, unpacked
  static Result<TarReader> of_memory(std::string_view bytes, std::uint64_t limit = no_limit);

  // errors: also not_found, denied
  static Result<TarReader> of_file(const std::string& path);

  // The next entry; nothing at the end. Skips the rest of the entry before.
  Result<std::optional<TarEntry>> next();

  // The next piece of the entry's content; empty at its end. Valid until the next call.
  Result<std::string_view> read();

 private:
  struct Free {
    void operator()(archive* a) const;
  };

  TarReader(archive* a, std::uint64_t limit);
  Error failure() const;
  Result<> check_limit() const;
  Result<> skip();

  std::unique_ptr<archive, Free> archive_;
  std::uint64_t limit_;
  bool is_in_entry_ = false;
  std::string buffer_;
};

// Writes a plain archive of regular files. The same entries give the same bytes: owner 0, mode 0644, no times.
//
//   errors   of all functions: as for files, with the path
//   threads  one at a time
class TarWriter {
 public:
  // Creates a file that must not exist.
  static Result<TarWriter> create(const std::string& path);

  Result<> begin(const std::string& name, std::uint64_t size);
  Result<> write(std::string_view piece);  // of the entry that was begun; `size` bytes in all
  Result<> finish();                       // call once, after the last entry; the content can be read afterwards

 private:
  struct Free {
    void operator()(archive* a) const;
  };

  TarWriter(std::unique_ptr<BlobWriter> file, archive* a);
  Result<> check(int status) const;

  std::unique_ptr<BlobWriter> file_;  // the archive has its address
  std::unique_ptr<archive, Free> archive_;
};

}  // namespace slipway::release
