#include "cli/progress.h"

#include "base/text.h"

namespace slipway::cli {

namespace {

std::optional<std::uint64_t> field(const sys::Event& event, std::string_view name) {
  const Json* value = event.fields.if_contains(name);
  if (!value || !value->is_number()) return std::nullopt;
  return value->to_number<std::uint64_t>();
}

// "312 MB of 480 MB (65 %)"
std::string share(std::uint64_t done, std::uint64_t total) {
  return fmt::format("{} of {} ({} %)", human_size(done), human_size(total), total == 0 ? 100 : done * 100 / total);
}

}  // namespace

std::optional<std::string> describe(const sys::Event& event) {
  std::string line = fmt::format("{} {}", event.kind, event.name);
  switch (event.phase) {
    case sys::Phase::started: return line + ": started";
    case sys::Phase::progress: {
      const auto bytes = field(event, "bytes"), total = field(event, "total");
      if (!bytes || !total) return std::nullopt;
      return fmt::format("{}: {}", line, share(*bytes, *total));
    }
    case sys::Phase::finished:
      return fmt::format("{}: done in {}", line, human_duration(event.duration.value_or(Milliseconds(0))));
    case sys::Phase::failed: return fmt::format("{}: {}", line, event.error ? event.error->message() : "failed");
    case sys::Phase::skipped: {
      const Json* reason = event.fields.if_contains("reason");
      return fmt::format("{}: {}", line, reason && reason->is_string() ? std::string_view(reason->get_string()) : "skipped");
    }
  }
  return std::nullopt;
}

bool is_lasting(const sys::Event& event) { return event.phase != sys::Phase::started && event.phase != sys::Phase::progress; }

sys::Events::Sink progress_sink(bool terminal, std::function<void(std::string_view)> write) {
  return [terminal, write = std::move(write)](const sys::Event& event) {
    const bool lasting = is_lasting(event);
    if (!terminal && !lasting) return;
    const std::optional<std::string> line = describe(event);
    if (!line) return;
    // Return to the first column and clear the line that is redrawn.
    write(terminal ? fmt::format("\r\x1b[K{}{}", *line, lasting ? "\n" : "") : *line + '\n');
  };
}

}  // namespace slipway::cli
