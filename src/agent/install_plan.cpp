#include "agent/install_plan.h"

#include "agent/disk_checks.h"
#include "agent/units.h"
#include "assist/status.h"
#include "assist/steps.h"
#include "base/findings.h"
#include "base/text.h"

#include <algorithm>
#include <array>

namespace slipway::agent {

namespace {

constexpr std::uint64_t sector = 512;
constexpr int most_masters_needed = 2;  // two members of etcd besides the bootstrap's are a quorum

struct Refusal {
  std::string_view member;
  std::string_view reason;
};

constexpr std::array refusals = {
    Refusal{"installer_args", "these are arguments of coreos-installer, which this agent does not use"},
    Refusal{"disks_to_format", "this agent writes to the installation disk only"},
    Refusal{"coreos_image", "this agent installs the machine OS of its live medium"},
};

bool has_content(const Json& value) {
  if (const auto* text = value.if_string()) return !text->empty() && *text != "[]";
  if (const auto* list = value.if_array()) return !list->empty();
  return !value.is_null();
}

}  // namespace

Result<InstallRequest> parse_install_request(const Json& arguments, const std::vector<assist::Disk>& disks) {
  Findings findings;
  InstallRequest request{.cluster_id = text_of(arguments, {"cluster_id"}), .role = text_of(arguments, {"role"}), .disk = ""};
  if (!is_uuid(request.cluster_id)) findings.error({}, "cluster_id", "'{}' is not a UUID", to_utf8(request.cluster_id));
  if (request.role == "bootstrap") {
    const int masters = integer_of(arguments, {"control_plane_count"});
    if (masters < 1) findings.error({}, "control_plane_count", "role bootstrap needs the number of masters");
    request.is_single_node = masters == 1;
    request.masters_needed = std::min(masters - 1, most_masters_needed);
    request.waits_for_hosts = is_true(arguments, {assist::waits_for_hosts});
  } else if (request.role != "master" && request.role != "worker") {
    findings.error({}, "role", "must be master, worker or bootstrap, is '{}'", to_utf8(request.role));
  }
  for (const Refusal& refusal : refusals) {
    const Json* value = find(arguments, {refusal.member});
    if (value && has_content(*value)) findings.error({}, std::string(refusal.member), "{}", refusal.reason);
  }
  TRY(findings.to_result());
  const assist::Disk disk = TRY(find_installation_disk(disks, text_of(arguments, {"boot_device"})).context("boot_device"));
  request.disk = disk.path;
  return request;
}

std::optional<LocalDisk> local_disk_of(std::string_view command_line) {
  LocalDisk disk;
  for (const std::string_view word : split(trim(command_line), ' ')) {
    constexpr std::string_view folder = "slipway.local.disk=", commit = "slipway.local.commit=";
    if (word.starts_with(folder)) disk.folder = word.substr(folder.size());
    if (word.starts_with(commit)) disk.commit = word.substr(commit.size());
  }
  if (disk.folder.empty() || disk.commit.empty()) return std::nullopt;
  return disk;
}

std::vector<InstallStage> install_stages(const InstallRequest& request, bool is_local_machine) {
  std::vector<InstallStage> stages;
  const auto add = [&](std::string name, std::string_view reports, Work work) {
    std::vector<std::string> needs;
    if (!stages.empty()) needs.push_back(stages.back().name);
    stages.push_back({std::move(name), reports, work, std::move(needs)});
  };
  add("start", "Starting installation", Work::none);
  const bool is_bootstrap = request.role == "bootstrap";
  if (is_bootstrap) {
    add("fetch-bootstrap-config", "", Work::fetch_bootstrap_config);
    add("plan-live-config", "", Work::plan_live_config);
    add("apply-live-config", "", Work::apply_live_config);
    add("start-bootstrap", "", Work::start_bootstrap);
  }
  add("fetch-config", "Installing", Work::fetch_config);
  if (is_bootstrap) stages.back().needs = {"start"};  // the disk is written while the bootstrap starts
  if (request.is_single_node) {
    add("wait-for-bootkube", "Waiting for bootkube", Work::wait_for_bootkube);
    stages.back().needs.emplace_back("start-bootstrap");
    add("complete-config", "", Work::complete_config);
  }
  if (is_local_machine) {
    add("write-local-disk", "Writing image to disk", Work::write_local_disk);
  } else {
    add("unpack-image", "Writing image to disk", Work::unpack_image);
    add("add-config", "", Work::add_config);
    add("write-disk", "", Work::write_disk);
  }
  if (request.role == "worker") add("wait-for-masters", "Waiting for control plane", Work::wait_for_masters);
  if (is_bootstrap && !request.is_single_node) {
    add("wait-for-ready-masters", "Waiting for control plane", Work::wait_for_ready_masters);
    stages.back().needs.emplace_back("start-bootstrap");
    add("wait-for-bootkube", "Waiting for bootkube", Work::wait_for_bootkube);
    add("wait-for-controller", "Waiting for controller", Work::wait_for_controller);
    if (request.waits_for_hosts) add("wait-for-hosts", "Waiting for controller", Work::wait_for_hosts);
  }
  add("send-logs", "", Work::send_logs);
  add("reboot", "Rebooting", Work::reboot);
  return stages;
}

Result<std::uint64_t> boot_offset(std::string_view partition_table) {
  const Json table = TRY(parse_json(partition_table, "partition table"));
  for (const Json& partition : find_array(table, {"partitiontable", "partitions"})) {
    const Json* start = find(partition, {"start"});
    const std::int64_t* first = start ? start->if_int64() : nullptr;
    if (text_of(partition, {"name"}) == "boot" && first && *first > 0) return static_cast<std::uint64_t>(*first) * sector;
  }
  return error(Code::invalid, "the disk image of the live medium has no partition with the name boot");
}

int count_masters_that_are_done(const Json& hosts) {
  if (!hosts.is_array()) return 0;
  const JsonArray& all = hosts.get_array();
  return static_cast<int>(std::count_if(all.begin(), all.end(), [](const Json& host) {
    const std::string role = text_of(host, {"role"});
    return (role == "master" || role == "arbiter" || role == "bootstrap") &&
           text_of(host, {"progress", "current_stage"}) == "Done";
  }));
}

std::string hosts_that_need_the_service(const Json& hosts, std::string_view own) {
  std::vector<std::string> found;
  if (!hosts.is_array()) return "";
  for (const Json& host : hosts.get_array()) {
    const std::string id = text_of(host, {"id"}), name = text_of(host, {"requested_hostname"}),
                      stage = text_of(host, {"progress", "current_stage"});
    const auto status = assist::find_host_status(text_of(host, {"status"}));
    const auto reached = assist::find_stage(stage);
    if (id == own || status == assist::HostStatus::error || (reached && *reached >= assist::Stage::rebooting)) continue;
    found.push_back(fmt::format("{} is in stage {}", to_utf8(name.empty() ? id : name), stage.empty() ? "none" : to_utf8(stage)));
  }
  return join(found, ", ");
}

bool are_added_later(const Json& hosts) {
  return hosts.is_array() && std::ranges::any_of(hosts.get_array(), [](const Json& host) {
           return text_of(host, {"kind"}) == "AddToExistingClusterHost";
         });
}

std::optional<std::string> next_percent(std::uint64_t done, std::uint64_t total, int& reported) {
  constexpr int step = 5;
  const int percent = total == 0 ? 100 : static_cast<int>(std::min<std::uint64_t>(done * 100 / total, 100));
  if (percent < reported + step && (percent < 100 || reported == 100)) return std::nullopt;
  reported = percent;
  return fmt::format("{}%", percent);
}

}  // namespace slipway::agent
