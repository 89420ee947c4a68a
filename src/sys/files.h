// Files: what slipway does with the file system, as few operations with strict promises.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::sys {

// Permissions as in chmod: 0600 for everything that may hold a secret.
using Mode = unsigned;

enum class FileKind { file, directory, link, other };

struct FileInfo {
  FileKind kind = FileKind::other;
  std::uint64_t size = 0;
  Mode mode = 0;
};

// A file that shall be written.
struct NewFile {
  std::string path;
  std::string_view content;
  Mode mode = 0600;
};

// Errors of all: not_found, denied, conflict (it exists, is no directory, is not empty), unavailable (disk full), internal;
// the message has the path and the system's words. Threads: any. Blocks on disk only.
// testing_support::MemoryFiles is the same in memory, held to it by one shared suite.
class Files {
 public:
  virtual ~Files() = default;

  virtual Result<std::string> read(const std::string& path) = 0;

  // Nothing when there is no such file.
  Result<std::optional<std::string>> read_if_exists(const std::string& path);

  // Replaces the content as one step: readers see the old or the new, also after a kill or a power cut (written beside it,
  // synced, renamed). Missing folders are made, 0755, or 0700 when the file is 0600 or stricter.
  virtual Result<> write(const std::string& path, std::string_view content, Mode mode) = 0;

  // write() of each in this order, waiting less for the disk: of files that follow each other in one folder all are safe from a
  // power cut when this returns, or when one in another folder is begun. errors: the first one; those before it are written
  virtual Result<> write_each(std::span<const NewFile> files);

  // One write at the end of the file, which is made when missing. Not synced.
  virtual Result<> append(const std::string& path, std::string_view content, Mode mode) = 0;

  // Nothing when there is no such thing. A link is not followed.
  virtual Result<std::optional<FileInfo>> info(const std::string& path) = 0;

  // Names in a folder, sorted.
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;

  // With parents; fine when it is there.
  virtual Result<> make_directories(const std::string& path, Mode mode) = 0;

  virtual Result<> rename(const std::string& from, const std::string& to) = 0;

  // Two things of one file system change places as one step: who looks one of them up finds the old or the new, whole folders
  // too.
  virtual Result<> exchange(const std::string& one, const std::string& other) = 0;

  // A file, a link or a whole folder; fine when it is not there.
  virtual Result<> remove(const std::string& path) = 0;
};

class RealFiles final : public Files {
 public:
  Result<std::string> read(const std::string& path) override;
  Result<> write(const std::string& path, std::string_view content, Mode mode) override;
  Result<> write_each(std::span<const NewFile> files) override;
  Result<> append(const std::string& path, std::string_view content, Mode mode) override;
  Result<std::optional<FileInfo>> info(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<> make_directories(const std::string& path, Mode mode) override;
  Result<> rename(const std::string& from, const std::string& to) override;
  Result<> exchange(const std::string& one, const std::string& other) override;
  Result<> remove(const std::string& path) override;
};

}  // namespace slipway::sys
