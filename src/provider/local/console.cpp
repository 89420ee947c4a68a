#include "provider/local/console.h"

#include "base/text.h"

namespace slipway::provider::local {

// The file is read and written under the lock, so that a follower misses no line.
void Console::add(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  followers_.with_lock([&](std::vector<std::weak_ptr<Follower>>& followers) {
    (void)files_.append(path_, fmt::format("{}\n", line), 0600);
    std::erase_if(followers, [&](const std::weak_ptr<Follower>& each) {
      const std::shared_ptr<Follower> follower = each.lock();
      if (follower) follower->push(std::string(line));
      return !follower;
    });
  });
}

Result<std::shared_ptr<Console::Follower>> Console::follow() {
  return followers_.with_lock([&](std::vector<std::weak_ptr<Follower>>& followers) -> Result<std::shared_ptr<Follower>> {
    const std::optional<std::string> text = TRY(files_.read_if_exists(path_));
    auto follower = std::make_shared<Follower>();
    std::string_view rest = text ? *text : std::string_view();
    for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
      follower->push(std::string(rest.substr(0, end)));
    }
    followers.push_back(follower);
    return follower;
  });
}

void Console::close() {
  followers_.with_lock([](std::vector<std::weak_ptr<Follower>>& followers) {
    for (const std::weak_ptr<Follower>& each : followers) {
      if (const std::shared_ptr<Follower> follower = each.lock()) follower->push(std::nullopt);
    }
    followers.clear();
  });
}

}  // namespace slipway::provider::local
