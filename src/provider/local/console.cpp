#include "provider/local/console.h"

#include "base/text.h"

#include <algorithm>

namespace slipway::provider::local {

// The file is read and written under the lock: that is what makes following free of gaps.
void Console::add(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  followers_.with_lock([&](std::vector<Follower*>& followers) {
    (void)files_.append(path_, fmt::format("{}\n", line), 0600);
    for (Follower* follower : followers) follower->push(std::string(line));
  });
}

Result<> Console::follow(Follower& follower) {
  return followers_.with_lock([&](std::vector<Follower*>& followers) -> Result<> {
    const std::optional<std::string> text = TRY(files_.read_if_exists(path_));
    std::string_view rest = text ? *text : std::string_view();
    for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
      follower.push(std::string(rest.substr(0, end)));
    }
    followers.push_back(&follower);
    return Ok{};
  });
}

void Console::unfollow(Follower& follower) {
  followers_.with_lock([&](std::vector<Follower*>& followers) { std::erase(followers, &follower); });
}

void Console::close() {
  followers_.with_lock([](std::vector<Follower*>& followers) {
    for (Follower* follower : followers) follower->push(std::nullopt);
    followers.clear();
  });
}

}  // namespace slipway::provider::local
