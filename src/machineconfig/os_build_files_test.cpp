#include "machineconfig/os_build_files.h"

#include "support/memory_files.h"

#include <gtest/gtest.h>

namespace slipway::machineconfig {
namespace {

const OsImage image{.build = {.name = "master-1",
                              .pool = "master",
                              .rendered = "rendered-master-1",
                              .base_image = "r.example.com/os@sha256:1",
                              .repository = "r.example.com/team/os",
                              .registry = "r.example.com",
                              .containerfile = "FROM configs\n"},
                    .digest = "sha256:2",
                    .is_pushed = true};

TEST(OsBuildFiles, AreReadAsTheyWereWritten) {
  testing_support::MemoryFiles files;
  EXPECT_EQ(read_os_image(files, "/image.json").value(), std::nullopt);
  EXPECT_EQ(read_os_build(files, "/build.json").value(), std::nullopt);
  ASSERT_TRUE(write_os_image(files, "/image.json", image).ok());
  EXPECT_EQ(read_os_image(files, "/image.json").value(), image);
  ASSERT_TRUE(files.write("/build.json", emit_json(to_json(image.build), JsonStyle::compact), 0644).ok());
  EXPECT_EQ(read_os_build(files, "/build.json").value(), image.build);
  ASSERT_TRUE(files.write("/image.json", "{}", 0644).ok());
  const auto broken = read_os_image(files, "/image.json");
  ASSERT_FALSE(broken.ok());
  EXPECT_NE(broken.error().message().find("/image.json"), std::string::npos) << broken.error().message();
}

TEST(OsBuildFiles, FailuresKeepTheirCode) {
  testing_support::MemoryFiles files;
  EXPECT_FALSE(read_os_failure(files, "/failure.json").value().has_value());
  const std::pair<Code, Code> rows[] = {{Code::invalid, Code::invalid},         {Code::denied, Code::denied},
                                        {Code::conflict, Code::conflict},       {Code::internal, Code::internal},
                                        {Code::unavailable, Code::unavailable}, {Code::not_found, Code::unavailable}};
  for (const auto& [written, read] : rows) {
    ASSERT_TRUE(write_os_failure(files, "/failure.json", Error(written, "the reason")).ok());
    const std::optional<Error> failure = read_os_failure(files, "/failure.json").value();
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), read);
    EXPECT_EQ(failure->message(), "the reason");
  }
  for (const char* broken : {"{", "{}", R"({"code": "denied"})"}) {
    ASSERT_TRUE(files.write("/failure.json", broken, 0644).ok());
    EXPECT_EQ(read_os_failure(files, "/failure.json").error().code(), Code::invalid) << broken;
  }
}

}  // namespace
}  // namespace slipway::machineconfig
