// TempDir: a private folder (0700) that its owner removes.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace slipway::sys {

class TempDir {
 public:
  // Created in $TMPDIR or /tmp. `purpose` becomes part of the name, which explains folders that a kill left behind.
  static Result<TempDir> make(std::string_view purpose);

  TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TempDir& operator=(TempDir&& other) noexcept { return std::swap(path_, other.path_), *this; }
  ~TempDir();

  const std::string& path() const { return path_; }

 private:
  explicit TempDir(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace slipway::sys
