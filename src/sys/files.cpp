#include "sys/files.h"

#include "sys/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace slipway::sys {

namespace {

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// Folders that are created for a secret are private too.
Mode folder_mode(Mode file_mode) { return (file_mode & 077) == 0 ? 0700 : 0755; }

Result<> sync_folder(const std::string& path) {
  const std::string doing = "syncing " + path;
  const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open() || ::fsync(fd.get()) != 0) return system_error(doing);
  return Ok{};
}

// Does not sync the folder: until the folder is synced, a power failure can restore the old file.
Result<> replace(const std::string& path, std::string_view content, Mode mode) {
  const std::string doing = "writing " + path;
  const std::string folder = parent_of(path);
  // With a leading dot: programs that watch folders (the kubelet, udev, systemd) ignore such names.
  std::string temporary = folder + "/." + name_of(path) + ".XXXXXX";
  Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.is_open()) return system_error(doing);
  auto write_it = [&]() -> Result<> {
    TRY(write_all(fd, content, doing));
    if (::fchmod(fd.get(), mode) != 0 || ::fsync(fd.get()) != 0) return system_error(doing);
    return ::rename(temporary.c_str(), path.c_str()) == 0 ? Result<>(Ok{}) : system_error(doing);
  };
  Result<> written = write_it();
  if (!written.ok()) ::unlink(temporary.c_str());
  return written;
}

}  // namespace

Result<std::optional<std::string>> Files::read_if_exists(const std::string& path) {
  Result<std::string> content = read(path);
  if (content.ok()) return std::optional(std::move(content).value());
  if (content.error().code() == Code::not_found) return std::optional<std::string>();
  return std::move(content).error();
}

Result<std::string> RealFiles::read(const std::string& path) {
  const std::string doing = "reading " + path;
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return system_error(doing);
  std::string content;
  struct stat status {};
  if (::fstat(fd.get(), &status) == 0 && status.st_size > 0) content.reserve(static_cast<std::size_t>(status.st_size) + 1);
  char piece[65536];
  for (;;) {
    const ssize_t got = ::read(fd.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(doing);
    if (got == 0) return content;
    content.append(piece, static_cast<std::size_t>(got));
  }
}

Result<> Files::write_each(std::span<const NewFile> files) {
  for (const NewFile& file : files) TRY(write(file.path, file.content, file.mode));
  return Ok{};
}

Result<> RealFiles::write(const std::string& path, std::string_view content, Mode mode) {
  return write_each(std::array{NewFile{path, content, mode}});
}

Result<> RealFiles::write_each(std::span<const NewFile> files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& [path, content, mode] = files[i];
    const std::string folder = parent_of(path);
    TRY(make_directories(folder, folder_mode(mode)));
    TRY(replace(path, content, mode));
    if (i + 1 == files.size() || parent_of(files[i + 1].path) != folder) TRY(sync_folder(folder));
  }
  return Ok{};
}

Result<> RealFiles::append(const std::string& path, std::string_view content, Mode mode) {
  const std::string doing = "appending to " + path;
  Fd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, mode));
  if (!fd.is_open() && errno == ENOENT) {
    TRY(make_directories(parent_of(path), folder_mode(mode)));
    fd = Fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, mode));
  }
  if (!fd.is_open()) return system_error(doing);
  return write_all(fd, content, doing);
}

Result<std::optional<FileInfo>> RealFiles::info(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<FileInfo>();
    return system_error("reading the status of " + path);
  }
  FileInfo info;
  info.kind = S_ISREG(status.st_mode)   ? FileKind::file
              : S_ISDIR(status.st_mode) ? FileKind::directory
              : S_ISLNK(status.st_mode) ? FileKind::link
                                        : FileKind::other;
  info.size = static_cast<std::uint64_t>(status.st_size);
  info.mode = status.st_mode & 07777;
  return std::optional(info);
}

Result<std::vector<std::string>> RealFiles::list(const std::string& path) {
  const std::string doing = "listing " + path;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (!folder) return system_error(doing);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (!entry && errno != 0) return system_error(doing);
    if (!entry) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

Result<> RealFiles::make_directories(const std::string& path, Mode mode) {
  const std::string doing = "creating folder " + path;
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), mode) != 0 && errno != EEXIST) return system_error(doing);
    if (end == std::string::npos) break;
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return system_error(doing);
  if (!S_ISDIR(status.st_mode)) return system_error(doing, ENOTDIR);
  return Ok{};
}

Result<> RealFiles::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return system_error(fmt::format("renaming {} to {}", from, to));
  return sync_folder(parent_of(to));
}

Result<> RealFiles::exchange(const std::string& one, const std::string& other) {
  if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) != 0) {
    return system_error(fmt::format("exchanging {} and {}", one, other));
  }
  TRY(sync_folder(parent_of(one)));
  return parent_of(one) == parent_of(other) ? Result<>(Ok{}) : sync_folder(parent_of(other));
}

Result<> RealFiles::remove(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return Ok{};
    return system_error("removing " + path);
  }
  std::string root = path;
  const std::array<char*, 2> roots = {root.data(), nullptr};
  const std::unique_ptr<FTS, decltype(&::fts_close)> tree(::fts_open(roots.data(), FTS_PHYSICAL | FTS_NOCHDIR, nullptr),
                                                          &::fts_close);
  if (!tree) return system_error("removing " + path);
  errno = 0;
  while (FTSENT* entry = ::fts_read(tree.get())) {
    // Other file systems that are mounted below the path are not entered. Only folders tell: files of an overlay have the device
    // of a layer, so FTS_XDEV would leave them.
    if (entry->fts_info == FTS_D) {
      if (entry->fts_statp->st_dev != status.st_dev) ::fts_set(tree.get(), entry, FTS_SKIP);
    } else if (entry->fts_info == FTS_ERR || entry->fts_info == FTS_DNR) {
      errno = entry->fts_errno;
      return system_error("removing " + std::string(entry->fts_path));
    } else if (::remove(entry->fts_accpath) != 0 && errno != ENOENT) {
      return system_error("removing " + std::string(entry->fts_path));
    }
    errno = 0;
  }
  return errno == 0 ? Result<>(Ok{}) : system_error("removing " + path);
}

}  // namespace slipway::sys
