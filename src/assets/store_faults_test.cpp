// Kills and failures at each change of a file.
#include "support/asset_store.h"

#include <gtest/gtest.h>

namespace slipway::assets {
namespace {

// After a run the directory is exactly what the plan says, byte for byte.
TEST_F(Store, APlanIsWhatIsThenWritten) {
  environment.seed = Secret("the same in both");
  for (const Situation& situation : situations()) {
    ASSERT_TRUE(files.remove("/d").ok());
    put("install-config.yaml", sample_install_config);
    put(std::string(password_hash_file), password_hash);
    situation.make();
    Tree expected = tree();
    const Result<Plan> seen = preview(situation.request);
    ASSERT_TRUE(seen.ok()) << situation.name << ": " << seen.error().message();
    EXPECT_EQ(tree(), expected) << situation.name << ": a preview writes nothing";
    EXPECT_FALSE(seen->changes.empty()) << situation.name;
    for (const Change& change : seen->changes) {
      EXPECT_FALSE(change.why.empty()) << change.path;
      EXPECT_EQ(expected.contains(change.path), change.action != Action::add) << situation.name << " " << change.path;
      if (change.action == Action::consume) expected[fmt::format("{}/{}", consumed_folder, change.path)] = expected[change.path];
      if (change.action == Action::add || change.action == Action::change) {
        expected[change.path] = change.content;
      } else {
        expected.erase(change.path);
      }
    }
    if (seen->end) expected[std::string(state_file)] = state_text(*seen->end);
    ASSERT_TRUE(run(situation.request).ok()) << situation.name;
    EXPECT_EQ(tree(), expected) << situation.name;
    if (situation.request.target == Target::install_config || situation.request.consumes_install_config) continue;
    EXPECT_TRUE(preview(situation.request)->changes.empty()) << situation.name << ": done is done";
  }
}

// Each change in turn fails once, as on a disk that is briefly full: the run changes nothing, and the next run succeeds.
TEST_F(Store, ATargetThatCannotWriteLeavesNothingBehind) {
  environment.seed = Secret("the same each time");
  for (const Situation& situation : situations()) {
    ASSERT_TRUE(files.remove("/d").ok());
    put("install-config.yaml", sample_install_config);
    put(std::string(password_hash_file), password_hash);
    situation.make();
    const Tree before = tree();
    for (int at = 0;; ++at) {
      ASSERT_LT(at, 200);
      const Result<> made = run(situation.request, at, After::well);
      if (made.ok()) break;
      EXPECT_EQ(tree(), before) << situation.name << " " << at;
      EXPECT_NE(made.error().message().find("no space; all changes were undone"), std::string::npos) << made.error().message();
    }
  }
}

TEST_F(Store, WhereTakingBackFailsTooItSaysThatTheSameCommandContinues) {
  const Result<> made = manifests(5);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message().find("written files are kept (run the same command to continue)"), std::string::npos)
      << made.error().message();
  EXPECT_TRUE(manifests().ok());
}

// Usual order: manifests, user changes, Ignition configs, cluster. Each target is killed at every change in turn, then run again.
TEST_F(Store, AfterAKillAtAnyMomentTheSameCommandReachesTheSameEnd) {
  environment.seed = Secret("the same each time");
  put(std::string(password_hash_file), password_hash);
  const auto kill_everywhere = [&](auto step) {
    const Tree before = tree();
    ASSERT_TRUE(step(for_ever).ok());
    const Tree undisturbed = tree();
    for (int kill = 0;; ++kill) {
      ASSERT_LT(kill, 200);
      ASSERT_TRUE(files.remove("/d").ok());
      for (const auto& [path, content] : before) put(path, content);
      if (step(kill).ok()) return;
      ASSERT_TRUE(step(for_ever).ok()) << kill;
      ASSERT_EQ(tree(), undisturbed) << kill;
    }
  };
  kill_everywhere([&](int changes) { return manifests(changes); });
  put("manifests/mine.yaml", thing);
  remove("manifests/kube-cloud-config.yaml");
  kill_everywhere([&](int changes) { return ignition_configs(changes); });
  EXPECT_EQ(on_bootstrap("manifests/mine.yaml"), thing);
  kill_everywhere([&](int changes) -> Result<> {
    TRY(cluster(changes));
    return Ok{};
  });
}

// Kills a target that replaces the files of another install-config.
TEST_F(Store, AfterAKillDuringAChangeOfTheInstallConfigNothingOldIsLeft) {
  std::string other(sample_install_config);
  other.replace(other.find("example.com"), 11, "example.org");
  for (int kill = 0;; ++kill) {
    ASSERT_LT(kill, 100);
    ASSERT_TRUE(files.remove("/d").ok());
    put("install-config.yaml", sample_install_config);
    ASSERT_TRUE(manifests().ok());
    put("install-config.yaml", other);
    const bool whole = manifests(kill).ok();
    ASSERT_TRUE(manifests().ok()) << kill;
    const Tree end = tree();
    for (const auto& [path, content] : end) {
      EXPECT_EQ(content.find("demo.example.com"), std::string::npos) << kill << " " << path;
    }
    if (whole) break;
  }
}

}  // namespace
}  // namespace slipway::assets
