#include "assets/manifests/image_mode.h"

#include "base/digest.h"
#include "machineconfig/os_config.h"
#include "support/sample_assets.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace slipway::assets {
namespace {

using config::ImageMode;

const std::string path = "openshift/os.yaml", secret_path = "openshift/secret.yaml";

std::string os_config(const std::string& role) {
  return fmt::format(
      "apiVersion: machineconfiguration.openshift.io/v1\n"
      "kind: MachineOSConfig\n"
      "metadata:\n"
      "  name: {0}\n"
      "spec:\n"
      "  machineConfigPool: {{name: {0}}}\n"
      "  imageBuilder: {{imageBuilderType: Job}}\n"
      "  renderedImagePushSpec: registry.example.com/os/{0}:latest\n"
      "  renderedImagePushSecret: {{name: push}}\n",
      role);
}

// With another text in place of the first one.
std::string replaced(std::string text, const std::string& before, const std::string& after) {
  const std::size_t at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  return at == std::string::npos ? text : text.replace(at, before.size(), after);
}

std::string with_image(const std::string& text) {
  return replaced(text, "metadata:\n",
                  fmt::format("metadata:\n  annotations: {{{}: registry.example.com/os@sha256:{}}}\n",
                              machineconfig::prebuilt_image_annotation, std::string(64, 'a')));
}

std::string secret(const std::string& registry = "registry.example.com") {
  return fmt::format(
      "apiVersion: v1\n"
      "kind: Secret\n"
      "metadata: {{name: push, namespace: openshift-machine-config-operator}}\n"
      "type: kubernetes.io/dockerconfigjson\n"
      "stringData: {{.dockerconfigjson: '{{\"auths\": {{\"{}\": {{\"auth\": \"{}\"}}}}}}'}}\n",
      registry, base64_encode("user:word"));
}

std::string outcome(const Result<std::vector<std::string>>& result) {
  if (!result.ok()) return result.error().message();
  std::string notes;
  for (const std::string& note : result.value()) notes += note;
  return notes;
}

// The message about these manifests; the notes if they are right.
std::string checked(ImageMode mode, std::map<std::string, std::string> files, Target target = Target::ignition_configs,
                    const std::string& more = "compute: [{name: worker, replicas: 1}]\n",
                    const std::string& pull_login = "registry.example.com") {
  config::InstallConfig config = testing_support::sample_config(
      "apiVersion: v1\nmetadata: {name: demo}\nbaseDomain: example.com\nplatform: {local: {}}\n" + more);
  config.image_mode = mode;
  config.pull_secret = Secret(fmt::format(R"({{"auths":{{"{}":{{"auth":"YTpi"}}}}}})", pull_login));
  testing_support::SampleGraph sample(config);
  UserFiles user;
  for (auto& [name, content] : files) user.files.emplace(name, std::move(content));
  sample.graph.put(user);
  return outcome(check_image_mode(config, sample.get<ManifestSet>(), user, target));
}

TEST(ImageModeManifests, AreComplete) {
  const std::string both = os_config("master") + "---\n" + os_config("worker");
  EXPECT_EQ(checked(ImageMode::build_on_bootstrap, {{path, both}, {secret_path, secret()}}), "");
  EXPECT_EQ(
      checked(ImageMode::build_on_bootstrap, {{"manifests/os.yaml", both}, {secret_path, secret("registry.example.com/os")}}),
      "");
  EXPECT_EQ(checked(ImageMode::build_on_bootstrap, {{path, os_config("master")}, {secret_path, secret()}}, Target::cluster,
                    "compute: [{name: worker, replicas: 0}]\n"),
            "");
  EXPECT_EQ(checked(ImageMode::pre_built, {{path, with_image(os_config("master")) + "---\n" + with_image(os_config("worker"))},
                                           {secret_path, secret()}}),
            "");
  EXPECT_EQ(checked(ImageMode::none, {}), "");
}

TEST(ImageModeManifests, AreRefusedWithTheirPlaces) {
  const std::string both = os_config("master") + "---\n" + os_config("worker");
  const std::string missing =
      "openshift/99_machineosconfig_{}.yaml: error: missing: imageMode.policy BuildOnBootstrap needs a MachineOSConfig for pool "
      "{} (write "
      "it, or run `slipway create manifests --with-machine-os-config` and complete the files that it writes)";
  struct Row {
    ImageMode mode;
    std::map<std::string, std::string> files;
    std::string message;
  };
  const std::vector<Row> rows = {
      {ImageMode::none,
       {{path, os_config("master")}},
       "openshift/os.yaml:2:1: error: kind: MachineOSConfig has no effect without imageMode in the install-config (set "
       "imageMode.policy "
       "to BuildOnBootstrap or PreBuilt, or remove the object)"},
      {ImageMode::build_on_bootstrap,
       {},
       fmt::format(fmt::runtime(missing), "master", "master") + "\n" + fmt::format(fmt::runtime(missing), "worker", "worker")},
      {ImageMode::build_on_bootstrap,
       {{path, os_config("master")}, {secret_path, secret()}},
       fmt::format(fmt::runtime(missing), "worker", "worker")},
      {ImageMode::build_on_bootstrap,
       {{path, both}},
       "openshift/os.yaml:9:29: error: spec.renderedImagePushSecret.name: no manifest has the Secret push in namespace "
       "openshift-machine-config-operator (add its manifest to openshift/)\n"
       "openshift/os.yaml:19:29: error: spec.renderedImagePushSecret.name: no manifest has the Secret push in namespace "
       "openshift-machine-config-operator (add its manifest to openshift/)"},
      {ImageMode::build_on_bootstrap,
       {{path, both}, {secret_path, secret("other.example.com")}},
       "openshift/secret.yaml:5:1: error: stringData: Secret push has no login for registry.example.com/os/master, where "
       "MachineOSConfig master pushes to (add a login for registry.example.com)\n"
       "openshift/secret.yaml:5:1: error: stringData: Secret push has no login for registry.example.com/os/worker, where "
       "MachineOSConfig worker pushes to (add a login for registry.example.com)"},
      {ImageMode::build_on_bootstrap,
       {{path, both}, {secret_path, replaced(secret(), "dockerconfigjson\n", "basic-auth\n")}},
       "openshift/secret.yaml:5:1: error: stringData: Secret push: type is 'kubernetes.io/basic-auth', not "
       "kubernetes.io/dockerconfigjson (make it with kubectl create secret docker-registry)"},
      {ImageMode::build_on_bootstrap,
       {{path, replaced(both, "spec:\n", "spec:\n  baseImagePullSecret: {name: pull}\n")}, {secret_path, secret()}},
       "openshift/os.yaml:6:25: error: spec.baseImagePullSecret.name: no manifest has the Secret pull in namespace "
       "openshift-machine-config-operator (add its manifest to openshift/)"},
      {ImageMode::build_on_bootstrap,
       {{path, both}, {secret_path, replaced(secret(), "openshift-machine-config-operator", "default")}},
       "openshift/os.yaml:9:29: error: spec.renderedImagePushSecret.name: no manifest has the Secret push in namespace "
       "openshift-machine-config-operator (add its manifest to openshift/)\n"
       "openshift/os.yaml:19:29: error: spec.renderedImagePushSecret.name: no manifest has the Secret push in namespace "
       "openshift-machine-config-operator (add its manifest to openshift/)"},
      {ImageMode::build_on_bootstrap,
       {{path, both},
        {"openshift/other.yaml", replaced(os_config("master"), "name: master\nspec", "name: other\nspec")},
        {secret_path, secret()}},
       "openshift/other.yaml:4:3: error: metadata.name: is other, the name of its pool is master (use the name of the pool)\n"
       "openshift/other.yaml:6:23: error: spec.machineConfigPool.name: pool master has another MachineOSConfig, at "
       "openshift/os.yaml:6:23 (a pool has one: remove the other)"},
      {ImageMode::build_on_bootstrap,
       {{path, replaced(both, "openshift.io/v1\n", "openshift.io/v1alpha1\n")}, {secret_path, secret()}},
       "openshift/os.yaml:1:1: error: apiVersion: is not machineconfiguration.openshift.io/v1 (change it to this version)"},
      {ImageMode::build_on_bootstrap,
       {{path, replaced(both, "os/master:latest", "os/master")}, {secret_path, secret("other.example.com")}},
       "openshift/os.yaml:8:3: error: spec.renderedImagePushSpec: registry.example.com/os/master has no tag (like "
       "registry.example.com/team/os:latest)\n"
       "openshift/secret.yaml:5:1: error: stringData: Secret push has no login for registry.example.com/os/worker, where "
       "MachineOSConfig worker pushes to (add a login for registry.example.com)"},
      {ImageMode::pre_built,
       {{path, with_image(os_config("master")) + "---\n" + os_config("worker")}, {secret_path, secret()}},
       "openshift/os.yaml:14:1: error: metadata.annotations: machineconfiguration.openshift.io/pre-built-image is missing, "
       "imageMode.policy is PreBuilt (set it to the image, like registry.example.com/team/os@sha256:...)"},
      {ImageMode::build_on_bootstrap,
       {{path, with_image(os_config("master")) + "---\n" + os_config("worker")}, {secret_path, secret()}},
       "openshift/os.yaml:4:3: error: metadata.annotations: machineconfiguration.openshift.io/pre-built-image names an image, "
       "imageMode.policy is BuildOnBootstrap (remove the annotation, or use the policy PreBuilt)"},
  };
  for (const Row& row : rows) EXPECT_EQ(checked(row.mode, row.files), "manifests: " + row.message);
}

TEST(ImageModeManifests, AUserIsToldHowToBegin) {
  EXPECT_EQ(checked(ImageMode::build_on_bootstrap, {}, Target::manifests),
            "imageMode.policy BuildOnBootstrap needs a MachineOSConfig for each pool in openshift/. `slipway create manifests "
            "--with-machine-os-config` writes files to start from");
}

// What the user changed of the files that slipway writes; no content: nothing.
TEST(ImageModeManifests, MachinesPullWithThePullSecret) {
  const std::string both = os_config("master") + "---\n" + os_config("worker");
  const auto notes = [&](const std::string& pull_login, const std::string& manifests, ImageMode mode) {
    return checked(mode, {{path, manifests}, {secret_path, secret()}}, Target::manifests,
                   "compute: [{name: worker, replicas: 1}]\n", pull_login);
  };
  EXPECT_EQ(notes("registry.example.com/os", both, ImageMode::build_on_bootstrap), "");
  const auto note = [](std::string_view repository) {
    return fmt::format(
        "pullSecret has no login for registry.example.com/os{}, so machines can boot the image only if everybody may pull it "
        "(add a login for registry.example.com to pullSecret, unless the repository is public)",
        repository);
  };
  EXPECT_EQ(notes("quay.io", both, ImageMode::build_on_bootstrap), note("/master") + note("/worker"));
  const std::string built = with_image(os_config("master")) + "---\n" + with_image(os_config("worker"));
  EXPECT_EQ(notes("quay.io", built, ImageMode::pre_built), note("")) << "both have one image";
}

struct Start {
  std::string platform = "{none: {}}";
  ImageMode mode = ImageMode::build_on_bootstrap;
  Target target = Target::manifests;
  UserFiles user{};
};

std::string checked_start(Start start) {
  config::InstallConfig config = testing_support::sample_config(
      "apiVersion: v1\nmetadata: {name: demo}\nbaseDomain: example.com\npullSecret: "
      "'{\"auths\":{\"quay.io\":{\"auth\":\"YTpi\"}}}'\n"
      "compute: [{name: worker, replicas: 1}]\nplatform: " +
      start.platform);
  config.image_mode = start.mode;
  testing_support::SampleGraph sample(config);
  Environment environment = testing_support::sample_environment();
  environment.with_machine_os_config = true;
  sample.graph.put(std::move(environment));
  sample.graph.put(start.user);
  return outcome(check_image_mode(config, sample.get<ManifestSet>(), start.user, start.target));
}

TEST(ImageModeManifests, FilesToStartFromAreRefusedUntilTheyAreComplete) {
  EXPECT_EQ(checked_start({}),
            "complete openshift/99_machineosconfig_master.yaml, openshift/99_machineosconfig_secret_master.yaml, "
            "openshift/99_machineosconfig_secret_worker.yaml, openshift/99_machineosconfig_worker.yaml: replace CHANGE-ME in "
            "them, then check them with `slipway create manifests`");
  const std::string spec =
      ": error: spec.renderedImagePushSpec: still has CHANGE-ME (write where the image is stored, like "
      "registry.example.com/team/os:latest)\n";
  const std::string image =
      ": error: metadata.annotations: still has CHANGE-ME (write the image with its digest, like "
      "registry.example.com/team/os@sha256:...)\n";
  const auto of_secret = [](std::string_view role) {
    return fmt::format(
        "openshift/99_machineosconfig_secret_{0}.yaml:9:1: error: stringData: Secret machine-os-push-{0} still has CHANGE-ME "
        "(write the registry, and USER:PASSWORD in base64)",
        role);
  };
  const std::string master = "openshift/99_machineosconfig_master.yaml", worker = "openshift/99_machineosconfig_worker.yaml";
  const std::string secrets = of_secret("master") + "\n" + of_secret("worker") + "\n";
  EXPECT_EQ(checked_start({.target = Target::ignition_configs}) + "\n",
            "manifests: " + master + ":13:3" + spec + secrets + worker + ":13:3" + spec);
  EXPECT_EQ(checked_start({.mode = ImageMode::pre_built, .target = Target::cluster}) + "\n",
            "manifests: " + master + ":7:3" + image + master + ":16:3" + spec + secrets + worker + ":7:3" + image + worker +
                ":16:3" + spec);
}

TEST(ImageModeManifests, FilesToStartFromAreCheckedWhenTheUserHasBegunToCompleteThem) {
  UserFiles user;
  user.files["openshift/99_machineosconfig_secret_master.yaml"] =
      replaced(secret(), "name: push", "name: machine-os-push-master");
  const std::string message = checked_start({.user = user});
  EXPECT_NE(message.find("99_machineosconfig_secret_worker.yaml:9:1: error: stringData"), std::string::npos) << message;
  EXPECT_EQ(message.find("99_machineosconfig_secret_master.yaml"), std::string::npos) << message;
}

TEST(ImageModeManifests, FilesToStartFromNeedAPolicy) {
  const std::string message = checked_start({.mode = ImageMode::none});
  EXPECT_NE(message.find("openshift/99_machineosconfig_master.yaml:4:1: error: kind: MachineOSConfig has no effect"),
            std::string::npos)
      << message;
}

TEST(ImageModeManifests, FilesToStartFromAreCompleteOnLocalMachines) {
  EXPECT_EQ(checked_start({.platform = "{local: {}}", .target = Target::cluster}), "");
}

}  // namespace
}  // namespace slipway::assets
