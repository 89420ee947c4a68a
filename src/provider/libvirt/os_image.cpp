#include "provider/libvirt/os_image.h"

#include "base/text.h"
#include "provider/libvirt/documents.h"
#include "sys/fd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include <array>
#include <cerrno>

namespace slipway::provider::libvirt {

namespace {

// The first bytes of an image in qcow2: magic, and the size of the disk in bytes 24 to 31, big-endian
// (https://www.qemu.org/docs/master/interop/qcow2.html).
Result<std::uint64_t> disk_size(const sys::Fd& fd, const std::string& file) {
  std::array<unsigned char, 32> head{};
  const ssize_t got = ::pread(fd.get(), head.data(), head.size(), 0);
  if (got < 0) return sys::system_error("reading " + file);
  constexpr std::array<unsigned char, 4> magic = {'Q', 'F', 'I', 0xfb};
  if (got != static_cast<ssize_t>(head.size()) || !std::equal(magic.begin(), magic.end(), head.begin())) {
    return error(Code::invalid, "{}: is not a disk image in qcow2 (convert it with `qemu-img convert -O qcow2`)", file);
  }
  std::uint64_t size = 0;
  for (std::size_t i = 24; i < head.size(); ++i) size = size << 8 | head[i];
  return size;
}

Result<> upload_file(const net::Environment& environment, Connection& connection, const std::string& file,
                     const std::string& pool, const std::string& volume) {
  const sys::Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!fd.is_open() || ::fstat(fd.get(), &info) != 0) return sys::system_error("opening " + file);
  const std::uint64_t capacity = TRY(disk_size(fd, file));
  TRY(connection.create_volume(pool, volume_xml({.name = volume, .capacity = capacity, .format = "qcow2", .mode = "0644"})));
  return connection.upload(environment.context, pool, volume, static_cast<std::uint64_t>(info.st_size),
                           [&](char* buffer, std::size_t size) -> Result<std::size_t> {
                             const ssize_t got = ::read(fd.get(), buffer, size);
                             if (got < 0) return sys::system_error("reading " + file);
                             return static_cast<std::size_t>(got);
                           });
}

}  // namespace

Result<> create_os_volume(const net::Environment& environment, Connection& connection, const OsImageSource& source,
                          std::string_view platform, const std::string& pool, const std::string& volume) {
  const std::string file = TRY(os_image_file(environment, source, platform, "qcow2", volume));
  const Result<> uploaded = upload_file(environment, connection, file, pool, volume);
  if (source.file.empty()) TRY(environment.files.remove(file));
  return uploaded;
}

}  // namespace slipway::provider::libvirt
