#include "node/os_update/trial.h"

#include "base/json.h"

#include <fmt/format.h>

namespace slipway::node {

namespace {

constexpr const char* record_file = "/var/lib/slipway/os-update.json";

std::string what_failed(const TrialRecord& record, std::string_view reason) {
  const std::string what = record.image.empty() ? "the kernel arguments of " + record.config : "the OS image " + record.image;
  return fmt::format("{} did not work, and the machine has booted the deployment before it: {}", what, reason);
}

}  // namespace

Result<std::optional<TrialRecord>> read_trial_record(sys::Files& files) {
  const std::optional<std::string> text = TRY(files.read_if_exists(record_file));
  if (!text) return std::optional<TrialRecord>();
  const Json value = TRY(parse_json(*text, record_file));
  TrialRecord record;
  record.config = TRY(require_string(value, {"config"}).context(record_file));
  record.image = TRY(require_string(value, {"image"}).context(record_file));
  record.deployment = TRY(require_string(value, {"deployment"}).context(record_file));
  record.reason = TRY(require_string(value, {"reason"}).context(record_file));
  return std::optional(std::move(record));
}

Result<> write_trial_record(sys::Files& files, const TrialRecord& record) {
  const Json value = {
      {"config", record.config}, {"image", record.image}, {"deployment", record.deployment}, {"reason", record.reason}};
  return files.write(record_file, emit_json(value, JsonStyle::compact), 0600);
}

Result<> remove_trial_record(sys::Files& files) { return files.remove(record_file); }

Trial judge(const std::optional<TrialRecord>& record, std::string_view booted, std::optional<int> attempts_left) {
  if (!record) return {};
  Trial trial{.config = record->config};
  if (booted == record->deployment) {
    trial.state = Trial::State::on_trial;
  } else if (!record->reason.empty()) {
    trial.state = Trial::State::failed;
    trial.reason = what_failed(*record, record->reason);
  } else if (attempts_left == 0) {
    trial.state = Trial::State::failed;
    trial.reason = what_failed(*record, "it did not start completely in three attempts");
  }
  return trial;
}

}  // namespace slipway::node
