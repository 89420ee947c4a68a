#include "agent/install_plan.h"

#include "agent/disk_checks.h"
#include "agent/units.h"
#include "base/findings.h"
#include "base/text.h"

#include <algorithm>
#include <array>

namespace slipway::agent {

namespace {

constexpr std::uint64_t sector = 512;

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
    findings.error({}, "role", "'bootstrap' is not supported by this agent");
  } else if (request.role != "master" && request.role != "worker") {
    findings.error({}, "role", "must be master or worker, is '{}'", to_utf8(request.role));
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

std::vector<InstallStage> install_stages(std::string_view role) {
  std::vector<InstallStage> stages = {
      {"start", "Starting installation", Work::none},
      {"fetch-config", "Installing", Work::fetch_config},
      {"unpack-image", "Writing image to disk", Work::unpack_image},
      {"add-config", "", Work::add_config},
      {"write-disk", "", Work::write_disk},
  };
  if (role == "worker") stages.push_back({"wait-for-masters", "Waiting for control plane", Work::wait_for_masters});
  stages.push_back({"send-logs", "", Work::send_logs});
  stages.push_back({"reboot", "Rebooting", Work::reboot});
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

std::optional<std::string> next_percent(std::uint64_t done, std::uint64_t total, int& reported) {
  constexpr int step = 5;
  const int percent = total == 0 ? 100 : static_cast<int>(std::min<std::uint64_t>(done * 100 / total, 100));
  if (percent < reported + step && (percent < 100 || reported == 100)) return std::nullopt;
  reported = percent;
  return fmt::format("{}%", percent);
}

}  // namespace slipway::agent
