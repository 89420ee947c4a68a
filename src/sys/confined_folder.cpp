#include "sys/confined_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace slipway::sys {

namespace {

// Entries that others created while a tree was removed.
constexpr int max_new_entries = 1000;

// The folder with this name in `parent`: not one behind a link, and not one that is mounted there.
Result<Fd> open_below(const Fd& parent, const char* name, const std::string& shown) {
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  for (;;) {
    const long fd = ::syscall(SYS_openat2, parent.get(), name, &how, sizeof how);
    if (fd >= 0) return Fd(static_cast<int>(fd));
    if (errno == EXDEV) return error(Code::conflict, "{}: a file system is mounted there (unmount it)", shown);
    // With O_DIRECTORY, a link is "not a directory".
    if (errno == ELOOP || errno == ENOTDIR) return error(Code::invalid, "{}: is not a folder", shown);
    // Some process renamed something somewhere meanwhile.
    if (errno != EAGAIN && errno != EINTR) return system_error("opening " + shown);
  }
}

// Calls `on_entry` for each entry; entries that are created meanwhile may be left out. errors: also those of `on_entry`
Result<> for_each_entry(const Fd& folder, const std::string& shown, const std::function<Result<>(const dirent&)>& on_entry) {
  // A descriptor of its own, because a listing has a position.
  const int copy = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return system_error("listing " + shown);
  DIR* opened = ::fdopendir(copy);
  if (opened == nullptr) return ::close(copy), system_error("listing " + shown);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opened, ::closedir);
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(entries.get());
    if (entry == nullptr) return errno == 0 ? Result<>(Ok{}) : system_error("listing " + shown);
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") TRY(on_entry(*entry));
  }
}

Result<bool> is_folder(const Fd& parent, const dirent& entry, const std::string& shown) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat info {};
  if (::fstatat(parent.get(), entry.d_name, &info, AT_SYMLINK_NOFOLLOW) == 0) return S_ISDIR(info.st_mode);
  return errno == ENOENT ? Result<bool>(false) : system_error("removing " + shown);
}

Result<> unlink_file(const Fd& parent, const char* name, const std::string& shown) {
  if (::unlinkat(parent.get(), name, 0) == 0 || errno == ENOENT) return Ok{};
  return system_error("removing " + shown);
}

// Empties a tree without recursion: folders of folders move up to the top, so there are never more than two levels to look at. A
// tree as deep as its owner liked would otherwise need a descriptor and a stack frame for each level.
class TreeRemoval {
 public:
  TreeRemoval(const Fd& top, const std::string& shown, const std::stop_token& stop) : top_(top), shown_(shown), stop_(stop) {}

  Result<> run() {
    for (bool is_first_pass = true;; is_first_pass = false) {
      bool is_empty = true;
      TRY(for_each_entry(top_, shown_, [&](const dirent& entry) -> Result<> {
        is_empty = false;
        return remove_entry(entry, is_first_pass);
      }));
      if (is_empty) return Ok{};
    }
  }

 private:
  Result<> remove_entry(const dirent& entry, bool is_first_pass) {
    TRY(go_on());
    const std::string name = entry.d_name, path = shown_ + "/" + name;
    if (!TRY(is_folder(top_, entry, path))) {
      // Only folders move up.
      if (!is_first_pass) ++new_entries_;
      return unlink_file(top_, name.c_str(), path);
    }
    const Result<Fd> folder = open_below(top_, name.c_str(), path);
    if (!folder.ok()) {
      // It has been removed or replaced; the next pass looks again.
      const bool has_changed = folder.error().code() == Code::not_found || folder.error().code() == Code::invalid;
      ++new_entries_;
      return has_changed ? Result<>(Ok{}) : Result<>(folder.error());
    }
    TRY(for_each_entry(folder.value(), path, [&](const dirent& below) -> Result<> {
      TRY(go_on());
      const std::string path_below = path + "/" + below.d_name;
      if (!TRY(is_folder(folder.value(), below, path_below))) return unlink_file(folder.value(), below.d_name, path_below);
      return lift(folder.value(), below.d_name, path_below);
    }));
    if (::unlinkat(top_.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return Ok{};
    if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) return system_error("removing " + path);
    ++new_entries_;
    return Ok{};
  }

  Result<> go_on() const {
    if (stop_.stop_requested()) return error(Code::cancelled, "removing {}: stopped", shown_);
    if (new_entries_ > max_new_entries) return error(Code::conflict, "removing {}: files are still created below it", shown_);
    return Ok{};
  }

  Result<> lift(const Fd& from, const char* name, const std::string& shown) {
    for (;;) {
      const std::string to = std::to_string(next_++);
      if (::renameat2(from.get(), name, top_.get(), to.c_str(), RENAME_NOREPLACE) == 0 || errno == ENOENT) return Ok{};
      if (errno != EEXIST) return system_error("removing " + shown);
    }
  }

  const Fd& top_;
  const std::string& shown_;
  const std::stop_token& stop_;
  std::uint64_t next_ = 0;
  int new_entries_ = 0;
};

}  // namespace

