#include "cli/release/release_store.h"

#include "support/command_world.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

using testing_support::MemoryFiles;

const std::string store = "/store";

void put(MemoryFiles& files, const std::string& version, const std::string& digits) {
  const std::string digest = "sha256:" + digits + std::string(64 - digits.size(), '0');
  const std::string text = fmt::format(R"({{"version": "{}", "digest": "{}"}})", version, digest);
  const std::string name = stored_name({.version = version, .digest = release::Digest::parse(digest).value()});
  ASSERT_TRUE(files.write(fmt::format("{}/{}/release.json", store, name), text, 0644).ok());
}

std::string default_of(MemoryFiles& files, std::string_view program = "/usr/bin/slipway") {
  const auto found = default_release(files, program, store);
  return found.ok() ? found->path : std::string(found.error().message());
}

TEST(ReleaseStore, KeepsADefault) {
  MemoryFiles files;
  EXPECT_TRUE(list_releases(files, store).value().empty());
  EXPECT_NE(default_of(files).find("/store: contains no release (import one with `slipway release import FILE`"),
            std::string::npos);
  put(files, "0.1.0", "aaaaaaaaaaaa");
  put(files, "0.2.0", "bbbbbbbbbbbb");
  ASSERT_TRUE(files.write(store + "/lock", "", 0600).ok());
  ASSERT_TRUE(files.write(store + "/import.new/release/oci-layout", "{}", 0644).ok());
  ASSERT_TRUE(set_default_release(files, store, "0.1.0-aaaaaaaaaaaa").ok());
  const std::vector<StoredRelease> releases = list_releases(files, store).value();
  ASSERT_EQ(releases.size(), 2u);
  EXPECT_EQ(releases[0].version, "0.1.0");
  EXPECT_TRUE(releases[0].is_default);
  EXPECT_FALSE(releases[1].is_default);
  EXPECT_EQ(default_of(files), "/store/0.1.0-aaaaaaaaaaaa");
}

TEST(ReleaseStore, RemovesTheDefault) {
  MemoryFiles files;
  put(files, "0.1.0", "aaaaaaaaaaaa");
  put(files, "0.2.0", "bbbbbbbbbbbb");
  ASSERT_TRUE(set_default_release(files, store, "0.1.0-aaaaaaaaaaaa").ok());
  const auto missing = remove_release(files, store, "0.3.0");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message(), "release 0.3.0: not found in /store (releases: 0.1.0-aaaaaaaaaaaa, 0.2.0-bbbbbbbbbbbb)");
  ASSERT_TRUE(remove_release(files, store, "0.1.0-aaaaaaaaaaaa").ok());
  EXPECT_EQ(default_of(files), "/store/0.2.0-bbbbbbbbbbbb");
  EXPECT_FALSE(files.info("/store/0.1.0-aaaaaaaaaaaa").value());
  ASSERT_TRUE(remove_release(files, store, "0.2.0-bbbbbbbbbbbb").ok());
  EXPECT_NE(default_of(files).find("contains no release"), std::string::npos);
}

TEST(ReleaseStore, IsNotAskedByAProgramInABuildFolder) {
  MemoryFiles files;
  EXPECT_EQ(default_of(files, "/src/build/cpp/release/bin/slipway"), "/src/build");
  EXPECT_NE(default_of(files, "/cpp/bin/slipway").find("contains no release"), std::string::npos);
}

}  // namespace
}  // namespace slipway::cli
