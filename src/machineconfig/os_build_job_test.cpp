#include "machineconfig/os_build_job.h"

#include <gtest/gtest.h>

namespace slipway::machineconfig {
namespace {

const OsBuild build{.name = "worker-5f0c",
                    .pool = "worker",
                    .rendered = "rendered-worker-1",
                    .base_image = "r.example/os@sha256:" + std::string(64, '1'),
                    .repository = "r.example/team/os",
                    .registry = "r.example",
                    .containerfile = "FROM configs\nRUN true\n"};

TEST(OsBuildInputs, AreTheSameAfterPackingAndFitConfigMaps) {
  std::string noise;  // does not become smaller
  unsigned state = 1;
  while (noise.size() < 2'000'000) noise.push_back(static_cast<char>((state = state * 1664525 + 1013904223) >> 24));
  const std::vector<BuildFile> files = {
      {"Containerfile", build.containerfile}, {"root/etc/noise", noise, 0755}, {"root/etc/empty", ""}};
  const Result<std::vector<std::string>> parts = pack_inputs(build, files);
  ASSERT_TRUE(parts.ok());
  EXPECT_GE(parts->size(), 2u);
  for (const std::string& part : parts.value()) EXPECT_LE(part.size(), largest_part);
  EXPECT_EQ(parts.value(), pack_inputs(build, files).value());
  const Result<BuildInputs> inputs = unpack_inputs(parts.value());
  ASSERT_TRUE(inputs.ok()) << inputs.error().message();
  EXPECT_EQ(inputs->build, build);
  EXPECT_EQ(inputs->files, files);
}

TEST(OsBuildInputs, BrokenOnesAreRefused) {
  const std::vector<std::string> parts = pack_inputs(build, {{"Containerfile", "FROM configs\n"}}).value();
  EXPECT_EQ(unpack_inputs({}).error().code(), Code::invalid);
  EXPECT_EQ(unpack_inputs({parts[0].substr(0, 40)}).error().code(), Code::invalid);
  for (const char* path : {"/etc/passwd", "root/../../etc/passwd", "..", ""}) {
    const Result<BuildInputs> inputs = unpack_inputs(pack_inputs(build, {{path, "x"}}).value());
    ASSERT_FALSE(inputs.ok()) << path;
    EXPECT_NE(inputs.error().message().find("is not inside of the folder"), std::string::npos) << inputs.error().message();
  }
}

TEST(OsBuildResult, IsReadBack) {
  const OsImage image{.build = build,
                      .digest = "sha256:" + std::string(64, '2'),
                      .started = WallTime(Seconds(1)),
                      .ended = WallTime(Seconds(60))};
  const Json object = result_object(image);
  EXPECT_EQ(find_string(object, {"metadata", "name"}), "digest-worker-5f0c");
  EXPECT_EQ(find_string(object, {"metadata", "labels", os_build_label}), "worker-5f0c");
  const Result<OsImage> read = parse_result(object);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read.value(), image);
  EXPECT_EQ(parse_failure(object), std::nullopt);
}

TEST(OsBuildResult, FailuresSayWhetherAnotherAttemptMayWork) {
  const struct {
    Code code;
    bool is_final;
  } cases[] = {
      {Code::invalid, true}, {Code::denied, true}, {Code::unavailable, false}, {Code::conflict, false}, {Code::timeout, false}};
  for (const auto& each : cases) {
    const BuildFailure failure = failure_of(error(each.code, "line 3: dnf failed"));
    EXPECT_EQ(failure.is_final, each.is_final) << to_string(each.code);
    const Json object = failure_object("worker-5f0c", "build-worker-5f0c-x2x7z", failure);
    EXPECT_EQ(find_string(object, {"metadata", "name"}), "failure-build-worker-5f0c-x2x7z");
    EXPECT_EQ(parse_failure(object), failure);
    EXPECT_FALSE(parse_result(object).ok());
  }
  const BuildFailure longer = {.message = std::string(5000, 'x') + "the end"};
  EXPECT_TRUE(parse_failure(failure_object("n", "p", longer))->message.ends_with("the end"));
}

}  // namespace
}  // namespace slipway::machineconfig
