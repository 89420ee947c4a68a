#include "bootstrap/os_image.h"

#include "machineconfig/os_build_limits.h"

#include "support/fake_kube.h"
#include "support/memory_files.h"
#include "support/test_context.h"
#include "sys/wait_for.h"

#include <gtest/gtest.h>

#include <functional>

namespace slipway::bootstrap {
namespace {

using testing_support::MemoryFiles;
using testing_support::TestContext;

const std::string builds = fmt::format("{}/{}/master", machineconfig::configs_folder, machineconfig::os_builds_name);
const std::string output = std::string(machineconfig::os_images_folder) + "/master";
const std::string digest = "sha256:" + std::string(64, 'a');

machineconfig::OsImage sample_image() {
  machineconfig::OsImage image{.build = {.name = "master-1",
                                         .pool = "master",
                                         .rendered = "rendered-master-1",
                                         .base_image = "r.example.com/os@" + digest,
                                         .repository = "r.example.com/team/os",
                                         .registry = "r.example.com",
                                         .containerfile = "FROM configs\n"}};
  image.digest = digest;
  return image;
}

std::string text_of_image() { return emit_json(machineconfig::to_json(sample_image()), JsonStyle::compact); }

class FakeRunner final : public sys::Runner {
 public:
  Result<sys::Output> run(const sys::Context& context, const sys::Command& command) override {
    argv.push_back(command.argv);
    limits.push_back(command.limit);
    if (command.on_line) command.on_line(sys::Stream::err, "STEP 1/2: FROM configs");
    if (takes > Milliseconds(0)) (void)sys::pause(context, takes);
    return answer(argv.size());
  }

  std::vector<std::vector<std::string>> argv;
  std::vector<Milliseconds> limits;
  Milliseconds takes{0};
  std::function<sys::Output(std::size_t run)> answer = [](std::size_t) { return sys::Output{}; };
};

TEST(OsImageBuild, RunsTheCommandOfTheMachine) {
  MemoryFiles files;
  TestContext test;
  FakeRunner runner;
  ASSERT_TRUE(files.write(builds + "/build.json", "{}", 0644).ok());
  ASSERT_TRUE(build_os_image_of_masters(test.context(), files, runner).ok());
  const std::vector<std::string> expected = {"/usr/local/bin/slipway-node",
                                             "os-image-build",
                                             "--folder=/etc/mcs/bootstrap/os-builds/master",
                                             "--output=/var/lib/slipway/os-images/master",
                                             "--pull-logins=/root/.docker/config.json",
                                             "--push-logins=/etc/mcs/bootstrap/os-logins/master/push.json"};
  ASSERT_EQ(runner.argv.size(), 1u);
  EXPECT_EQ(runner.argv[0], expected);
  EXPECT_EQ(test.logged().back(), "info: os-image-build: STEP 1/2: FROM configs");

  ASSERT_TRUE(files.write("/etc/mcs/bootstrap/os-logins/master/pull.json", "{}", 0600).ok());
  ASSERT_TRUE(build_os_image_of_masters(test.context(), files, runner).ok());
  EXPECT_EQ(runner.argv[1][4], "--pull-logins=/etc/mcs/bootstrap/os-logins/master/pull.json");
}

TEST(OsImageBuild, WaitsForTheController) {
  MemoryFiles files;
  TestContext test;
  FakeRunner runner;
  const Result<> result = build_os_image_of_masters(test.context(), files, runner);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Code::timeout);
  EXPECT_NE(result.error().message().find("build.json does not exist"), std::string::npos) << result.error().message();
  EXPECT_TRUE(runner.argv.empty());
}

TEST(OsImageBuild, FailuresHaveTheReasonOfTheCommand) {
  const struct {
    std::string failure;  // failure.json
    Code code;
    std::string message;
    std::size_t runs;
  } rows[] = {
      {R"({"code":"invalid","message":"line 2 of the Containerfile (RUN false): exit status 1"})", Code::invalid,
       "line 2 of the Containerfile (RUN false): exit status 1", 1},
      {R"({"code":"denied","message":"no login"})", Code::denied, "no login", 1},
      {R"({"code":"conflict","message":"too little disk"})", Code::conflict, "too little disk", 1},
      {R"({"code":"unavailable","message":"no answer"})", Code::unavailable, "no answer", 1},
      {"", Code::unavailable, "slipway-node os-image-build ended with status 137: the last line", 3},
      {"{", Code::unavailable, "slipway-node os-image-build ended with status 137: the last line", 3},
  };
  for (const auto& row : rows) {
    MemoryFiles files;
    TestContext test;
    FakeRunner runner;
    ASSERT_TRUE(files.write(builds + "/build.json", "{}", 0644).ok());
    runner.answer = [&](std::size_t) {
      if (!row.failure.empty()) (void)files.write(output + "/failure.json", row.failure, 0644).ok();
      return sys::Output{.status = 137, .out = "", .err = "a line\nthe last line\n"};
    };
    const Result<> result = build_os_image_of_masters(test.context(), files, runner);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code(), row.code) << row.failure;
    EXPECT_EQ(result.error().message(), row.message);
    EXPECT_EQ(runner.argv.size(), row.runs) << row.failure;
  }
}

