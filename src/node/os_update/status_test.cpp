#include "node/os_update/status.h"

#include "support/node_world.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

using testing_support::NodeWorld;

const std::string newest(64, 'a');
const std::string before(64, 'b');

// The output of OSTree 2025.2.
std::string status(bool newest_booted, bool two = true) {
  std::string text = (newest_booted ? "* slipway " : "  slipway ") + newest + ".0" + (newest_booted ? "" : " (pending)") +
                     "\n    Version: 0.2.0\n    origin refspec: next\n";
  if (two) {
    text += (newest_booted ? "  slipway " : "* slipway ") + before + ".1" + (newest_booted ? " (rollback)" : "") +
            "\n    Version: 0.1.0\n    origin refspec: slipway/machine-os\n";
  }
  return text;
}

std::string grub_environment(const std::string& lines) { return "# GRUB Environment Block\n" + lines + std::string(900, '#'); }

TEST(OsStatus, ExtensionsAreListedWithTheVersion) {
  NodeWorld world;
  std::string printed;
  Environment environment = world.environment();
  environment.print = [&printed](std::string_view text) { printed += text; };
  world.runner.answer({"ostree", "admin", "status"}, status(true));
  const std::string key = "--print-metadata-key=slipway.extensions";
  world.runner.answer({"ostree", "--repo=/ostree/repo", "show", key, newest}, "'kernel-rt usbguard'\n");
  world.runner.answer({"ostree", "--repo=/ostree/repo", "show", key + "-image", newest}, "'sha256:1'\n");
  ASSERT_TRUE(show_os_status(environment).ok());
  EXPECT_EQ(printed,
            "COMMIT        VERSION                         STATE\n"
            "aaaaaaaaaaaa  0.2.0 with kernel-rt, usbguard  booted\n"
            "bbbbbbbbbbbb  0.1.0\n");
}

struct Case {
  std::string name;
  bool newest_booted;
  std::optional<int> attempts_left;
  std::string newest_line;
  std::string conclusion;
};

TEST(OsStatus, SaysWhatIsBootedAndWhatBootsNext) {
  const std::string fallback =
      "The boot loader uses the deployment before the newest one until the next deployment. Why the newest one failed: "
      "journalctl "
      "--list-boots, then journalctl --boot=ID; or the log of the machine's console.\n";
  const std::vector<Case> cases = {
      {"nothing counted", true, {}, "booted", ""},
      {"deployed, not counted", false, {}, "boots next", ""},
      {"deployed", false, 3, "boots next, 3 of 3 attempts left", ""},
      {"first attempt runs", true, 2, "booted",
       "The newest deployment is booted, but it has not started completely. The boot loader has 2 of 3 attempts left.\n"},
      {"fell back", false, 0, "did not boot three times", fallback},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    NodeWorld world;
    std::string printed;
    Environment environment = world.environment();
    environment.print = [&printed](std::string_view text) { printed += text; };
    world.runner.answer({"ostree", "admin", "status"}, status(each.newest_booted));
    world.put("/boot/grub/grubenv",
              grub_environment(each.attempts_left ? fmt::format("boot_counter={}\nboot_success=0\n", *each.attempts_left) : ""));
    const Result<> done = show_os_status(environment);
    ASSERT_TRUE(done.ok()) << done.error().message();
    EXPECT_EQ(printed, "COMMIT        VERSION  STATE\naaaaaaaaaaaa  0.2.0    " + each.newest_line + "\nbbbbbbbbbbbb  0.1.0" +
                           (each.newest_booted ? "" : "    booted") + "\n" + each.conclusion);
  }
}

TEST(OsStatus, OneDeploymentWithoutABootLoader) {
  EXPECT_EQ(describe_deployments(parse_deployments(status(true, false)), {}),
            "COMMIT        VERSION  STATE\naaaaaaaaaaaa  0.2.0    booted\n");
}

TEST(OsStatus, LinesThatAreNoDeploymentAreLeftOut) {
  EXPECT_TRUE(parse_deployments("").empty());
  EXPECT_TRUE(parse_deployments("No deployments.\n").empty());
  EXPECT_TRUE(parse_deployments("* slipway\n  slipway short.0\n    Version: 1\n").empty());
}

TEST(OsStatus, ACounterThatIsNoNumberCountsNothing) {
  EXPECT_EQ(parse_attempts_left(grub_environment("boot_counter=2\n")), 2);
  EXPECT_EQ(parse_attempts_left(grub_environment("boot_counter=\n")), std::nullopt);
  EXPECT_EQ(parse_attempts_left(grub_environment("saved_entry=1\n")), std::nullopt);
  EXPECT_EQ(parse_attempts_left(""), std::nullopt);
}

TEST(OsStatus, AMachineWithoutDeploymentsIsNotFound) {
  NodeWorld world;
  world.runner.answer({"ostree", "admin", "status"}, "No deployments.\n");
  const Result<> done = show_os_status(world.environment());
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::not_found);
}

}  // namespace
}  // namespace slipway::node
