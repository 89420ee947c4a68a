#include "node/os_build/job.h"

#include "support/fake_kube.h"
#include "support/fake_machine.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

namespace mc = machineconfig;
using testing_support::FakeKube;
using testing_support::FakeMachine;

const std::string logins = R"({"auths":{"registry.example.com":{"auth":"dTpw"}}})";

struct Pod {
  Pod() {
    kube.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", job.space}}}});
    const std::vector<std::string> parts =
        mc::pack_inputs(build, {{"Containerfile", build.containerfile}, {"root/etc/motd", "hi", 0644}}).value();
    for (std::size_t i = 0; i < parts.size(); ++i) machine.put(fmt::format("/inputs/inputs.{}", i), parts[i]);
    machine.put("/inputs/push/.dockerconfigjson", logins);
  }
  Result<OsBuildOptions> put() { return put_build(machine.environment().files, job); }
  std::string on_machine(const std::string& path) { return machine.text(job.root + os_build_folder(job.name) + path); }

  const mc::OsBuild build{.name = "worker-5f0c",
                          .pool = "worker",
                          .rendered = "rendered-worker-1",
                          .base_image = "r.example.com/os@sha256:" + std::string(64, '1'),
                          .repository = "registry.example.com/team/os",
                          .registry = "registry.example.com",
                          .containerfile = "FROM configs\nRUN true\n"};
  const mc::OsImage image{.build = build, .digest = "sha256:" + std::string(64, '2'), .is_pushed = true};
  FakeMachine machine;
  FakeKube kube;
  OsBuildJob job{.name = "worker-5f0c",
                 .pod = "build-worker-5f0c-x2x7z",
                 .space = "openshift-machine-config-operator",
                 .inputs = "/inputs",
                 .push_secret = "push",
                 .root = "/rootfs"};
};

TEST(OsBuildJob, PutsTheBuildOnTheMachine) {
  Pod pod;
  pod.machine.put("/rootfs/var/lib/slipway/os-images/worker-5f0c/build/root/etc/old", "of an attempt before");
  const Result<OsBuildOptions> options = pod.put();
  ASSERT_TRUE(options.ok()) << options.error().message();
  EXPECT_EQ(options->folder, "/var/lib/slipway/os-images/worker-5f0c/build");
  EXPECT_EQ(options->output, "/var/lib/slipway/os-images/worker-5f0c/output");
  EXPECT_EQ(options->push_logins, "/var/lib/slipway/os-images/worker-5f0c/push-logins.json");
  EXPECT_EQ(options->pull_logins, "") << "the logins of the kubelet";
  EXPECT_TRUE(options->has_cache);
  EXPECT_EQ(pod.on_machine("/build/root/etc/motd"), "hi");
  EXPECT_EQ(pod.on_machine("/build/Containerfile"), pod.build.containerfile);
  const Result<Json> build = parse_json(pod.on_machine("/build/build.json"), "build.json");
  EXPECT_EQ(mc::parse_os_build(build.value(), "build.json").value(), pod.build);
  EXPECT_EQ(pod.machine.memory.info("/rootfs/var/lib/slipway/os-images/worker-5f0c/build/root/etc/old").value(), std::nullopt);
  EXPECT_EQ(pod.machine.memory.info("/rootfs/var/lib/slipway/os-images/worker-5f0c/push-logins.json").value()->mode, 0600u);
}

TEST(OsBuildJob, ReadsSecretsOfBothTypesAndNamesOneThatIsMissing) {
  Pod pod;
  pod.job.pull_secret = "base";
  Result<OsBuildOptions> options = pod.put();
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.error().code(), Code::not_found);
  EXPECT_NE(options.error().message().find("Secret openshift-machine-config-operator/base: it does not exist"), std::string::npos)
      << options.error().message();
  pod.machine.put("/inputs/pull/.dockercfg", R"({"registry.example.com":{"auth":"dTpw"}})");
  options = pod.put();
  ASSERT_TRUE(options.ok()) << options.error().message();
  EXPECT_EQ(options->pull_logins, "/var/lib/slipway/os-images/worker-5f0c/pull-logins.json");
  EXPECT_TRUE(mc::has_login(Secret(pod.on_machine("/pull-logins.json")), "registry.example.com/team/os"));
}

