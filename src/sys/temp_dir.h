// TempDir: a private folder (0700) that is gone with its owner.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace slipway::sys {

class TempDir {
 public:
  // Under $TMPDIR, else /tmp; `purpose` becomes part of the name, for whoever finds one after a kill.
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
