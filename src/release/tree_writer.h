// TreeWriter: changes files below a directory, and never a file outside of it, whatever symbolic links the tree has.
#pragma once

#include "base/result.h"
#include "sys/fd.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace slipway::release {

// What an image says about a file besides its content.
struct TreeAttributes {
  std::uint32_t owner = 0;
  std::uint32_t group = 0;
  unsigned mode = 0;                            // with the bits for setuid, setgid and sticky; not used for symbolic links
  std::map<std::string, std::string> xattrs{};  // all that the file gets; the others, except the label of SELinux, are removed
};

// Paths are relative to the directory and without "." or ".." ("" is the directory itself). A symbolic link in the path of a
// parent is followed as if the directory were the root of the file system. A symbolic link at the end of a path is never
// followed. Missing parents are created with mode 0755.
//
// Everything that exists is replaced by a new file and never written to, because it can be a hard link of another tree. Only a
// directory stays one. The attributes of files that exist do not change either.
//
// Linux 5.6 or newer is needed (openat2). Nobody else may change the tree meanwhile.
//
//   errors   of all functions: those of the system, with the path; conflict: a parent is not a directory; invalid: a parent is a
//            symbolic link to nothing
//   threads  one at a time
//   time     blocks on disk only; nothing is synced
class TreeWriter {
 public:
  using Write = std::function<Result<>(std::uint64_t offset, std::string_view piece)>;

  static Result<TreeWriter> open(const std::string& folder);

  // A directory that exists keeps its content and gets the attributes.
  Result<> put_directory(const std::string& path, const TreeAttributes& attributes);

  // `fill` writes the content; what it leaves out is zeros, as a hole.
  Result<> put_file(const std::string& path, const TreeAttributes& attributes, std::uint64_t size,
                    const std::function<Result<>(const Write&)>& fill);

  Result<> put_symbolic_link(const std::string& path, const std::string& target, const TreeAttributes& attributes);

  // errors: also invalid: the target does not exist or is a directory
  Result<> put_hard_link(const std::string& path, const std::string& target);

  // Removes what the path, or the directory, had before this writer. What this writer put there stays, with its parents. Succeeds
  // if the path does not exist.
  Result<> remove_old(const std::string& path);
  Result<> empty_old(const std::string& path);

 private:
  explicit TreeWriter(sys::Fd root) : root_(std::move(root)) {}

  Result<sys::Fd> open_folder(const std::string& path) const;
  Result<sys::Fd> make_folder(const std::string& path);
  Result<sys::Fd> make_place(const std::string& path, const std::string& name);
  Result<> remove(const sys::Fd& parent, const std::string& name, const std::string& path, bool only_old);
  Result<> empty(const sys::Fd& folder, const std::string& path, bool only_old);

  using Name = std::tuple<std::uint64_t, std::uint64_t, std::string>;  // device and inode of the directory, name in it
  static Name name_of(const sys::Fd& parent, const std::string& name);

  sys::Fd root_;
  std::set<Name> put_;  // by this writer. Paths would not do: with symbolic links, a directory has several
};

}  // namespace slipway::release
