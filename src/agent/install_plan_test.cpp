#include "agent/install_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace slipway::agent {
namespace {

Json json(std::string_view text) { return parse_json(text, "test").value(); }

const std::vector<assist::Disk> disks = {
    {.id = "/dev/disk/by-id/wwn-1", .name = "sda", .path = "/dev/sda", .by_id = "/dev/disk/by-id/wwn-1"},
    {.id = "/dev/sdb", .name = "sdb", .path = "/dev/sdb", .reasons = {"Disk is removable"}}};

TEST(InstallRequest, IsRead) {
  EXPECT_EQ(
      parse_install_request(json(R"({"cluster_id": "99999999-2222-4333-8444-555555555555", "infra_env_id": "x", "host_id": "y",
                                           "role": "worker", "boot_device": "/dev/disk/by-id/wwn-1", "controller_image": "c",
                                           "installer_image": "i", "installer_args": "[]", "disks_to_format": [],
                                           "openshift_version": "4.20", "mco_image": "m"})"),
                            disks)
          .value(),
      (InstallRequest{"99999999-2222-4333-8444-555555555555", "worker", "/dev/sda"}));
}

TEST(InstallRequest, SaysAllThatIsWrong) {
  const Error why =
      parse_install_request(json(R"({"cluster_id": "x", "role": "king", "installer_args": "[\"--append-karg\", \"a=b\"]",
                                                   "disks_to_format": ["/dev/sdb"], "coreos_image": "quay.io/x"})"),
                            disks)
          .error();
  EXPECT_EQ(why.code(), Code::invalid);
  for (const char* part : {"cluster_id: 'x' is not a UUID", "role: must be master, worker or bootstrap, is 'king'",
                           "installer_args:", "disks_to_format:", "coreos_image:"}) {
    EXPECT_NE(why.message().find(part), std::string::npos) << part << "\n" << why.message();
  }
}

TEST(InstallRequest, NeedsADiskThatIsFree) {
  const auto with = [](const std::string& disk, const std::string& role) {
    return parse_install_request(
        Json{{"cluster_id", "99999999-2222-4333-8444-555555555555"}, {"role", role}, {"boot_device", disk}}, disks);
  };
  EXPECT_EQ(with("/dev/sdb", "master").error().code(), Code::conflict);
  EXPECT_EQ(with("/dev/sdc", "master").error().code(), Code::not_found);
}

TEST(InstallRequest, OfTheBootstrap) {
  const auto with = [](const Json& masters) {
    return parse_install_request(Json{{"cluster_id", "99999999-2222-4333-8444-555555555555"},
                                      {"role", "bootstrap"},
                                      {"boot_device", "/dev/sda"},
                                      {"control_plane_count", masters}},
                                 disks);
  };
  EXPECT_EQ(with(3)->masters_needed, 2);
  EXPECT_EQ(with(5)->masters_needed, 2);
  EXPECT_EQ(with(2)->masters_needed, 1);
  EXPECT_FALSE(with(3)->waits_for_hosts);
  EXPECT_FALSE(with(2)->is_single_node);
  EXPECT_TRUE(with(1)->is_single_node);
  EXPECT_NE(with(nullptr).error().message().find("needs the number of masters"), std::string::npos);
}

std::vector<std::string> names(const std::string& role, bool is_local_machine = false, bool waits_for_hosts = false) {
  std::vector<std::string> found;
  const InstallRequest request{.cluster_id = "", .role = role, .disk = "", .waits_for_hosts = waits_for_hosts};
  for (const InstallStage& stage : install_stages(request, is_local_machine)) {
    found.push_back(stage.name + (stage.reports.empty() ? "" : ": " + std::string(stage.reports)));
  }
  return found;
}

TEST(InstallStages, OfAMaster) {
  EXPECT_EQ(names("master"), (std::vector<std::string>{"start: Starting installation", "fetch-config: Installing",
                                                       "unpack-image: Writing image to disk", "add-config", "write-disk",
                                                       "send-logs", "reboot: Rebooting"}));
}

TEST(InstallStages, AWorkerWaitsBeforeItReboots) {
  EXPECT_EQ(names("worker"),
            (std::vector<std::string>{"start: Starting installation", "fetch-config: Installing",
                                      "unpack-image: Writing image to disk", "add-config", "write-disk",
                                      "wait-for-masters: Waiting for control plane", "send-logs", "reboot: Rebooting"}));
}

TEST(InstallStages, OfTheBootstrap) {
  EXPECT_EQ(names("bootstrap"),
            (std::vector<std::string>{
                "start: Starting installation", "fetch-bootstrap-config", "plan-live-config", "apply-live-config",
                "start-bootstrap", "fetch-config: Installing", "unpack-image: Writing image to disk", "add-config", "write-disk",
                "wait-for-ready-masters: Waiting for control plane", "wait-for-bootkube: Waiting for bootkube",
                "wait-for-controller: Waiting for controller", "send-logs", "reboot: Rebooting"}));
}

TEST(InstallStages, OfASingleNode) {
  const InstallRequest request{
      .cluster_id = "", .role = "bootstrap", .disk = "", .waits_for_hosts = true, .is_single_node = true};
  std::vector<std::string> found;
  std::map<std::string, std::vector<std::string>> needs;
  for (const InstallStage& stage : install_stages(request, false)) {
    found.push_back(stage.name + (stage.reports.empty() ? "" : ": " + std::string(stage.reports)));
    needs[stage.name] = stage.needs;
  }
  // The order is that of the stages of a single node in the service (assist/host_progress.cpp).
  EXPECT_EQ(found,
            (std::vector<std::string>{
                "start: Starting installation", "fetch-bootstrap-config", "plan-live-config", "apply-live-config",
                "start-bootstrap", "fetch-config: Installing", "wait-for-bootkube: Waiting for bootkube", "complete-config",
                "unpack-image: Writing image to disk", "add-config", "write-disk", "send-logs", "reboot: Rebooting"}));
  EXPECT_EQ(needs["wait-for-bootkube"], (std::vector<std::string>{"fetch-config", "start-bootstrap"}));
  EXPECT_EQ(needs["unpack-image"], (std::vector<std::string>{"complete-config"}));
}

