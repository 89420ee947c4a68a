#include "cli/progress.h"

#include "base/text.h"

namespace slipway::cli {

namespace {

std::optional<std::uint64_t> field(const sys::Event& event, std::string_view name) {
  const Json* value = event.fields.if_contains(name);
  // The event comes from another machine, so its fields are not trusted.
  if (!value || !value->is_int64() || value->get_int64() < 0) return std::nullopt;
  return static_cast<std::uint64_t>(value->get_int64());
}

// "312 MB of 480 MB (65 %)"
std::string share(std::uint64_t done, std::uint64_t total) {
  return fmt::format("{} of {} ({} %)", human_size(done), human_size(total), total == 0 ? 100 : done * 100 / total);
}

// The subject of an event: "4 machines are created", "bootstrap: stage etcd-bootstrap", "boot m0".
std::string subject(const sys::Event& event) {
  if (const Json* description = event.fields.if_contains("description"); description && description->is_string()) {
    return std::string(description->get_string());
  }
  const std::string source = event.source.empty() || event.source == "slipway" ? "" : event.source + ": ";
  return fmt::format("{}{} {}", source, event.kind, event.name);
}

// A finding with its first evidence, or a cause, and what to do.
std::string finding(const sys::Event& event) {
  const Json fields(event.fields);
  std::string text = fmt::format("{}: {}", event.name, event.error ? event.error->message() : "");
  if (const auto since = find_string(fields, {"since"})) text += fmt::format(", since {}", *since);
  if (const JsonArray& evidence = find_array(fields, {"evidence"}); !evidence.empty()) {
    text += fmt::format("; seen: {}", find_string(evidence.front(), {"text"}).value_or(""));
  }
  if (const auto next = find_string(fields, {"next_step"})) text += fmt::format("; {}", *next);
  return text;
}

// The time limit of an event. Events of other machines are not trusted.
std::optional<Milliseconds> limit_of(const sys::Event& event) {
  constexpr std::uint64_t longest = std::chrono::floor<Milliseconds>(std::chrono::years(1)).count();
  const auto limit = field(event, "limit_ms");
  if (event.phase != sys::Phase::started || !limit || *limit > longest) return std::nullopt;
  return Milliseconds(*limit);
}

// "09:30 UTC"
std::string time_of_day(WallTime time) { return to_rfc3339(time).substr(11, 5) + " UTC"; }

// A command that continues gets events of its predecessor, too.
std::string since(WallTime start, WallTime now) {
  if (now < start) return "  before    ";
  return fmt::format("{:6.1f} s  ", std::chrono::duration<double>(now - start).count());
}

}  // namespace

std::optional<std::string> describe(const sys::Event& event) {
  const std::string line = subject(event);
  switch (event.phase) {
    case sys::Phase::started: {
      const auto limit = limit_of(event);
      if (!limit) return line + ": started";
      return fmt::format("waiting up to {} (until {}): {}", human_duration(*limit), time_of_day(event.time + *limit), line);
    }
    case sys::Phase::progress: {
      const auto bytes = field(event, "bytes"), total = field(event, "total");
      if (!bytes || !total) return std::nullopt;
      return fmt::format("{}: {}", line, share(*bytes, *total));
    }
    case sys::Phase::finished:
      if (!event.duration) return line;
      return fmt::format("{}: done in {}", line, human_duration(*event.duration));
    case sys::Phase::failed:
      if (event.kind == "finding" || event.kind == "cause") return finding(event);
      return fmt::format("{}: {}", line, event.error ? event.error->message() : "failed");
    case sys::Phase::skipped: {
      const Json* reason = event.fields.if_contains("reason");
      return fmt::format("{}: {}", line, reason && reason->is_string() ? std::string_view(reason->get_string()) : "skipped");
    }
  }
  return std::nullopt;
}

bool is_announced(const sys::Event& event) { return limit_of(event).has_value(); }

bool is_lasting(const sys::Event& event) { return event.phase != sys::Phase::started && event.phase != sys::Phase::progress; }

sys::Events::Sink progress_sink(bool terminal, std::function<void(std::string_view)> write) {
  struct Shown {
    std::optional<WallTime> start;  // of the first step
    std::string waiting_for;        // the step in progress
    std::string cause;              // why it waits, if that is known
  };
  return [terminal, write = std::move(write), shown = Shown()](const sys::Event& event) mutable {
    if (event.kind == "step") {
      if (!shown.start) shown.start = event.time;
      shown.waiting_for = event.phase == sys::Phase::started ? subject(event) : "";
    }
    if (event.kind == "step" || (event.kind == "cause" && event.phase == sys::Phase::finished)) shown.cause.clear();
    if (event.kind == "cause" && event.error) shown.cause = ": " + event.error->message();
    const bool lasting = is_lasting(event);
    if (!terminal && !lasting && !is_announced(event)) return;
    const std::optional<std::string> line = describe(event);
    if (!line) return;
    const std::string elapsed = shown.start ? since(*shown.start, event.time) : "";
    if (!terminal) return write(fmt::format("{}{}\n", elapsed, *line));
    // Return to the first column and clear the line that is redrawn.
    write(fmt::format("\r\x1b[K{}{}{}", elapsed, *line, lasting ? "\n" : ""));
    if (lasting && !shown.waiting_for.empty()) write(fmt::format("{}waiting: {}{}", elapsed, shown.waiting_for, shown.cause));
  };
}

}  // namespace slipway::cli
