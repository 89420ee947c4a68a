#include "release/tree_writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <cerrno>

#include <memory>
#include <utility>
#include <vector>

namespace slipway::release {

namespace {

using sys::Fd;
using sys::system_error;

constexpr std::size_t largest_xattr_list = 65'536;              // XATTR_LIST_MAX
constexpr std::string_view selinux_label = "security.selinux";  // the policy of a machine sets it, not an image

std::string shown(const std::string& path) { return path.empty() ? "." : path; }

std::pair<std::string, std::string> split_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

// The names in a directory.
Result<std::vector<std::string>> list(const Fd& folder, const std::string& path) {
  const int copy = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return system_error(shown(path) + ": opening");
  DIR* opened = ::fdopendir(copy);
  if (opened == nullptr) return ::close(copy), system_error(shown(path) + ": listing");
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opened, ::closedir);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(entries.get());
    if (entry == nullptr && errno != 0) return system_error(shown(path) + ": listing");
    if (entry == nullptr) return names;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

// `place` is a path of this file that does not follow a link: for links, there are no functions with a descriptor.
Result<> set_xattrs(const std::string& place, const std::string& path, const std::map<std::string, std::string>& xattrs) {
  std::string old(largest_xattr_list, '\0');
  const ssize_t size = ::llistxattr(place.c_str(), old.data(), old.size());
  if (size < 0 && errno != ENOTSUP) return system_error(shown(path) + ": listing extended attributes");
  old.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  for (std::size_t at = 0; at < old.size(); at = old.find('\0', at) + 1) {
    const std::string name = old.c_str() + at;
    if (xattrs.contains(name) || name == selinux_label) continue;
    if (::lremovexattr(place.c_str(), name.c_str()) != 0 && errno != ENODATA) {
      return system_error(fmt::format("{}: removing the extended attribute {}", shown(path), name));
    }
  }
  for (const auto& [name, value] : xattrs) {
    if (name == selinux_label) continue;
    if (::lsetxattr(place.c_str(), name.c_str(), value.data(), value.size(), 0) != 0) {
      return system_error(fmt::format("{}: setting the extended attribute {}", shown(path), name));
    }
  }
  return Ok{};
}

// The order matters: a change of the owner clears setuid bits and capabilities.
Result<> set_attributes(const Fd& parent, const std::string& name, const std::string& path, const TreeAttributes& attributes,
                        bool has_mode) {
  if (::fchownat(parent.get(), name.c_str(), attributes.owner, attributes.group, AT_SYMLINK_NOFOLLOW) != 0) {
    return system_error(fmt::format("{}: changing the owner to {}:{}", shown(path), attributes.owner, attributes.group));
  }
  TRY(set_xattrs(fmt::format("/proc/self/fd/{}/{}", parent.get(), name), path, attributes.xattrs));
  if (has_mode && ::fchmodat(parent.get(), name.c_str(), attributes.mode, 0) != 0) {
    return system_error(shown(path) + ": changing the mode");
  }
  return Ok{};
}

Result<> write_at(const Fd& file, std::uint64_t offset, std::string_view piece, const std::string& path) {
  while (!piece.empty()) {
    const ssize_t written = ::pwrite(file.get(), piece.data(), piece.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error(path + ": writing");
    piece.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return Ok{};
}

}  // namespace

Result<TreeWriter> TreeWriter::open(const std::string& folder) {
  Fd root(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) return system_error("opening " + folder);
  return TreeWriter(std::move(root));
}

// errors: also not_found
Result<Fd> TreeWriter::open_folder(const std::string& path) const {
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  for (;;) {
    const long fd = ::syscall(SYS_openat2, root_.get(), shown(path).c_str(), &how, sizeof how);
    if (fd >= 0) return Fd(static_cast<int>(fd));
    // A link with ".." was followed while some process renamed something somewhere.
    if (errno != EAGAIN && errno != EINTR) return system_error(shown(path) + ": opening");
  }
}

Result<Fd> TreeWriter::make_folder(const std::string& path) {
  Result<Fd> existing = open_folder(path);
  if (existing.ok() || existing.error().code() != Code::not_found) return existing;
  const auto [parent_path, name] = split_path(path);
  const Fd parent = TRY(make_folder(parent_path));
  if (::mkdirat(parent.get(), name.c_str(), 0755) != 0) {
    if (errno == EEXIST) return error(Code::invalid, "{}: is a symbolic link to nothing", path);
    return system_error(path + ": creating");
  }
  put_.insert(name_of(parent, name));
  Fd folder(::openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) return system_error(path + ": opening");
  if (::fchmod(folder.get(), 0755) != 0) return system_error(path + ": changing the mode");  // whatever the umask is
  return folder;
}

// The parent of a path that is about to be created: nothing has the name there.
Result<Fd> TreeWriter::make_place(const std::string& path, const std::string& name) {
  if (path.empty()) return error(Code::invalid, ".: the root of a tree must be a directory");
  Fd parent = TRY(make_folder(split_path(path).first));
  TRY(remove(parent, name, path, false));
  put_.insert(name_of(parent, name));
  return parent;
}

TreeWriter::Name TreeWriter::name_of(const Fd& parent, const std::string& name) {
  struct stat info {};
  ::fstat(parent.get(), &info);
  return {info.st_dev, info.st_ino, name};
}

Result<> TreeWriter::put_directory(const std::string& path, const TreeAttributes& attributes) {
  if (path.empty()) return set_attributes(root_, ".", path, attributes, true);
  const auto [parent_path, name] = split_path(path);
  const Fd parent = TRY(make_folder(parent_path));
  struct stat info {};
  const bool exists = ::fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (!exists || !S_ISDIR(info.st_mode)) {
    TRY(remove(parent, name, path, false));
    if (::mkdirat(parent.get(), name.c_str(), 0700) != 0) return system_error(path + ": creating");
  }
  put_.insert(name_of(parent, name));
  return set_attributes(parent, name, path, attributes, true);
}

Result<> TreeWriter::put_file(const std::string& path, const TreeAttributes& attributes, std::uint64_t size,
                              const std::function<Result<>(const Write&)>& fill) {
  const std::string name = split_path(path).second;
  const Fd parent = TRY(make_place(path, name));
  const Fd file(::openat(parent.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.is_open()) return system_error(path + ": creating");
  TRY(fill([&](std::uint64_t offset, std::string_view piece) { return write_at(file, offset, piece, path); }));
  if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) return system_error(path + ": writing");
  return set_attributes(parent, name, path, attributes, true);
}

Result<> TreeWriter::put_symbolic_link(const std::string& path, const std::string& target, const TreeAttributes& attributes) {
  const std::string name = split_path(path).second;
  const Fd parent = TRY(make_place(path, name));
  if (::symlinkat(target.c_str(), parent.get(), name.c_str()) != 0) return system_error(path + ": creating");
  return set_attributes(parent, name, path, attributes, false);
}

Result<> TreeWriter::put_hard_link(const std::string& path, const std::string& target) {
  const auto missing = [&] { return error(Code::invalid, "{}: is a hard link to {}, which does not exist", path, target); };
  const auto [target_folder, target_name] = split_path(target);
  Result<Fd> from = open_folder(target_folder);
  if (!from.ok() && from.error().code() == Code::not_found) return missing();
  if (!from.ok()) return std::move(from).error();
  struct stat old {};
  if (::fstatat(from->get(), target_name.c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0) return missing();
  if (S_ISDIR(old.st_mode)) return error(Code::invalid, "{}: is a hard link to the directory {}", path, target);

  const auto [folder, name] = split_path(path);
  const Fd parent = TRY(make_folder(folder));
  struct stat present {};
  const bool exists = ::fstatat(parent.get(), name.c_str(), &present, AT_SYMLINK_NOFOLLOW) == 0;
  // Removing the path first would lose a file that is linked to itself.
  if (exists && present.st_dev == old.st_dev && present.st_ino == old.st_ino) return put_.insert(name_of(parent, name)), Ok{};
  const Fd place = TRY(make_place(path, name));
  if (::linkat(from->get(), target_name.c_str(), place.get(), name.c_str(), 0) == 0) return Ok{};
  if (errno == ENOENT) return missing();
  return system_error(fmt::format("{}: linking to {}", path, target));
}

Result<> TreeWriter::remove_old(const std::string& path) {
  const auto [parent_path, name] = split_path(path);
  const Result<Fd> parent = open_folder(parent_path);
  if (parent.ok()) return remove(parent.value(), name, path, true);
  if (parent.error().code() == Code::not_found) return Ok{};
  return Error(parent.error());
}

Result<> TreeWriter::empty_old(const std::string& path) {
  const Result<Fd> folder = open_folder(path);
  if (folder.ok()) return empty(folder.value(), path, true);
  if (folder.error().code() == Code::not_found) return Ok{};
  return Error(folder.error());
}

Result<> TreeWriter::remove(const Fd& parent, const std::string& name, const std::string& path, bool only_old) {
  struct stat info {};
  if (::fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return Ok{};
    return system_error(path + ": removing");
  }
  if (S_ISDIR(info.st_mode)) {
    const Fd folder(::openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder.is_open()) return system_error(path + ": opening");
    TRY(empty(folder, path, only_old));
  }
  if (only_old && put_.contains(name_of(parent, name))) return Ok{};
  if (::unlinkat(parent.get(), name.c_str(), S_ISDIR(info.st_mode) ? AT_REMOVEDIR : 0) == 0) return Ok{};
  if (only_old && errno == ENOTEMPTY) return Ok{};
  return system_error(path + ": removing");
}

Result<> TreeWriter::empty(const Fd& folder, const std::string& path, bool only_old) {
  const std::vector<std::string> names = TRY(list(folder, path));
  for (const std::string& name : names) TRY(remove(folder, name, path.empty() ? name : path + "/" + name, only_old));
  return Ok{};
}

}  // namespace slipway::release
