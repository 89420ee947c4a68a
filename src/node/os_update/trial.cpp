#include "node/os_update/trial.h"

#include "base/json.h"
#include "base/text.h"

#include <fmt/format.h>

#include <vector>

namespace slipway::node {

namespace {

constexpr const char* record_file = "/var/lib/slipway/os-update.json";

std::string what_failed(const TrialRecord& record, std::string_view reason) {
  const std::string what =
      record.image.empty() ? "the kernel arguments or the extensions of " + record.config : "the OS image " + record.image;
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
  record.boot_id = text_of(value, {"boot_id"});
  return std::optional(std::move(record));
}

Result<> write_trial_record(sys::Files& files, const TrialRecord& record) {
  const Json value = {{"config", record.config},
                      {"image", record.image},
                      {"deployment", record.deployment},
                      {"reason", record.reason},
                      {"boot_id", record.boot_id}};
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

Trial judge_without_counter(const std::optional<TrialRecord>& record, std::string_view booted, bool is_installed,
                            std::string_view boot_id) {
  std::optional<TrialRecord> known = record;
  if (known && known->reason.empty() && is_installed && known->boot_id != boot_id)
    known->reason = "it does not run after a restart";
  return judge(known, booted, std::nullopt);
}

Result<std::string> describe_failure(const Environment& environment) {
  const std::string failed = TRY(sys::run_checked(
      environment.runner, environment.context,
      {.argv = {"systemctl", "list-units", "--state=failed,activating", "--plain", "--no-legend", "--no-pager"}}));
  std::vector<std::string> units;
  for (const std::string_view line : split(failed, '\n')) {
    const std::string_view unit = line.substr(0, line.find(' '));
    if (!unit.empty()) units.emplace_back(unit);
  }
  const std::string_view end = "its Node was not Ready in time";
  if (units.empty()) return std::string(end) + " (its units run; see the journal of kubelet.service)";
  return fmt::format("{}; units that failed or still start: {}", end, join(units, ", "));
}

}  // namespace slipway::node