TEST(OsBuildJob, ReportsWhatBecameOfTheBuild) {
  const struct {
    const char* what;
    std::optional<Error> failure;
    const char* name;  // of the ConfigMap
    bool is_final, has_output;
  } cases[] = {{"success", {}, "digest-worker-5f0c", false, false},
               {"the Containerfile is wrong", error(Code::invalid, "line 2: no"), "failure-build-worker-5f0c-x2x7z", true, false},
               {"the disk is full", error(Code::conflict, "no space"), "failure-build-worker-5f0c-x2x7z", false, false},
               {"no connection", error(Code::unavailable, "no answer"), "failure-build-worker-5f0c-x2x7z", false, true}};
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    Pod pod;
    pod.job.root = "/";
    const Environment environment = pod.machine.environment();
    const Result<OsBuildOptions> options = put_build(environment.files, pod.job);
    pod.machine.put(os_build_folder(pod.job.name) + "/output/build.log", "STEP 1");
    const Result<> done =
        build_and_report(environment, pod.kube, pod.job, options, [&](const OsBuildOptions&) -> Result<mc::OsImage> {
          if (each.failure) return *each.failure;
          return pod.image;
        });
    EXPECT_EQ(done.ok(), !each.failure);
    const std::optional<Json> written = pod.kube.stored(kube::types::config_maps, pod.job.space, each.name);
    ASSERT_TRUE(written);
    if (each.failure) {
      EXPECT_EQ(mc::parse_failure(*written), (mc::BuildFailure{.message = each.failure->message(), .is_final = each.is_final}));
    } else {
      EXPECT_EQ(mc::parse_result(*written).value(), pod.image);
    }
    EXPECT_EQ(pod.machine.memory.info(os_build_folder(pod.job.name) + "/output/build.log").value().has_value(), each.has_output);
    EXPECT_EQ(pod.machine.memory.info(os_build_folder(pod.job.name) + "/push-logins.json").value(), std::nullopt);
  }
}

TEST(OsBuildJob, AStoppedBuildLeavesNothing) {
  Pod pod;
  pod.job.root = "/";
  const Result<OsBuildOptions> options = pod.put();
  const Result<> done =
      build_and_report(pod.machine.environment(), pod.kube, pod.job, options,
                       [&](const OsBuildOptions&) -> Result<mc::OsImage> { return error(Code::cancelled, "stopped"); });
  EXPECT_EQ(done.error().code(), Code::cancelled);
  EXPECT_FALSE(pod.machine.memory.info(os_build_folder(pod.job.name)).value());
  EXPECT_TRUE(pod.kube.stored_all(kube::types::config_maps).empty());
}

TEST(OsBuildJob, InputsThatAreMissingAreAFailureOfTheBuild) {
  Pod pod;
  (void)pod.machine.memory.remove("/inputs/push/.dockerconfigjson");
  const Result<OsBuildOptions> options = pod.put();
  const Result<> done = build_and_report(pod.machine.environment(), pod.kube, pod.job, options,
                                         [&](const OsBuildOptions&) -> Result<mc::OsImage> { return pod.image; });
  EXPECT_FALSE(done.ok());
  const std::optional<Json> written = pod.kube.stored(kube::types::config_maps, pod.job.space, "failure-" + pod.job.pod);
  ASSERT_TRUE(written);
  EXPECT_NE(mc::parse_failure(*written)->message.find("Secret openshift-machine-config-operator/push"), std::string::npos);
}

TEST(OsBuildJob, AResultThatWasWrittenBeforeIsNoError) {
  Pod pod;
  pod.job.root = "/";
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Result<OsBuildOptions> options = pod.put();
    EXPECT_TRUE(build_and_report(pod.machine.environment(), pod.kube, pod.job, options,
                                 [&](const OsBuildOptions&) -> Result<mc::OsImage> { return pod.image; })
                    .ok());
  }
}

}  // namespace
}  // namespace slipway::node
