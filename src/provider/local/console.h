// A machine's console: a file, and everybody who follows it.
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
  using Follower = Queue<std::optional<std::string>>;  // nothing after the last line

  Console(sys::Files& files, std::string path) : files_(files), path_(std::move(path)) {}

  // A line without its end. One that cannot be written to the file still reaches the followers.
  void add(std::string_view line);

  // The lines that exist and then each new line, none twice, none left out. The follower belongs to the caller: it may outlive
  // the console, and the console forgets it when the caller drops it.
  Result<std::shared_ptr<Follower>> follow();

  // Tells all followers that nothing more will come.
  void close();

 private:
  sys::Files& files_;
  std::string path_;
  Guarded<std::vector<std::weak_ptr<Follower>>> followers_;
};

}  // namespace slipway::provider::local
