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

std::string with_image(const std::string& text) {
  const std::string name = "metadata:\n";
  std::string changed = text;
  return changed.replace(changed.find(name), name.size(),
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

// The message about these manifests; the notes if they are right.
std::string checked(ImageMode mode, std::map<std::string, std::string> files, Target target = Target::ignition_configs,
                    const std::string& more = "compute: [{name: worker, replicas: 1}]\n") {
  config::InstallConfig config = testing_support::sample_config(
      "apiVersion: v1\nmetadata: {name: demo}\nbaseDomain: example.com\nplatform: {local: {}}\n" + more);
  config.image_mode = mode;
  testing_support::SampleGraph sample(config);
  UserFiles user;
  for (auto& [name, content] : files) user.files.emplace(name, std::move(content));
  sample.graph.put(std::move(user));
  const Result<std::vector<std::string>> result = check_image_mode(config, sample.get<ManifestSet>(), target);
  if (!result.ok()) return result.error().message();
  std::string notes;
  for (const std::string& note : result.value()) notes += note;
  return notes;
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
       "openshift/secret.yaml: error: Secret push has no login for registry.example.com/os/master, where openshift/os.yaml "
       "pushes to\n"
       "openshift/secret.yaml: error: Secret push has no login for registry.example.com/os/worker, where openshift/os.yaml "
       "pushes to"},
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

std::map<std::string, std::string> files_to_start_from(const std::string& platform) {
  const config::InstallConfig config = testing_support::sample_config(
      "apiVersion: v1\nmetadata: {name: demo}\nbaseDomain: example.com\npullSecret: "
      "'{\"auths\":{\"quay.io\":{\"auth\":\"YTpi\"}}}'\n"
      "compute: [{name: worker, replicas: 1}]\nplatform: " +
      platform);
  const AssetFiles files = machine_os_configs(config, {Secret("token"), Secret("other")}).value();
  std::map<std::string, std::string> all;
  for (const AssetFile& file : files) all.emplace(file.path, file.content);
  return all;
}

TEST(ImageModeManifests, FilesToStartFromAreRefusedUntilTheyAreComplete) {
  const std::string message = checked(ImageMode::build_on_bootstrap, files_to_start_from("{none: {}}"), Target::manifests);
  EXPECT_NE(message.find("openshift/99_machineosconfig_master.yaml:12:3: error: spec.renderedImagePushSpec: "), std::string::npos)
      << message;
  EXPECT_NE(message.find("Secret machine-os-push-master: the login for registry.example.com has neither auth"), std::string::npos)
      << message;
}

TEST(ImageModeManifests, FilesToStartFromAreCompleteOnLocalMachines) {
  EXPECT_EQ(checked(ImageMode::build_on_bootstrap, files_to_start_from("{local: {}}"), Target::cluster), "");
}

}  // namespace
}  // namespace slipway::assets
