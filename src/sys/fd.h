// Fd: a file descriptor that its owner closes. Only src/sys, src/net and release/tree_writer.h use descriptors.
#pragma once

#include "base/result.h"

#include <string_view>
#include <utility>

namespace slipway::sys {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept { return std::swap(fd_, other.fd_), *this; }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

// The error of the system call that just failed, such as "opening /etc/x: Permission denied". errno decides the code.
Error system_error(std::string_view doing);
Error system_error(std::string_view doing, int errno_value);

// Writes all bytes. errors: as system_error
Result<> write_all(const Fd& fd, std::string_view bytes, std::string_view doing);

}  // namespace slipway::sys
