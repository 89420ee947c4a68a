#include "sys/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace slipway::sys {

Result<FileReader> FileReader::open(const std::string& path) {
  // O_NONBLOCK: opening a pipe would wait for its writer.
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return system_error("opening " + path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return system_error("opening " + path);
  if (!S_ISREG(info.st_mode)) return error(Code::invalid, "{}: is not a regular file", path);
  constexpr std::int64_t nanoseconds = 1'000'000'000;
  return FileReader(std::move(file), path, static_cast<std::uint64_t>(info.st_size),
                    info.st_mtim.tv_sec * nanoseconds + info.st_mtim.tv_nsec);
}

Result<std::string> FileReader::read(std::uint64_t offset, std::size_t length) const {
  std::string bytes(length, '\0');
  std::size_t done = 0;
  while (done < length) {
    const ssize_t got = ::pread(file_->get(), bytes.data() + done, length - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("reading " + path_);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace slipway::sys
