#include "bootstrap/service_record.h"

namespace slipway::bootstrap {

ServiceRecord::ServiceRecord(sys::Files& files, sys::Clock& clock, std::string path, std::function<void(const Error&)> on_failure)
    : files_(files), clock_(clock), path_(std::move(path)), on_failure_(std::move(on_failure)) {}

void ServiceRecord::start() { add(clock_.now(), "", "service start", "", ""); }

void ServiceRecord::end(const Result<>& result) {
  add(clock_.now(), "", "service end", result.ok() ? "success" : "failure", result.ok() ? "" : result.error().message());
}

sys::Events::Sink ServiceRecord::sink() {
  return [this](const sys::Event& event) {
    const std::string message = event.error ? event.error->message() : "";
    if (event.kind == "check" && event.phase == sys::Phase::failed) failed_checks_[event.name] = message;
    if (event.kind != "stage") return;
    switch (event.phase) {
      case sys::Phase::started: return add(event.time, event.name, "stage start", "", "");
      case sys::Phase::failed: return add(event.time, event.name, "stage end", "failure", message);
      case sys::Phase::finished: {
        const auto check = failed_checks_.find(event.name);
        if (check == failed_checks_.end()) return add(event.time, event.name, "stage end", "success", "");
        return add(event.time, event.name, "stage end", "failure", check->second);
      }
      case sys::Phase::progress:
      case sys::Phase::skipped: return;
    }
  };
}

void ServiceRecord::add(WallTime time, std::string_view stage, std::string_view phase, std::string_view result,
                        std::string_view message) {
  JsonObject entry{{"timestamp", to_rfc3339(std::chrono::floor<Seconds>(time))}};
  const auto member = [&](const char* name, std::string_view value) {
    if (!value.empty()) entry.emplace(name, value);
  };
  member("stage", stage);
  member("phase", phase);
  member("result", result);
  member("errorMessage", message);
  if (Result<> written = append(std::move(entry)); !written.ok() && !std::exchange(has_failed_, true))
    on_failure_(written.error());
}

Result<> ServiceRecord::append(JsonObject entry) {
  const std::optional<std::string> before = TRY(files_.read_if_exists(path_));
  JsonArray entries;
  if (before) {
    // An unreadable record is overwritten: the new entry is more useful.
    Result<Json> parsed = parse_json(*before, path_);
    if (parsed.ok() && parsed->is_array()) entries = std::move(parsed->as_array());
  }
  entries.push_back(std::move(entry));
  return files_.write(path_, emit_json(entries, JsonStyle::compact) + "\n", 0644);
}

}  // namespace slipway::bootstrap
