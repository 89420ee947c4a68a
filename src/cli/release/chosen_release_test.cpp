// Which release is chosen, and what is assumed when its registry cannot be reached.
#include "cli/release/chosen_release.h"

#include "release/release_info.h"
#include "support/command_world.h"

namespace slipway::cli {
namespace {

// No server listens at this address.
const std::string repository = "127.0.0.1:1/openshift/release";
const std::string digest = "sha256:" + std::string(64, 'a');
const std::string by_digest = repository + "@" + digest;

std::string info(const std::string& version) {
  return fmt::format(
      R"({{"version": "{}", "digest": "{}", "components": [{{"name": "etcd", "image": "quay.io/a/b@sha256:{}"}}]}})", version,
      digest, std::string(64, 'b'));
}

class ChosenReleaseTest : public testing_support::CommandTest {
 protected:
  Result<ChosenRelease> choose(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> argv = {"create", "manifests", "--dir", "/a", "--release", name};
    argv.insert(argv.end(), more.begin(), more.end());
    const Parsed parsed = parse("slipway", argv, commands());
    EXPECT_TRUE(parsed.invocation) << parsed.text;
    return choose_release(environment(), parsed.invocation->arguments, {}, "/a");
  }

  void put(const std::string& path, const std::string& content) { ASSERT_TRUE(files.write(path, content, 0600).ok()); }
};

TEST_F(ChosenReleaseTest, ByDigestItIsTakenForOpenShift418WhereNobodyCanBeAsked) {
  const auto chosen = choose(by_digest);
  ASSERT_TRUE(chosen.ok()) << chosen.error().message();
  EXPECT_EQ(chosen->image, by_digest);
  EXPECT_EQ(chosen->about.version, "4.18");
  EXPECT_EQ(chosen->remembered_at, "");
}

TEST_F(ChosenReleaseTest, OfSlipwaysOwnRepositoryItIsOfThisProgram) {
  const auto chosen = choose("registry.slipway.invalid/slipway/release@" + digest);
  ASSERT_TRUE(chosen.ok()) << chosen.error().message();
  EXPECT_EQ(chosen->about.components.at("release").image.registry, "registry.slipway.invalid");
  EXPECT_NE(chosen->about.version, "4.18");
}

TEST_F(ChosenReleaseTest, ByTagItHasToBeAskedFor) {
  const auto chosen = choose(repository + ":4.18.3");
  ASSERT_FALSE(chosen.ok());
  EXPECT_NE(chosen.error().message().find("(use a reference with a digest, or --release-info)"), std::string::npos)
      << chosen.error().message();
}

TEST_F(ChosenReleaseTest, AFileSaysWhatItIsAndNobodyIsAsked) {
  put("/info.json", info("4.17.9"));
  for (const std::string& name : {by_digest, repository + ":4.17.9"}) {
    const auto chosen = choose(name, {"--release-info", "/info.json"});
    ASSERT_TRUE(chosen.ok()) << chosen.error().message();
    EXPECT_EQ(chosen->image, by_digest);
    EXPECT_EQ(chosen->about.version, "4.17.9");
  }
  const auto other = choose(repository + "@sha256:" + std::string(64, 'c'), {"--release-info", "/info.json"});
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message().find("--release-info /info.json: describes " + digest), std::string::npos)
      << other.error().message();
  EXPECT_FALSE(choose(by_digest, {"--release-info", "/none.json"}).ok());
}

TEST_F(ChosenReleaseTest, WhatWasReadBeforeIsRemembered) {
  const auto read = release::parse_release_info(info("4.17.9"), "info");
  ASSERT_TRUE(read.ok());
  ASSERT_TRUE(remember_release(environment(),
                               {.about = read.value(), .image = by_digest, .remembered_at = "/a/.slipway/release-info.json"})
                  .ok());
  const auto chosen = choose(by_digest);
  ASSERT_TRUE(chosen.ok()) << chosen.error().message();
  EXPECT_EQ(chosen->about.version, "4.17.9");
  put("/a/.slipway/release-info.json", "broken");
  EXPECT_EQ(choose(by_digest)->about.version, "4.18");
  put("/a/.slipway/release-info.json", info("4.17.9"));
  EXPECT_EQ(choose(repository + "@sha256:" + std::string(64, 'c'))->about.version, "4.18");
}

}  // namespace
}  // namespace slipway::cli
