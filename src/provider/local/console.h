// A machine's console: writes lines to a file and passes them to followers.
#pragma once

#include "base/guarded.h"
#include "base/queue.h"
#include "base/result.h"
#include "sys/files.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::local {

// Threads: any.
class Console {
 public:
  using Follower = Queue<std::optional<std::string>>;  // empty value: there are no more lines

  Console(sys::Files& files, std::string path) : files_(files), path_(std::move(path)) {}

  // Adds a line, given without line end. If it cannot be written to the file, followers still get it.
  void add(std::string_view line);

  // Returns a queue with all existing lines; each new line is added once. The caller owns the follower: it may outlive the
  // console, and the console stops adding lines when the caller releases it.
  Result<std::shared_ptr<Follower>> follow();

  // Marks the end of the lines for all followers.
  void close();

 private:
  sys::Files& files_;
  std::string path_;
  Guarded<std::vector<std::weak_ptr<Follower>>> followers_;
};

}  // namespace slipway::provider::local
