#include "provider/plan/journal.h"

#include "base/check.h"
#include "base/json.h"
#include "sys/files.h"

#include <fcntl.h>
#include <unistd.h>
#include <array>
#include <utility>

namespace slipway::provider::plan {

namespace {

using State = Journal::State;

// A resource that was removed has the same state as one that was never created.
constexpr std::array<std::pair<State, std::string_view>, 3> state_names = {
    {{State::begun, "begun"}, {State::created, "created"}, {State::unknown, "removed"}}};

std::string_view to_string(State state) {
  for (const auto& [known, name] : state_names) {
    if (known == state) return name;
  }
  return "";
}

Result<State> parse_state(std::string_view text) {
  for (const auto& [state, name] : state_names) {
    if (name == text) return state;
  }
  return error(Code::invalid, "state: must be begun, created or removed, got '{}'", text);
}

struct Entry {
  std::string key;
  State state = State::unknown;
};

Result<Entry> parse_entry(std::string_view line) {
  const Result<Json> document = parse_json(line, "entry");
  if (!document.ok() || !document->is_object()) return error(Code::invalid, "must be a JSON object");
  Entry entry;
  entry.key = TRY(require_string(document.value(), {"resource"}));
  entry.state = TRY(parse_state(TRY(require_string(document.value(), {"state"}))));
  return entry;
}

// The last state of each resource. lines: complete lines
Result<std::map<std::string, State>> parse_lines(std::string_view lines, const std::string& path) {
  std::map<std::string, State> states;
  for (int number = 1; !lines.empty(); ++number) {
    const std::size_t end = lines.find('\n');
    Result<Entry> entry = parse_entry(lines.substr(0, end));
    if (!entry.ok()) {
      return error(Code::invalid, "{}:{}: {} (remove the file; slipway then checks each resource on the platform)", path, number,
                   entry.error().message());
    }
    states[entry->key] = entry->state;
    lines.remove_prefix(end + 1);
  }
  return states;
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace

Result<Journal::States> Journal::read(const std::string& path) {
  sys::RealFiles files;
  const std::string text = TRY(files.read_if_exists(path)).value_or("");
  return parse_lines(std::string_view(text).substr(0, text.rfind('\n') + 1), path);
}

Result<Journal> Journal::open(sys::Clock& clock, const std::string& path) {
  sys::RealFiles files;
  TRY(files.make_directories(parent_of(path), 0700));
  sys::FileLock lock = TRY(sys::FileLock::acquire(path + ".lock", "the machines of the cluster"));
  const std::optional<std::string> text = TRY(files.read_if_exists(path));
  if (!text) TRY(files.write(path, "", 0600));  // syncs the folder, too
  const std::string_view all = text ? std::string_view(*text) : std::string_view();
  const std::string_view complete = all.substr(0, all.rfind('\n') + 1);  // npos + 1 is 0
  auto shared = std::make_unique<Shared>(TRY(parse_lines(complete, path)));
  shared->size = complete.size();
  shared->is_cut = complete.size() != all.size();
  shared->file = sys::Fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!shared->file.is_open()) return sys::system_error("opening " + path);
  return Journal(clock, path, std::move(lock), std::move(shared));
}

Journal::Journal(sys::Clock& clock, std::string path, sys::FileLock lock, std::unique_ptr<Shared> shared)
    : clock_(&clock), path_(std::move(path)), lock_(std::move(lock)), shared_(std::move(shared)) {}

State Journal::state_of(const std::string& key) const {
  return shared_->states.with_lock([&](const States& states) {
    const auto found = states.find(key);
    return found == states.end() ? State::unknown : found->second;
  });
}

Journal::States Journal::states() const {
  return shared_->states.with_lock([](const States& states) { return states; });
}

Result<> Journal::begin(const std::string& key) { return write(key, State::begun); }
Result<> Journal::created(const std::string& key) { return write(key, State::created); }
Result<> Journal::removed(const std::string& key) { return write(key, State::unknown); }

Result<> Journal::write(const std::string& key, State state) {
  if (state_of(key) == state) return Ok{};
  const Json entry = {{"time", to_rfc3339(clock_->now())}, {"resource", key}, {"state", to_string(state)}};
  const std::string line = emit_json(entry, JsonStyle::compact) + '\n';
  const std::string doing = "writing " + path_;
  TRY(append(line, doing));
  // Outside of the lock: one sync is enough for all lines that were appended before it.
  if (::fdatasync(shared_->file.get()) != 0) return sys::system_error(doing);
  shared_->states.with_lock([&](States& states) { states[key] = state; });
  return Ok{};
}

Result<> Journal::append(std::string_view line, std::string_view doing) {
  const std::lock_guard lock(shared_->appending);
  CHECK(shared_->file.is_open());
  // A line after a part of a line would be damaged.
  if (shared_->is_cut && ::ftruncate(shared_->file.get(), static_cast<off_t>(shared_->size)) != 0)
    return sys::system_error(doing);
  shared_->is_cut = true;
  TRY(sys::write_all(shared_->file, line, doing));
  shared_->is_cut = false;
  shared_->size += line.size();
  return Ok{};
}

Result<> Journal::forget() {
  sys::RealFiles files;
  TRY(files.remove(path_));
  // The lock file stays: a process that has just opened it would otherwise lock a file that others do not see.
  shared_->file.reset();
  shared_->states.with_lock([](States& states) { states.clear(); });
  return Ok{};
}

}  // namespace slipway::provider::plan