Result<ConfinedFolder> ConfinedFolder::open(const std::string& path) {
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.is_open()) return ConfinedFolder(std::move(folder), path);
  struct stat info {};
  const int reason = errno;
  if (::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode)) {
    return error(Code::invalid, "{}: is a symbolic link (mount the other folder there instead)", path);
  }
  return system_error("opening " + path, reason);
}

Result<std::vector<std::string>> ConfinedFolder::list() const {
  std::vector<std::string> names;
  TRY(for_each_entry(folder_, path_, [&](const dirent& entry) -> Result<> {
    names.emplace_back(entry.d_name);
    return Ok{};
  }));
  std::ranges::sort(names);
  return names;
}

Result<> ConfinedFolder::make_folder(const std::string& name, Mode mode) const {
  if (::mkdirat(folder_.get(), name.c_str(), 0700) != 0 && errno != EEXIST) return system_error("creating " + shown(name));
  const Fd made = TRY(open_below(folder_, name.c_str(), shown(name)));
  if (::fchmod(made.get(), mode) != 0) return system_error("changing the mode of " + shown(name));
  if (::fsync(made.get()) != 0) return system_error("syncing " + shown(name));
  return sync();
}

Result<> ConfinedFolder::rename(const std::string& from, const std::string& to) const {
  if (::renameat2(folder_.get(), from.c_str(), folder_.get(), to.c_str(), RENAME_NOREPLACE) != 0) {
    return system_error(fmt::format("renaming {} to {}", shown(from), to));
  }
  return sync();
}

Result<> ConfinedFolder::remove_tree(const std::string& name, const std::stop_token& stop) const {
  struct stat info {};
  if (::fstatat(folder_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? Result<>(Ok{}) : system_error("removing " + shown(name));
  }
  if (!S_ISDIR(info.st_mode)) return unlink_file(folder_, name.c_str(), shown(name));
  {
    const Fd top = TRY(open_below(folder_, name.c_str(), shown(name)));
    const std::string path = shown(name);
    TRY(TreeRemoval(top, path, stop).run());
  }
  if (::unlinkat(folder_.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return Ok{};
  return system_error("removing " + shown(name));
}

Result<FileSystemSpace> ConfinedFolder::space() const {
  struct statvfs info {};
  if (::fstatvfs(folder_.get(), &info) != 0) return system_error("looking at the file system of " + path_);
  const auto bytes = [&](auto blocks) {
    return static_cast<std::int64_t>(blocks) * static_cast<std::int64_t>(info.f_frsize);
  };
  return FileSystemSpace{.size = bytes(info.f_blocks), .available = bytes(info.f_bavail)};
}

bool ConfinedFolder::shares_file_system(const std::string& path) const {
  struct stat own {}, other {};
  return ::fstat(folder_.get(), &own) == 0 && ::stat(path.c_str(), &other) == 0 && own.st_dev == other.st_dev;
}

Result<> ConfinedFolder::sync() const {
  return ::fsync(folder_.get()) == 0 ? Result<>(Ok{}) : system_error("syncing " + path_);
}

}  // namespace slipway::sys
