#include "sys/disk_copy.h"

#include "base/text.h"
#include "sys/fd.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace slipway::sys {

namespace {

constexpr std::size_t piece_size = 4u << 20;

struct Target {
  Fd fd;
  std::string path;
  bool is_device = false;
};

// The size of the device, if it can take the image.
Result<> check_size(const Target& device, std::uint64_t needed) {
  std::uint64_t size = 0;
  if (::ioctl(device.fd.get(), BLKGETSIZE64, &size) != 0) return system_error("reading the size of " + device.path);
  if (size >= needed) return Ok{};
  return error(Code::invalid, "{}: has {}, but the image needs {} (choose a larger disk)", device.path, human_size(size),
               human_size(needed));
}

// Whether the path is a block device. errors: conflict: a file exists; invalid: anything else exists
Result<bool> is_device(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return false;
  if (S_ISBLK(info.st_mode)) return true;
  if (S_ISREG(info.st_mode)) return error(Code::conflict, "{}: exists already (remove it, or choose another file)", path);
  return error(Code::invalid, "{}: is neither a disk nor a file", path);
}

// With O_EXCL, the kernel refuses a device if the device or one of its partitions is in use.
Result<Fd> open_device(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_EXCL));
  if (fd.is_open()) return fd;
  if (errno != EBUSY) return system_error("opening " + path);
  return error(Code::conflict, "{0}: is in use: one of its partitions is mounted, swap, or part of a volume (lsblk {0} shows it)",
               path);
}

Result<Target> open_target(const std::string& path, std::uint64_t needed) {
  const bool exists = TRY(is_device(path));
  Target target{.fd = Fd(), .path = path, .is_device = exists};
  if (target.is_device) {
    target.fd = TRY(open_device(path));
    TRY(check_size(target, needed));
    return target;
  }
  target.fd = Fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_EXCL | O_CREAT, 0600));
  if (!target.fd.is_open()) return system_error("opening " + path);
  return target;
}

Result<> check_stop(const Context& context) {
  if (context.stop.stop_requested()) return error(Code::cancelled, "writing the disk: stopped");
  return Ok{};
}

// Reads `length` bytes at `offset`. errors: internal: the file is shorter
Result<std::string_view> read_piece(const Fd& fd, const std::string& path, std::vector<char>& buffer, std::uint64_t offset,
                                    std::size_t length) {
  std::size_t done = 0;
  while (done < length) {
    const ssize_t got = ::pread(fd.get(), buffer.data() + done, length - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("reading " + path);
    if (got == 0) return error(Code::internal, "reading {}: the file ends after {} bytes", path, offset + done);
    done += static_cast<std::size_t>(got);
  }
  return std::string_view(buffer.data(), length);
}

Result<> write_piece(const Target& target, std::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(target.fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("writing " + target.path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return Ok{};
}

// A device may have other content where the image has a hole.
Result<> write_zeros(const Target& target, std::uint64_t begin, std::uint64_t end) {
  if (!target.is_device || begin == end) return Ok{};
  if (::fallocate(target.fd.get(), FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                  static_cast<off_t>(end - begin)) == 0)
    return Ok{};
  if (errno != EOPNOTSUPP) return system_error("writing zeros to " + target.path);
  const std::string zeros(piece_size, '\0');
  for (std::uint64_t at = begin; at < end; at += piece_size)
    TRY(write_piece(target, std::string_view(zeros).substr(0, std::min<std::uint64_t>(piece_size, end - at)), at));
  return Ok{};
}

struct Image {
  Fd fd;
  std::string path;
  std::uint64_t size = 0;
};

Result<Image> open_image(const std::string& path) {
  Image image{.fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), .path = path};
  struct stat info {};
  if (!image.fd.is_open() || ::fstat(image.fd.get(), &info) != 0) return system_error("opening " + path);
  image.size = static_cast<std::uint64_t>(info.st_size);
  return image;
}

// The next offset with data (SEEK_DATA) or without (SEEK_HOLE); the size of the image if there is none.
Result<std::uint64_t> seek(const Image& image, std::uint64_t from, int whence) {
  const off_t found = ::lseek(image.fd.get(), static_cast<off_t>(from), whence);
  if (found >= 0) return static_cast<std::uint64_t>(found);
  if (errno == ENXIO) return image.size;
  return system_error("reading " + image.path);
}

Result<> write_pass(const Context& context, const Image& image, const Target& target,
                    const std::function<void(std::uint64_t)>& on_bytes) {
  std::vector<char> buffer(piece_size);
  std::uint64_t at = 0;
  while (at < image.size) {
    const std::uint64_t data = TRY(seek(image, at, SEEK_DATA));
    TRY(write_zeros(target, at, data));
    on_bytes(data - at);
    const std::uint64_t end = data == image.size ? data : TRY(seek(image, data, SEEK_HOLE));
    for (at = data; at < end;) {
      TRY(check_stop(context));
      const std::size_t length = std::min<std::uint64_t>(piece_size, end - at);
      TRY(write_piece(target, TRY(read_piece(image.fd, image.path, buffer, at, length)), at));
      on_bytes(length);
      at += length;
    }
  }
  if (!target.is_device && ::ftruncate(target.fd.get(), static_cast<off_t>(image.size)) != 0)
    return system_error("writing " + target.path);
  if (::fsync(target.fd.get()) != 0) return system_error("writing " + target.path);
  return Ok{};
}

Result<> read_back(const Context& context, const Image& image, const Target& target,
                   const std::function<void(std::uint64_t)>& on_bytes) {
  // Without this the kernel would answer from its memory.
  (void)::posix_fadvise(target.fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  std::vector<char> expected(piece_size), found(piece_size);
  for (std::uint64_t at = 0; at < image.size;) {
    TRY(check_stop(context));
    const std::size_t length = std::min<std::uint64_t>(piece_size, image.size - at);
    if (TRY(read_piece(image.fd, image.path, expected, at, length)) != TRY(read_piece(target.fd, target.path, found, at, length)))
      return error(Code::internal,
                   "{}: reads back other content than was written, between bytes {} and {} (the disk may be faulty)", target.path,
                   at, at + length);
    on_bytes(length);
    at += length;
  }
  return Ok{};
}

}  // namespace

Result<> check_disk_target(const std::string& target) {
  if (TRY(is_device(target))) TRY(open_device(target));
  return Ok{};
}

Result<std::uint64_t> copy_to_disk(const Context& context, const std::string& image_path, const std::string& target_path,
                                   const std::function<void(std::uint64_t)>& on_bytes) {
  const Image image = TRY(open_image(image_path));
  const Target target = TRY(open_target(target_path, image.size));
  Result<> done = write_pass(context, image, target, on_bytes);
  if (done.ok()) done = read_back(context, image, target, on_bytes);
  if (!done.ok()) {
    if (!target.is_device) (void)::unlink(target.path.c_str());
    return done.error();
  }
  if (target.is_device) (void)::ioctl(target.fd.get(), BLKRRPART);  // the kernel reads the new partition table
  return image.size;
}

}  // namespace slipway::sys
