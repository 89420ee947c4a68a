#include "node/os_update/host_deployments.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

const std::string first(64, 'a'), second(64, 'b');
const std::string digest = "sha256:" + std::string(64, '1');

// As a machine with RHEL CoreOS prints it, without the members that are not read.
TEST(HostDeployments, OfRpmOstreeAreReadInTheirOrder) {
  const auto found = parse_rpm_ostree_status(
      R"({"deployments":[{"osname":"rhcos","checksum":")" + second +
      R"(","serial":1,"booted":false,"staged":true,"pinned":false,"version":"9.6","unlocked":"none",)"
      R"("container-image-reference":"ostree-unverified-image:containers-storage:r.example/os@)" +
      digest + R"(","container-image-reference-digest":")" + digest +
      R"(","requested-packages":["usbguard"],"requested-base-removals":["kernel"],"requested-local-packages":[]},)"
      R"({"osname":"rhcos","checksum":")" +
      first + R"(","serial":0,"booted":true,"staged":false}],"transaction":null})");
  ASSERT_TRUE(found.ok()) << found.error().message();
  ASSERT_EQ(found->size(), 2u);
  const HostDeployment& staged = found->at(0);
  EXPECT_EQ(staged.deployment, (Deployment{"rhcos", second, "1", "9.6", false}));
  EXPECT_TRUE(staged.is_staged);
  EXPECT_EQ(staged.packages, std::vector<std::string>{"usbguard"});
  EXPECT_EQ(staged.base_removals, std::vector<std::string>{"kernel"});
  EXPECT_TRUE(is_of_image(staged, digest));
  EXPECT_FALSE(is_of_image(found->at(1), digest));
  ASSERT_NE(find_booted(found.value()), nullptr);
  EXPECT_EQ(find_booted(found.value())->deployment.commit, first);
}

std::string bootc_entry(const std::string& commit, const std::string& image) {
  return R"({"image":{"image":{"image":")" + image +
         R"(","transport":"registry"},"version":"9.6","timestamp":null,"imageDigest":")" + digest +
         R"(","architecture":"amd64"},"cachedUpdate":null,"incompatible":false,"pinned":false,"store":"ostreeContainer",)" +
         R"("ostree":{"stateroot":"default","checksum":")" + commit + R"(","deploySerial":2},"composefs":null})";
}

std::string bootc(const std::string& staged, const std::string& booted, const std::string& rollback, bool is_rollback_next) {
  return R"({"apiVersion":"org.containers.bootc/v1","kind":"BootcHost","metadata":{"name":"host"},"spec":{"bootOrder":"default"},)"
         R"("status":{"staged":)" +
         staged + R"(,"booted":)" + booted + R"(,"rollback":)" + rollback + R"(,"rollbackQueued":)" +
         (is_rollback_next ? "true" : "false") + R"(,"type":"bootcHost"}})";
}

TEST(HostDeployments, OfBootcAreOrderedByWhatBootsNext) {
  struct Case {
    const char* what;
    std::string text;
    std::vector<std::string> commits;
    bool is_first_staged;
  };
  const std::string one = bootc_entry(first, "r.example/os:1"), two = bootc_entry(second, "r.example/os:2");
  const std::vector<Case> cases = {
      {"only one", bootc("null", one, "null", false), {first}, false},
      {"staged", bootc(two, one, "null", false), {second, first}, true},
      {"before an update", bootc("null", one, two, false), {first, second}, false},
      {"written, boots next", bootc("null", one, two, true), {second, first}, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const auto found = parse_bootc_status(c.text);
    ASSERT_TRUE(found.ok()) << found.error().message();
    std::vector<std::string> commits;
    for (const HostDeployment& each : found.value()) commits.push_back(each.deployment.commit);
    EXPECT_EQ(commits, c.commits);
    EXPECT_EQ(found->front().is_staged, c.is_first_staged);
    EXPECT_EQ(find_booted(found.value())->deployment.id(), first + ".2");
    EXPECT_EQ(find_booted(found.value())->image, "r.example/os:1");
  }
}

TEST(HostDeployments, WhatIsNotOneIsRefused) {
  EXPECT_EQ(parse_rpm_ostree_status("{").error().code(), Code::invalid);
  EXPECT_EQ(parse_rpm_ostree_status(R"({"deployments":[{"osname":"x"}]})").error().message(),
            "the output of rpm-ostree status --json: checksum: missing, must be a string");
  EXPECT_EQ(parse_bootc_status("{}").error().message(), "the output of bootc status --json: status: missing");
  const std::string composefs = R"({"image":null,"composefs":{"verity":"0"},"ostree":null})";
  EXPECT_NE(
      parse_bootc_status(bootc("null", composefs, "null", false)).error().message().find("composefs, which is not supported"),
      std::string::npos);
}

TEST(HostDeployments, AnImageForSeveralArchitecturesIsFoundByItsReference) {
  const std::string list = "sha256:" + std::string(64, '9');
  const HostDeployment deployment{.deployment = {.os = "a", .commit = first, .serial = "0"},
                                  .image = "ostree-unverified-image:containers-storage:r.example/os@" + list,
                                  .image_digest = digest};
  EXPECT_TRUE(is_of_image(deployment, list));
  EXPECT_TRUE(is_of_image(deployment, digest));
  EXPECT_FALSE(is_of_image(deployment, "sha256:" + std::string(64, '8')));
}

}  // namespace
}  // namespace slipway::node
