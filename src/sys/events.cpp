#include "sys/events.h"

#include "sys/clock.h"
#include "sys/files.h"

#include <array>

namespace slipway::sys {

namespace {

constexpr std::array<std::pair<Phase, std::string_view>, 5> phase_names = {{{Phase::started, "started"},
                                                                            {Phase::progress, "progress"},
                                                                            {Phase::finished, "finished"},
                                                                            {Phase::failed, "failed"},
                                                                            {Phase::skipped, "skipped"}}};

constexpr std::array<Code, 8> all_codes = {Code::invalid,     Code::not_found, Code::conflict,  Code::denied,
                                           Code::unavailable, Code::timeout,   Code::cancelled, Code::internal};

Result<Phase> parse_phase(std::string_view text) {
  for (auto [phase, name] : phase_names) {
    if (name == text) return phase;
  }
  return error(Code::invalid, "phase: must be started, progress, finished, failed or skipped, got '{}'", text);
}

// A code of a later version is read as internal; the message still has the reason.
Code parse_code(std::string_view text) {
  for (Code code : all_codes) {
    if (to_string(code) == text) return code;
  }
  return Code::internal;
}

}  // namespace

std::string_view to_string(Phase phase) {
  for (auto [known, name] : phase_names) {
    if (known == phase) return name;
  }
  return "";
}

std::string Event::to_line() const {
  JsonObject line = {{"time", to_rfc3339(time)}, {"source", source}, {"kind", kind}, {"name", name}, {"phase", to_string(phase)}};
  if (duration) line["duration_ms"] = duration->count();
  if (error) line["error"] = {{"code", to_string(error->code())}, {"message", error->message()}};
  for (const auto& [key, value] : fields) line.emplace(key, value);
  return emit_json(line, JsonStyle::compact);
}

Result<Event> parse_event(std::string_view line) {
  Json document = TRY(parse_json(line, "event"));
  JsonObject* object = document.if_object();
  if (!object) return error(Code::invalid, "event: must be an object, got {}", kind_name(document));
  Event event;
  event.time = TRY(parse_rfc3339(TRY(require_string(document, {"time"}))));
  event.source = TRY(require_string(document, {"source"}));
  event.kind = TRY(require_string(document, {"kind"}));
  event.name = TRY(require_string(document, {"name"}));
  event.phase = TRY(parse_phase(TRY(require_string(document, {"phase"}))));
  if (const Json* ms = find(document, {"duration_ms"}); ms && ms->is_int64()) event.duration = Milliseconds(ms->get_int64());
  if (auto message = find_string(document, {"error", "message"})) {
    event.error = Error(parse_code(find_string(document, {"error", "code"}).value_or("")), std::string(*message));
  }
  for (const char* known : {"time", "source", "kind", "name", "phase", "duration_ms", "error"}) object->stable_erase(known);
  event.fields = std::move(*object);
  return event;
}

void Events::emit(Event event) {
  std::lock_guard lock(mutex_);
  event.time = clock_.now();
  event.source = source_;
  for (const Sink& sink : sinks_) sink(event);
}

void Events::relay(const Event& event) {
  std::lock_guard lock(mutex_);
  for (const Sink& sink : sinks_) sink(event);
}

Events::Sink journal_sink(Files& files, std::string path, std::function<void(const Error&)> on_failure) {
  bool reported = false;
  return [&files, path = std::move(path), on_failure = std::move(on_failure), reported](const Event& event) mutable {
    Result<> written = files.append(path, event.to_line() + '\n', 0600);
    if (!written.ok() && !reported) on_failure(written.error());
    reported = !written.ok();
  };
}

Span::Span(Events& events, Clock& clock, std::string kind, std::string name, JsonObject fields)
    : events_(events), clock_(clock), start_(clock.steady()) {
  event_.kind = std::move(kind);
  event_.name = std::move(name);
  event_.fields = std::move(fields);
  events_.emit(event_);
}

void Span::finish(const Error* error, JsonObject fields) {
  event_.phase = error ? Phase::failed : Phase::finished;
  event_.duration = clock_.steady() - start_;
  if (error) event_.error = *error;
  for (auto& [name, value] : fields) event_.fields[name] = std::move(value);
  events_.emit(event_);
}

}  // namespace slipway::sys
