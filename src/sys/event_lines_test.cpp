#include "sys/event_lines.h"

#include "support/memory_files.h"

#include <gtest/gtest.h>

namespace slipway::sys {
namespace {

TEST(EventLines, ThatAreCutArePassedOver) {
  const std::string whole = R"({"time":"2026-11-21T09:30:00Z","source":"s","kind":"stage","name":"a","phase":"started"})";
  const std::vector<Event> events = parse_events(whole + "\n" + whole.substr(0, 40) + "\n\n" + whole + "\n");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].to_line(), whole);
}

TEST(EventLines, NoFileIsNotAnEmptyOne) {
  testing_support::MemoryFiles files;
  const auto missing = read_events(files, "/events.jsonl");
  ASSERT_TRUE(missing.ok());
  EXPECT_FALSE(missing->has_value());
  ASSERT_TRUE(files.write("/events.jsonl", "", 0600).ok());
  const auto empty = read_events(files, "/events.jsonl");
  ASSERT_TRUE(empty.ok());
  ASSERT_TRUE(empty->has_value());
  EXPECT_TRUE(empty->value().empty());
}

}  // namespace
}  // namespace slipway::sys
