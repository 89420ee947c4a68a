// TestContext: a sys::Context with a journal of log lines and events.
#pragma once

#include "base/guarded.h"
#include "support/fake_clock.h"
#include "sys/context.h"

#include <string>
#include <vector>

namespace slipway::testing_support {

template <class ClockType>
class TestContextWith {
 public:
  TestContextWith() {
    events_.add_sink([this](const sys::Event& event) { journal_.with_lock([&](auto& journal) { journal.push_back(event); }); });
  }

  sys::Context context() { return {clock, log_, events_, stop.get_token()}; }

  // The events in order, one line each: "stage etcd started".
  std::vector<std::string> event_lines() const {
    return journal_.with_lock([](const auto& journal) {
      std::vector<std::string> lines;
      for (const sys::Event& event : journal)
        lines.push_back(fmt::format("{} {} {}", event.kind, event.name, to_string(event.phase)));
      return lines;
    });
  }
  std::vector<sys::Event> events() const {
    return journal_.with_lock([](const auto& journal) { return journal; });
  }
  std::vector<std::string> logged() const {
    return lines_.with_lock([](const auto& lines) { return lines; });
  }

  ClockType clock;
  std::stop_source stop;

 private:
  Guarded<std::vector<std::string>> lines_;
  Guarded<std::vector<sys::Event>> journal_;
  Log log_{Level::debug, [this](Level level, std::string_view line) {
             lines_.with_lock([&](auto& lines) { lines.push_back(fmt::format("{}: {}", to_string(level), line)); });
           }};
  sys::Events events_{clock, "test"};
};

using TestContext = TestContextWith<FakeClock>;           // virtual clock
using RealTimeContext = TestContextWith<sys::RealClock>;  // for processes, sockets and other code that takes real time

}  // namespace slipway::testing_support
