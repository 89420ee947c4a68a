// Events: the one stream of what happens. Progress on the terminal, JSON for programs, the timeline and the analysis of
// failures all read it. One JSON object a line; docs/formats/events.md is the schema.
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
  progress,  // carries fields that say how far
  finished,
  failed,   // carries an error
  skipped,  // was done before, or its condition does not hold
};

std::string_view to_string(Phase phase);

struct Event {
  WallTime time{};       // set by Events::emit
  std::string source{};  // the program, "slipway", "bootstrap", set by Events::emit
  std::string kind{};    // what it is about: "stage", "machine", "image", "command"
  std::string name{};    // which one
  Phase phase = Phase::started;
  std::optional<Milliseconds> duration{};  // of finished and failed
  std::optional<Error> error{};            // of failed
  JsonObject fields{};                     // more, by kind; never a secret

  // Of one line, without the newline; the members in the order of the schema, absent ones left out.
  std::string to_line() const;
};

// errors: invalid, naming what is missing or wrong. Unknown members are kept in fields, so that newer streams can be read.
Result<Event> parse_event(std::string_view line);

class Clock;

// Stamps events and hands them to its sinks in one order. Threads: any; sinks are called by one thread at a time and must
// not emit. Sinks are added before the first event.
class Events {
 public:
  using Sink = std::function<void(const Event&)>;

  Events(Clock& clock, std::string source) : clock_(clock), source_(std::move(source)) {}

  void add_sink(Sink sink) { sinks_.push_back(std::move(sink)); }
  void emit(Event event);

  // Hands on an event of another process: its time and source stay what they are.
  void relay(const Event& event);

 private:
  Clock& clock_;
  std::string source_;
  std::mutex mutex_;
  std::vector<Sink> sinks_;
};

class Files;

// A sink that appends lines to a file (events.jsonl), each with one write, so that a kill leaves whole lines and several
// processes may write the same file. Events never stop the work: a line that cannot be written is lost, and on_failure is
// told when that begins.
Events::Sink journal_sink(Files& files, std::string path, std::function<void(const Error&)> on_failure);

// Emits started now, and finished or failed with the duration when end() is called; the last has the fields of the first too.
class Span {
 public:
  Span(Events& events, Clock& clock, std::string kind, std::string name, JsonObject fields = {});

  // Tells the outcome and passes it on: return span.end(work());
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
