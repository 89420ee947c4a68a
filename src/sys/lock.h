// FileLock: one process at a time works on something, for instance an asset folder. Released by the kernel when its owner
// dies, however it dies.
#pragma once

#include "base/result.h"
#include "sys/fd.h"

#include <string>

namespace slipway::sys {

class FileLock {
 public:
  // Takes the lock or says who has it; does not wait. The file is made when missing and is left behind.
  //
  //   what    begins "...: in use": "asset directory demo"
  //   errors  conflict: "asset directory demo: in use by process 4711 (slipway) (wait for it or stop it)"
  static Result<FileLock> acquire(const std::string& path, std::string_view what);

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}

  Fd fd_;
};

}  // namespace slipway::sys
