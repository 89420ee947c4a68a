// The record of a staged deployment until it is accepted or forgotten: /var/lib/slipway/os-update.json. /var is shared by all
// deployments, so that the deployment before a failed one can read it. Units of the machine check whether the file exists.
#pragma once

#include "node/os_update/updater.h"
#include "node/program.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::node {

struct TrialRecord {
  std::string config;      // MachineState::text() of its config
  std::string image;       // "registry.example.com/os@sha256:..."; empty: that of the deployment before
  std::string deployment;  // Deployment::id()
  std::string reason{};    // what failed; empty until something has
  std::string boot_id{};   // of the start in which it was staged; only on machines whose boot loader does not count attempts

  bool operator==(const TrialRecord&) const = default;
};

// errors: invalid: the content; as Files
Result<std::optional<TrialRecord>> read_trial_record(sys::Files& files);
Result<> write_trial_record(sys::Files& files, const TrialRecord& record);
Result<> remove_trial_record(sys::Files& files);

// The state of a trial. Pure.
//
//   booted         id of the booted deployment
//   attempts_left  of the boot loader (status.h)
Trial judge(const std::optional<TrialRecord>& record, std::string_view booted, std::optional<int> attempts_left);

// The same for machines whose boot loader does not count attempts. A deployment that is installed and not booted after another
// start has failed: a person has selected the deployment before it.
//
//   is_installed  whether the machine has the deployment of the record
//   boot_id       of this start of the machine
Trial judge_without_counter(const std::optional<TrialRecord>& record, std::string_view booted, bool is_installed,
                            std::string_view boot_id);

// Why a trial ends without being accepted, for people who look for the reason: the units that failed or still start.
Result<std::string> describe_failure(const Environment& environment);

}  // namespace slipway::node
