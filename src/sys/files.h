// Files: the file system operations of slipway, few and with strict guarantees.
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

// Permissions as in chmod. Use 0600 for everything that may hold a secret.
using Mode = unsigned;

enum class FileKind { file, directory, link, other };

struct FileInfo {
  FileKind kind = FileKind::other;
  std::uint64_t size = 0;
  Mode mode = 0;
};

// A file to write.
struct NewFile {
  std::string path;
  std::string_view content;
  Mode mode = 0600;
};

// Errors of all operations: not_found, denied, conflict (exists, not a directory, not empty), unavailable (disk full), internal.
// The message has the path and the system's text. Threads: any. Blocks on disk only.
// testing_support::MemoryFiles implements the same in memory and passes the same test suite.
class Files {
 public:
  virtual ~Files() = default;

  virtual Result<std::string> read(const std::string& path) = 0;

  // nullopt if the file does not exist.
  Result<std::optional<std::string>> read_if_exists(const std::string& path);

  // Replaces the content atomically: readers see the old or the new content, also after a kill or a power failure. Writes a
  // temporary file in the same folder, syncs it and renames it. Creates missing folders with mode 0755, or 0700 if the mode
  // of the file is 0600 or stricter.
  virtual Result<> write(const std::string& path, std::string_view content, Mode mode) = 0;

  // Calls write() for each file in order, with fewer syncs: consecutive files of one folder share one sync of the folder. They
  // are safe from a power failure when the next folder begins or this returns.
  // errors: the first one; the files before it are written
  virtual Result<> write_each(std::span<const NewFile> files);

  // Appends with one write. Creates the file if it is missing. Does not sync.
  virtual Result<> append(const std::string& path, std::string_view content, Mode mode) = 0;

  // nullopt if the path does not exist. Does not follow a link.
  virtual Result<std::optional<FileInfo>> info(const std::string& path) = 0;

  // Names of the entries, sorted.
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;

  // Creates the folder and its parents. Succeeds if the folder exists.
  virtual Result<> make_directories(const std::string& path, Mode mode) = 0;

  virtual Result<> rename(const std::string& from, const std::string& to) = 0;

  // Exchanges two files or folders of one file system atomically.
  virtual Result<> exchange(const std::string& one, const std::string& other) = 0;

  // Removes a file, a link or a folder with its content. Succeeds if the path does not exist.
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