TEST(OsImageBuild, AllRunsTogetherHaveTheTimeOfOne) {
  MemoryFiles files;
  TestContext test;
  FakeRunner runner;
  ASSERT_TRUE(files.write(builds + "/build.json", "{}", 0644).ok());
  runner.takes = Seconds(600);
  runner.answer = [&](std::size_t) { return sys::Output{.status = 137, .out = "", .err = ""}; };
  ASSERT_FALSE(build_os_image_of_masters(test.context(), files, runner).ok());
  ASSERT_EQ(runner.limits.size(), 3u);
  EXPECT_GE(runner.limits[0], machineconfig::os_build_limits::run);
  EXPECT_LE(runner.limits[2], runner.limits[0] - Seconds(1200));
}

TEST(OsImageBuild, AKilledRunIsRepeated) {
  MemoryFiles files;
  TestContext test;
  FakeRunner runner;
  ASSERT_TRUE(files.write(builds + "/build.json", "{}", 0644).ok());
  runner.answer = [](std::size_t run) { return sys::Output{.status = run == 1 ? 1 : 0, .out = "", .err = ""}; };
  EXPECT_TRUE(build_os_image_of_masters(test.context(), files, runner).ok());
  EXPECT_EQ(runner.argv.size(), 2u);
}

TEST(OsImageOfMasters, IsTheBuiltOneOrThePrebuiltOne) {
  MemoryFiles files;
  EXPECT_FALSE(os_image_of_masters(files).value());
  ASSERT_TRUE(files.write("/etc/mcs/bootstrap/os-images/master/image.json", text_of_image(), 0644).ok());
  EXPECT_EQ(os_image_of_masters(files).value()->image(), "r.example.com/team/os@" + digest);
  machineconfig::OsImage other = sample_image();
  other.build.repository = "r.example.com/team/built";
  ASSERT_TRUE(files.write(output + "/image.json", emit_json(machineconfig::to_json(other), JsonStyle::compact), 0644).ok());
  EXPECT_EQ(os_image_of_masters(files).value()->image(), "r.example.com/team/built@" + digest);
  ASSERT_TRUE(files.write(output + "/image.json", "{}", 0644).ok());
  EXPECT_EQ(os_image_of_masters(files).error().code(), Code::invalid);
}

Json master(const std::string& name, const std::string& image) {
  JsonObject annotations;
  if (!image.empty()) annotations["machineconfiguration.openshift.io/currentImage"] = image;
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata",
           {{"name", name}, {"labels", {{"node-role.kubernetes.io/master", ""}}}, {"annotations", std::move(annotations)}}}};
}

TEST(OsImageOfMasters, TheReasonNamesEveryOtherImage) {
  const std::string image = sample_image().image();
  EXPECT_EQ(masters_with_other_images({}, image), "no master has joined");
  EXPECT_EQ(masters_with_other_images({master("a", image)}, image), std::nullopt);
  EXPECT_EQ(masters_with_other_images({master("a", image), master("b", ""), master("c", "other")}, image),
            "b runs the image of the release, c runs other");
}

TEST(OsImageOfMasters, IsRecordedInTheClusterAndEveryMasterRunsIt) {
  testing_support::RealTimeContext test;
  MemoryFiles files;
  testing_support::FakeKube kube;
  ASSERT_TRUE(files.write(output + "/image.json", text_of_image(), 0644).ok());
  kube.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "openshift-machine-config-operator"}}}});
  kube.put(master("master-0", ""));
  kube.after_write = [&](const Json& written) {
    if (text_of(written, {"kind"}) == "ConfigMap") kube.put(master("master-0", sample_image().image()));
  };
  const Result<> result = wait_for_os_image_of_masters(test.context(), files, kube);
  ASSERT_TRUE(result.ok()) << result.error().message();
  const Json map = kube::get(test.context(), kube, kube::types::config_maps, "openshift-machine-config-operator",
                             machineconfig::os_images_config_map)
                       .value();
  EXPECT_EQ(text_of(map, {"data", "master"}), text_of_image());
}

}  // namespace
}  // namespace slipway::bootstrap
