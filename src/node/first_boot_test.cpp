#include "node/first_boot.h"

#include "support/node_world.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

using testing_support::NodeWorld;

const std::string commit(64, 'c');
const std::string digest = "sha256:" + std::string(64, 'd');
constexpr const char* file = "/etc/ignition-machine-config-encapsulated.json";

std::string config(const std::string& image, const std::string& more = "") {
  return R"({"apiVersion":"machineconfiguration.openshift.io/v1","kind":"MachineConfig","metadata":{"name":"rendered-master-1"},"spec":{"osImageURL":")" +
         image + R"(","config":{"ignition":{"version":"3.2.0"}})" + more + "}}";
}

// A machine that runs the deployment of `digest`.
void boot(NodeWorld& world) {
  world.runner.answer({"ostree", "admin", "status"}, "* slipway " + commit + ".0\n    origin: <unknown origin type>\n");
  world.runner.answer({"ostree", "--repo=/ostree/repo", "show", "--print-metadata-key=slipway.image", commit},
                      "'" + digest + "'\n");
}

TEST(FirstBoot, TheWantedSystemNeedsNothingMore) {
  for (const std::string image : {"", "registry.example/a@"}) {
    NodeWorld world;
    boot(world);
    world.put(file, config(image.empty() ? "" : image + digest));
    const Result<> done = run_first_boot(world.environment(), {});
    ASSERT_TRUE(done.ok()) << done.error().message();
    EXPECT_FALSE(world.has(file));
    EXPECT_TRUE(run_first_boot(world.environment(), {"--persist-nics"}).ok());
  }
}

TEST(FirstBoot, AnotherSystemIsRefusedWithBothDigests) {
  NodeWorld world;
  boot(world);
  const std::string wanted = "sha256:" + std::string(64, 'e');
  world.put(file, config("registry.example/a@" + wanted));
  const Result<> done = run_first_boot(world.environment(), {});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::conflict);
  EXPECT_NE(done.error().message().find(digest), std::string::npos);
  EXPECT_NE(done.error().message().find(wanted), std::string::npos);
  EXPECT_TRUE(world.has(file));
}

TEST(FirstBoot, AnImageByTagIsRefused) {
  NodeWorld world;
  world.put(file, config("registry.example/a:latest"));
  EXPECT_EQ(run_first_boot(world.environment(), {}).error().message(),
            std::string(file) + ": osImageURL registry.example/a:latest has no digest");
}

TEST(FirstBoot, WhatTheKernelCannotTakeIsReported) {
  NodeWorld world;
  world.put("/proc/cmdline", "quiet nosmt\n");
  world.put(file, config("", R"(,"kernelArguments":["nosmt","debug"],"fips":true)"));
  const Result<> done = run_first_boot(world.environment(), {});
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(
      world.test.logged(),
      (std::vector<std::string>{"warning: kernel arguments of the config are not set on this machine: debug; continuing without",
                                "warning: the config has FIPS mode on, the kernel has off; continuing"}));
}

TEST(FirstBoot, TheBootedDeploymentIsTheOneWithTheStar) {
  EXPECT_EQ(booted_commit("  slipway " + std::string(64, 'a') + ".1 (pending)\n* slipway " + commit + ".0 (rollback)\n"), commit);
  EXPECT_EQ(booted_commit("  slipway " + commit + ".0\n"), std::nullopt);
  EXPECT_EQ(booted_commit("* slipway short.0\n"), std::nullopt);
}

}  // namespace
}  // namespace slipway::node
