#include "sys/events.h"

#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::sys {
namespace {

TEST(Event, IsOneLineAndReadsBack) {
  Event event{.time = WallTime(Milliseconds(1'795'253'400'125)),
              .source = "bootstrap",
              .kind = "stage",
              .name = "etcd-bootstrap",
              .phase = Phase::failed,
              .duration = Milliseconds(812),
              .error = Error(Code::denied, "no\nway"),
              .fields = {{"image", "etcd"}}};
  const std::string line = event.to_line();
  EXPECT_EQ(line,
            R"({"time":"2026-11-21T09:30:00.125Z","source":"bootstrap","kind":"stage","name":"etcd-bootstrap","phase":"failed",)"
            R"("duration_ms":812,"error":{"code":"denied","message":"no\nway"},"image":"etcd"})");
  Event read = parse_event(line).value();
  EXPECT_EQ(read.to_line(), line);
  EXPECT_EQ(read.error->code(), Code::denied);
}

TEST(ParseEvent, SaysWhatIsWrong) {
  EXPECT_EQ(parse_event("[]").error().message(), "event: must be an object, got a list");
  EXPECT_EQ(parse_event(R"({"time":"2026-11-21T09:30:00Z","source":"s","kind":"k","name":"n","phase":"over"})").error().message(),
            "phase: must be started, progress, finished, failed or skipped, got 'over'");
}

TEST(Span, TellsStartAndEnd) {
  testing_support::TestContext test;
  Context context = test.context();
  Span span(context.events, context.clock, "image", "etcd");
  context.clock.wait(context.clock.steady() + Milliseconds(250), {}, nullptr, 0);
  Result<int> result = span.end(Result<int>(error(Code::unavailable, "no network")));
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(test.event_lines(), (std::vector<std::string>{"image etcd started", "image etcd failed"}));
  EXPECT_EQ(test.events()[1].duration, Milliseconds(250));
}

TEST(JournalSink, AppendsLines) {
  testing_support::MemoryFiles files;
  testing_support::FakeClock clock;
  Events events(clock, "test");
  int failures = 0;
  events.add_sink(journal_sink(files, "/log/events.jsonl", [&](const Error&) { ++failures; }));
  events.emit({.kind = "stage", .name = "a"});
  events.emit({.kind = "stage", .name = "b"});
  const std::string text = files.read("/log/events.jsonl").value();
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace slipway::sys
