#include "service/feed.h"

#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::service {
namespace {

TEST(Feed, ManyMissedEventsAreSentInParts) {
  testing_support::RealTimeContext context;
  Feed feed(context.context());
  const auto missed = [](std::int64_t count) {
    return [count] {
      std::vector<EventRecord> events;
      for (std::int64_t i = 1; i <= count; ++i)
        events.push_back({.number = i, .name = "host_status_updated", .message = std::string(1000, 'x')});
      return events;
    };
  };
  EXPECT_TRUE(feed.subscribe({}, {}, 0, missed(100))->is_open());
  const auto stream = feed.subscribe({}, {}, 0, missed(10'000));
  EXPECT_FALSE(stream->is_open()) << "the client connects again for the rest";
  feed.take_events(missed(10'001)());  // not to a stream that has ended
  EXPECT_TRUE(feed.subscribe({.host = "h"}, {}, 0, missed(10'000))->is_open())
      << "events that the client does not want count nothing";
}

TEST(Feed, StreamsEndWithTheirToken) {
  testing_support::RealTimeContext context;
  const WallTime later = context.clock.now() + std::chrono::hours(1);
  Guarded tokens(std::map<std::string, WallTime>{{"good", later}, {"bad", later}, {"cut", later}});
  Feed feed(context.context());
  feed.set_owners([](Kind, const std::string&) -> std::optional<Owners> { return std::nullopt; });
  feed.set_peers([](const auto&) { return std::set<std::string>(); });
  feed.set_tokens([&](const std::string& id) {
    return tokens.with_lock([&](const auto& all) -> std::optional<WallTime> {
      const auto found = all.find(id);
      return found == all.end() ? std::nullopt : std::optional(found->second);
    });
  });
  const auto none = [] { return std::vector<EventRecord>(); };
  const auto open = [&](const char* id) { return feed.subscribe({}, {.id = id, .expires = later}, 0, none); };
  const auto good = open("good"), bad = open("bad"), cut = open("cut"), unknown = open("unknown");
  const auto without = feed.subscribe({}, {}, 0, none);
  tokens.with_lock([&](auto& all) {
    all.erase("bad");
    all["cut"] = context.clock.now() + Milliseconds(50);
  });
  feed.take_changes({{Kind::token, "bad"}, {Kind::token, "cut"}});
  for (int i = 0; i < 1000 && (bad->is_open() || cut->is_open() || unknown->is_open()); ++i) {
    context.clock.wait(context.clock.steady() + Milliseconds(10), {}, nullptr, 0);
  }
  EXPECT_FALSE(bad->is_open()) << "revoked";
  EXPECT_FALSE(cut->is_open()) << "its life was shortened, and is over";
  EXPECT_FALSE(unknown->is_open()) << "revoked before the stream began";
  EXPECT_TRUE(good->is_open());
  EXPECT_TRUE(without->is_open());
}

}  // namespace
}  // namespace slipway::service
