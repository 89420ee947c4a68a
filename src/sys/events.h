// Events: the single stream of what happens. The progress display, the JSON output, the timeline and the failure analysis
// read this stream. One JSON object a line; docs/formats/events.md is the schema.
//
//   {"time":"2026-11-21T09:30:00.125Z","source":"bootstrap","kind":"stage","name":"etcd-bootstrap","phase":"finished",
//    "duration_ms":812}
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::sys {

enum class Phase {
  started,
  progress,  // has fields that describe the progress
  finished,
  failed,   // has an error
  skipped,  // was done by an earlier run, or does not apply
};

std::string_view to_string(Phase phase);

struct Event {
  WallTime time{};       // set by Events::emit
  std::string source{};  // the program: "slipway", "bootstrap"; set by Events::emit
  std::string kind{};    // the kind of object: "stage", "machine", "image", "command"
  std::string name{};    // the object's name
  Phase phase = Phase::started;
  std::optional<Milliseconds> duration{};  // if finished or failed
  std::optional<Error> error{};            // if failed
  JsonObject fields{};                     // further members, by kind; never a secret

  // One line without the newline. Members have the order of the schema; absent ones are omitted.
  std::string to_line() const;
};

// errors: invalid, names the missing or wrong member. Unknown members go to `fields`, so that newer streams can be read.
Result<Event> parse_event(std::string_view line);

class Clock;

// Sets time and source of events and passes them to the sinks, in one order for all sinks. Threads: any; sinks are called by
// one thread at a time and must not emit events. Add all sinks before the first event.
class Events {
 public:
  using Sink = std::function<void(const Event&)>;

  Events(Clock& clock, std::string source) : clock_(clock), source_(std::move(source)) {}

  void add_sink(Sink sink) { sinks_.push_back(std::move(sink)); }
  void emit(Event event);

  // Passes on an event of another process. Time and source do not change.
  void relay(const Event& event);

 private:
  Clock& clock_;
  std::string source_;
  std::mutex mutex_;
  std::vector<Sink> sinks_;
};

class Files;

// A sink that appends lines to a file (events.jsonl). Each line is one write, so that a kill leaves whole lines and several
// processes can write to the same file. A line that cannot be written is lost; the work continues. on_failure is called for
// the first failure of each series of failures.
Events::Sink journal_sink(Files& files, std::string path, std::function<void(const Error&)> on_failure);

// Emits `started` now, and `finished` or `failed` with the duration in end(). The last event repeats the fields of the first.
class Span {
 public:
  Span(Events& events, Clock& clock, std::string kind, std::string name, JsonObject fields = {});

  // Emits the outcome and returns it: return span.end(work());
  template <class T>
  Result<T> end(Result<T> result, JsonObject fields = {}) {
    finish(result.ok() ? nullptr : &result.error(), std::move(fields));
    return result;
  }

 private:
  void finish(const Error* error, JsonObject fields);

  Events& events_;
  Clock& clock_;
  Event event_;
  SteadyTime start_;
};

}  // namespace slipway::sys