TEST(InstallStages, TheDiskIsWrittenWhileTheBootstrapRuns) {
  std::map<std::string, std::vector<std::string>> needs;
  const InstallRequest request{.cluster_id = "", .role = "bootstrap", .disk = ""};
  for (const InstallStage& stage : install_stages(request, false)) needs[stage.name] = stage.needs;
  EXPECT_EQ(needs["fetch-config"], (std::vector<std::string>{"start"}));
  EXPECT_EQ(needs["start-bootstrap"], (std::vector<std::string>{"apply-live-config"}));
  // It restarts only when both are done.
  EXPECT_EQ(needs["wait-for-ready-masters"], (std::vector<std::string>{"write-disk", "start-bootstrap"}));
  EXPECT_EQ(needs["reboot"], (std::vector<std::string>{"send-logs"}));
}

TEST(InstallStages, AHostWithTheServiceWaitsForTheOthers) {
  const auto stages = names("bootstrap", true, true);
  const auto waits = std::ranges::find(stages, "wait-for-hosts: Waiting for controller");
  ASSERT_NE(waits, stages.end());
  EXPECT_EQ(*(waits - 1), "wait-for-controller: Waiting for controller");
  EXPECT_EQ(*(waits + 1), "send-logs");
}

TEST(Hosts, ThatNeedTheService) {
  const Json hosts = json(R"([
      {"id": "own", "status": "installing-in-progress", "progress": {"current_stage": "Waiting for controller"}},
      {"id": "1", "status": "installing-in-progress", "progress": {"current_stage": "Rebooting"}},
      {"id": "2", "status": "installed", "progress": {"current_stage": "Done"}},
      {"id": "3", "status": "error", "progress": {"current_stage": "Installing"}},
      {"id": "4", "requested_hostname": "w0", "status": "installing-in-progress",
       "progress": {"current_stage": "Waiting for control plane"}},
      {"id": "5", "status": "installing"}])");
  EXPECT_EQ(hosts_that_need_the_service(hosts, "own"), "w0 is in stage Waiting for control plane, 5 is in stage none");
  EXPECT_EQ(hosts_that_need_the_service(json("[]"), "own"), "");
}

TEST(InstallStages, OfALocalMachine) {
  EXPECT_EQ(names("master", true),
            (std::vector<std::string>{"start: Starting installation", "fetch-config: Installing",
                                      "write-local-disk: Writing image to disk", "send-logs", "reboot: Rebooting"}));
}

TEST(LocalDisk, OfTheKernelCommandLine) {
  EXPECT_EQ(local_disk_of("slipway.live slipway.local.disk=/run/slipway-disk slipway.local.commit=5f0c ostree=/x\n"),
            (LocalDisk{"/run/slipway-disk", "5f0c"}));
  for (const char* line : {"", "root=/dev/sda", "slipway.local.disk=/run/slipway-disk", "slipway.local.commit=5f0c"}) {
    EXPECT_EQ(local_disk_of(line), std::nullopt) << line;
  }
}

TEST(BootOffset, OfThePartitionTable) {
  EXPECT_EQ(boot_offset(R"({"partitiontable": {"label": "gpt", "partitions": [
      {"node": "x1", "start": 2048, "size": 2048, "name": "bios"}, {"node": "x3", "start": 135168, "size": 1048576, "name": "boot"}]}})")
                .value(),
            66u << 20);
  for (const char* table : {"", "{}", R"({"partitiontable": {"partitions": [{"start": 1, "name": "root"}]}})",
                            R"({"partitiontable": {"partitions": [{"start": "1", "name": "boot"}]}})"}) {
    EXPECT_EQ(boot_offset(table).error().code(), Code::invalid) << table;
  }
}

TEST(Masters, ThatAreDone) {
  EXPECT_EQ(count_masters_that_are_done(json(R"([
      {"role": "master", "progress": {"current_stage": "Done"}}, {"role": "arbiter", "progress": {"current_stage": "Done"}},
      {"role": "master", "progress": {"current_stage": "Joined"}}, {"role": "worker", "progress": {"current_stage": "Done"}},
      {"role": "master"}])")),
            2);
  EXPECT_EQ(count_masters_that_are_done(json("{}")), 0);
}

TEST(Masters, OfAClusterThatIsInstalledAreNotWaitedFor) {
  EXPECT_TRUE(are_added_later(json(R"([{"kind": "AddToExistingClusterHost", "role": "worker"}])")));
  EXPECT_FALSE(are_added_later(json(R"([{"kind": "Host", "role": "worker"}, {}])")));
  EXPECT_FALSE(are_added_later(json("{}")));
}

TEST(Percent, EveryFivePoints) {
  int reported = 0;
  std::vector<std::string> said;
  for (std::uint64_t done = 0; done <= 990; done += 10) {
    if (const auto percent = next_percent(done, 1000, reported)) said.push_back(*percent);
  }
  if (const auto percent = next_percent(1000, 1000, reported)) said.push_back(*percent);
  EXPECT_EQ(next_percent(1000, 1000, reported), std::nullopt);
  EXPECT_EQ(said.front(), "5%");
  EXPECT_EQ(said.back(), "100%");
  EXPECT_LE(said.size(), 20u);
}

}  // namespace
}  // namespace slipway::agent
