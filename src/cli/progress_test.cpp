#include "cli/progress.h"

#include "support/fake_clock.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

using sys::Phase;

std::string shown(bool terminal) {
  testing_support::FakeClock clock;
  sys::Events events(clock, "test");
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

}  // namespace
}  // namespace slipway::cli
