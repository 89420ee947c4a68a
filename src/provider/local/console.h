// A machine's console: a file, and whoever follows it.
#pragma once

#include "base/guarded.h"
#include "base/queue.h"
#include "base/result.h"
#include "sys/files.h"

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

  // What there is so far and then every line as it comes, none twice, none left out, until unfollow.
  Result<> follow(Follower& follower);
  void unfollow(Follower& follower);

  // Tells all followers that nothing more will come.
  void close();

 private:
  sys::Files& files_;
  std::string path_;
  Guarded<std::vector<Follower*>> followers_;
};

}  // namespace slipway::provider::local
