#include "cli/progress.h"

#include "support/fake_clock.h"

#include <gtest/gtest.h>

#include <limits>

namespace slipway::cli {
namespace {

using sys::Phase;

std::string shown(bool terminal) {
  testing_support::FakeClock clock;
  sys::Events events(clock, "slipway");
  std::string text;
  events.add_sink(progress_sink(terminal, [&](std::string_view piece) { text += piece; }));
  events.emit({.kind = "image", .name = "etcd", .phase = Phase::started});
  events.emit({.kind = "image", .name = "etcd", .phase = Phase::progress, .fields = {{"bytes", 500'000}, {"total", 2'000'000}}});
  events.emit({.kind = "image", .name = "etcd", .phase = Phase::finished, .duration = Milliseconds(1500)});
  events.emit({.kind = "image", .name = "pod", .phase = Phase::failed, .error = Error(Code::denied, "no access")});
  events.emit({.kind = "stage", .name = "a", .phase = Phase::skipped, .fields = {{"reason", "done before"}}});
  return text;
}

TEST(Progress, OffATerminalOnlyWhatLasts) {
  EXPECT_EQ(shown(false), "image etcd: done in 1.5 s\nimage pod: no access\nstage a: done before\n");
}

TEST(Progress, IsRedrawnOnATerminal) {
  EXPECT_EQ(shown(true),
            "\r\x1b[Kimage etcd: started\r\x1b[Kimage etcd: 500 kB of 2.0 MB (25 %)\r\x1b[Kimage etcd: done in 1.5 s\n"
            "\r\x1b[Kimage pod: no access\n\r\x1b[Kstage a: done before\n");
}

TEST(Progress, FindingsStandWithTheirProof) {
  testing_support::FakeClock clock;
  sys::Events events(clock, "slipway");
  std::string text;
  events.add_sink(progress_sink(false, [&](std::string_view piece) { text += piece; }));
  const JsonArray evidence = {{{"file", "1.log"}, {"line", 1}, {"text", "fatal: no zone"}}, {{"text", "another"}}};
  events.emit({.kind = "finding",
               .name = "operator-crashes",
               .phase = Phase::failed,
               .error = Error(Code::unavailable, "dns ends again and again"),
               .fields = {{"evidence", evidence}, {"next_step", "read its log"}}});
  EXPECT_EQ(text, "operator-crashes: dns ends again and again; seen: fatal: no zone; read its log\n");
}

TEST(Progress, AWaitHasItsCauseWhileThereIsOne) {
  testing_support::FakeClock clock;
  sys::Events events(clock, "slipway");
  std::string text;
  events.add_sink(progress_sink(true, [&](std::string_view piece) { text += piece; }));
  events.emit({.kind = "step", .name = "nodes-ready", .phase = Phase::started, .fields = {{"description", "nodes are Ready"}}});
  text.clear();
  events.emit({.kind = "cause",
               .name = "machine-off",
               .phase = Phase::failed,
               .error = Error(Code::unavailable, "machine m1 is off"),
               .fields = {{"next_step", "start it"}, {"since", "2026-11-21T09:30:00Z"}}});
  EXPECT_EQ(text,
            "\r\x1b[K   0.0 s  machine-off: machine m1 is off, since 2026-11-21T09:30:00Z; start it\n   0.0 s  waiting: nodes "
            "are Ready: machine m1 is off");
  text.clear();
  events.emit({.kind = "cause",
               .name = "machine-off",
               .phase = Phase::finished,
               .fields = {{"description", "no longer: machine m1 is off"}}});
  EXPECT_EQ(text, "\r\x1b[K   0.0 s  no longer: machine m1 is off\n   0.0 s  waiting: nodes are Ready");
}

TEST(Progress, StepsHaveTheTimeSinceTheFirstAndAreWaitedFor) {
  testing_support::FakeClock clock;
  sys::Events events(clock, "slipway");
  std::string text;
  events.add_sink(progress_sink(true, [&](std::string_view piece) { text += piece; }));
  events.emit(
      {.kind = "step", .name = "kubernetes-api", .phase = Phase::started, .fields = {{"description", "the API answers"}}});
  clock.wait(clock.steady() + Milliseconds(2500), {}, nullptr, 0);
  sys::Event stage{.kind = "stage", .name = "etcd-bootstrap", .phase = Phase::finished, .duration = Milliseconds(300)};
  stage.time = clock.now();
  stage.source = "bootstrap";
  events.relay(stage);
  EXPECT_EQ(text,
            "\r\x1b[K   0.0 s  the API answers: started\r\x1b[K   2.5 s  bootstrap: stage etcd-bootstrap: done in 300 ms\n"
            "   2.5 s  waiting: the API answers");
}

TEST(Progress, SaysHowLongSomethingIsWaitedForWhateverReadsIt) {
  sys::Event step{.kind = "step", .name = "api", .fields = {{"description", "the API answers"}, {"limit_ms", 1'200'000}}};
  step.time = parse_rfc3339("2026-11-21T23:50:00.125Z").value();
  EXPECT_TRUE(is_announced(step));
  EXPECT_FALSE(is_lasting(step));
  EXPECT_EQ(describe(step), "waiting up to 20 min 0 s (until 00:10 UTC): the API answers");
  testing_support::FakeClock clock;
  sys::Events events(clock, "slipway");
  std::string text;
  events.add_sink(progress_sink(false, [&](std::string_view piece) { text += piece; }));
  events.relay(step);
  EXPECT_EQ(text, "   0.0 s  waiting up to 20 min 0 s (until 00:10 UTC): the API answers\n");
  step.fields["limit_ms"] = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(describe(step), "the API answers: started");
  step.phase = Phase::finished;
  EXPECT_FALSE(is_announced(step));
}

}  // namespace
}  // namespace slipway::cli
