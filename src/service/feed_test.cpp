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
  EXPECT_TRUE(feed.subscribe({}, 0, missed(100))->is_open());
  const auto stream = feed.subscribe({}, 0, missed(10'000));
  EXPECT_FALSE(stream->is_open()) << "the client connects again for the rest";
  feed.take_events(missed(10'001)());  // not to a stream that has ended
  EXPECT_TRUE(feed.subscribe({.host = "h"}, 0, missed(10'000))->is_open())
      << "events that the client does not want count nothing";
}

}  // namespace
}  // namespace slipway::service
