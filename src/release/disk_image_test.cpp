#include "release/disk_image.h"

#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace slipway::release {
namespace {

// Answers `ostree show`.
class Ostree final : public sys::Runner {
 public:
  explicit Ostree(sys::Output output) : output_(std::move(output)) {}
  Result<sys::Output> run(const sys::Context&, const sys::Command&) override { return output_; }

 private:
  sys::Output output_;
};

TEST(DiskImage, EachPlatformHasOneNameAndAKnownFormat) {
  std::set<std::string_view> names;
  for (const DiskPlatform& platform : disk_platforms()) {
    EXPECT_TRUE(names.insert(platform.name).second) << platform.name;
    EXPECT_NE(std::ranges::find(disk_formats(), platform.format), disk_formats().end()) << platform.name;
    EXPECT_EQ(find_disk_platform(platform.name), &platform);
    EXPECT_EQ(platform.name.find('-'), std::string_view::npos) << "names of files end a version with '-'";
  }
  EXPECT_EQ(find_disk_platform("moon"), nullptr);
}

TEST(DiskImage, TheVersionIsThatOfTheCommit) {
  testing_support::TestContext test;
  const auto version = [&](sys::Output output) {
    Ostree ostree(std::move(output));
    return os_version(test.context(), ostree, "/repo", "slipway/machine-os");
  };
  EXPECT_EQ(version({.status = 0, .out = "'0.1.0'\n", .err = ""}).value(), "0.1.0");
  for (const sys::Output& output :
       {sys::Output{.status = 0, .out = "uint32 1\n", .err = ""}, sys::Output{.status = 0, .out = "", .err = ""},
        sys::Output{.status = 1, .out = "", .err = "error: Refspec not found"}}) {
    const auto failed = version(output);
    ASSERT_FALSE(failed.ok()) << output.out;
    EXPECT_EQ(failed.error().code(), Code::not_found);
  }
}

}  // namespace
}  // namespace slipway::release
