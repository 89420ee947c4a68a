// ConfinedFolder: the entries of one folder below which others write. Nothing outside of it is ever read, changed or removed,
// whatever the others do meanwhile: symbolic links are not followed, and file systems that are mounted below are not entered.
//
//   const ConfinedFolder folder = TRY(ConfinedFolder::open("/var/lib/slipway/volumes"));
//   TRY(folder.make_folder("pvc-1", 0777));
//   TRY(folder.rename("pvc-1", ".removing-pvc-1"));
//   TRY(folder.remove_tree(".removing-pvc-1", context.stop));
#pragma once

#include "base/result.h"
#include "sys/fd.h"
#include "sys/files.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace slipway::sys {

// Of a file system, in bytes.
struct FileSystemSpace {
  std::int64_t size = 0;
  std::int64_t available = 0;  // to users other than root
};

// All names are those of entries: without "/", and neither "." nor "..". Linux 5.6 or newer is needed (openat2).
//
//   errors   of all functions: those of the system, with the path; invalid: an entry is a link or a file instead of a folder
//   threads  any
class ConfinedFolder {
 public:
  // errors: also invalid: the path ends in a symbolic link; not_found
  static Result<ConfinedFolder> open(const std::string& path);

  // Names of the entries, sorted.
  Result<std::vector<std::string>> list() const;

  // Creates a folder with this mode, whatever the umask is; one that exists keeps its content and gets the mode. The folder
  // survives a power failure that follows.
  Result<> make_folder(const std::string& name, Mode mode) const;

  // Survives a power failure that follows. errors: also not_found; conflict: `to` exists
  Result<> rename(const std::string& from, const std::string& to) const;

  // Removes a file, a link or a folder with all content; succeeds if there is none. The depth of the tree and the number of its
  // files do not matter: it takes a constant number of file descriptors. If it is killed, another call continues.
  //
  //   errors  cancelled; conflict: others keep creating files, or a file system is mounted below
  //   time    seconds for a million files, and not limited
  Result<> remove_tree(const std::string& name, const std::stop_token& stop) const;

  Result<FileSystemSpace> space() const;

  // Whether the path is on the same file system. False if it does not exist.
  bool shares_file_system(const std::string& path) const;

 private:
  ConfinedFolder(Fd folder, std::string path) : folder_(std::move(folder)), path_(std::move(path)) {}
  std::string shown(const std::string& name) const { return path_ + "/" + name; }
  Result<> sync() const;

  Fd folder_;
  std::string path_;  // for messages
};

}  // namespace slipway::sys
