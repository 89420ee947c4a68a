#include "machineconfig/served_config.h"

#include "ignition/data_url.h"
#include "ignition/validate.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::machineconfig {
namespace {

TEST(AcceptedVersion, IsWhatTheMachineAsksFor) {
  struct Case {
    const char* accept;
    const char* version;  // "": refused
  };
  for (const Case& c : {
           Case{"application/vnd.coreos.ignition+json;version=3.3.0, */*;q=0.1", "3.3.0"},
           Case{"application/vnd.coreos.ignition+json; version=3.1.0; q=0.5, application/vnd.coreos.ignition+json;version=3.4.0",
                "3.4.0"},
           Case{"application/vnd.coreos.ignition+json;version=\"3.2.0\"", "3.2.0"},
           Case{"application/vnd.coreos.ignition+json;version=3.0.0", "3.0.0"},
           Case{"application/vnd.coreos.ignition+json;version=3.6.0", "3.5.0"},
           Case{"application/vnd.coreos.ignition+json;version=3.41.7", "3.5.0"},
           Case{"", "3.2.0"},
           Case{"*/*", "3.2.0"},
           Case{"application/json", "3.2.0"},
           Case{"application/vnd.coreos.ignition+json", "3.2.0"},
           // Only the first entry counts, as in OpenShift's server.
           Case{"application/vnd.coreos.ignition+json;version=4.0.0, application/vnd.coreos.ignition+json;version=3.2.0;q=0.1",
                ""},
           Case{"application/vnd.coreos.ignition+json;version=2.2.0;q=nan, "
                "application/vnd.coreos.ignition+json;version=3.1.0;q=0.1",
                "3.1.0"},
           Case{"application/vnd.coreos.ignition+json;version=2.2.0", ""},
           Case{"application/vnd.coreos.ignition+json;version=2.1.0", ""},
           Case{"application/vnd.coreos.ignition+json;version=3.x.0", ""},
           Case{"application/vnd.coreos.ignition+json;version=3", ""},
       }) {
    const Result<ignition::Version> version = accepted_version(c.accept);
    EXPECT_EQ(version.ok() ? to_string(version.value()) : "", c.version) << c.accept;
  }
}

MachineConfig sample() {
  MachineConfig config{.name = "rendered-master-1", .os_image_url = "os@sha256:1", .kernel_arguments = {"quiet"}};
  config.config.ignition.version = ignition::newest_version;
  return config;
}

const ControllerConfig controller{.version = "1", .kubelet_client_ca = "the CA\n"};

Json json_of(const ignition::Config& config, std::string_view path) {
  for (const ignition::File& file : config.storage.files) {
    if (file.path == path) return parse_json(ignition::decode_data_url(*file.contents.source).value(), path).value();
  }
  ADD_FAILURE() << path << " is not there";
  return nullptr;
}

TEST(ServedConfig, HasWhatOnlyTheServerKnows) {
  const ignition::Config served = served_config(sample(), controller, {Secret("kubeconfig")}, ignition::Version::v3_2).value();
  EXPECT_TRUE(ignition::validate(served).empty());
  std::vector<std::pair<std::string, std::int64_t>> files;
  for (const ignition::File& file : served.storage.files) {
    files.emplace_back(file.path, file.mode.value_or(0));
    EXPECT_EQ(file.overwrite, true);
  }
  EXPECT_EQ(files, (std::vector<std::pair<std::string, std::int64_t>>{{"/etc/kubernetes/kubelet-ca.crt", 0644},
                                                                      {"/etc/machine-config-daemon/node-annotations.json", 0644},
                                                                      {"/etc/kubernetes/kubeconfig", 0600},
                                                                      {"/etc/mcs-machine-config-content.json", 0600},
                                                                      {"/etc/ignition-machine-config-encapsulated.json", 0644}}));
  const Json annotations = json_of(served, "/etc/machine-config-daemon/node-annotations.json");
  EXPECT_EQ(annotations.as_object().size(), 4u);
  EXPECT_EQ(find_string(annotations, {"machineconfiguration.openshift.io/desiredConfig"}), "rendered-master-1");
}

TEST(ServedConfig, AMachineLearnsHowToAskAgain) {
  const ConfigServerAccess access = {"https://api-int.demo.example.com:22623/config/worker", "CA\n", Secret("t0ken")};
  const ignition::Config served = served_config(sample(), controller, {Secret("k"), access}, ignition::Version::v3_2).value();
  const auto file = std::ranges::find(served.storage.files, config_server_file, &ignition::File::path);
  ASSERT_NE(file, served.storage.files.end());
  EXPECT_EQ(file->mode, 0600);
  const std::string text = ignition::decode_data_url(*file->contents.source).value();
  EXPECT_EQ(parse_config_server_access(text, "file").value(), access);
  EXPECT_EQ(parse_config_server_access(R"({"url":"https://x"})", "file").error().code(), Code::invalid);
}

TEST(ServedConfig, TheFirstBootLearnsEverythingButTheIgnitionPart) {
  const ignition::Config served = served_config(sample(), controller, {Secret("k")}, ignition::Version::v3_2).value();
  const Json encapsulated = json_of(served, "/etc/ignition-machine-config-encapsulated.json");
  EXPECT_EQ(find_string(encapsulated, {"spec", "osImageURL"}), "os@sha256:1");
  EXPECT_EQ(find_array(encapsulated, {"spec", "kernelArguments"}), JsonArray{"quiet"});
  EXPECT_EQ(*find(encapsulated, {"spec", "config"}), (Json{{"ignition", {{"version", "3.5.0"}}}}));
}

TEST(ServedConfig, AnImageIsKnownToTheFirstBootAndTheNode) {
  const std::string image = "registry.example.com/team/os@sha256:" + std::string(64, 'a');
  const OsImageSource source = {image, "api-int.demo.example.com:22623", "CA\n", "slipway", Secret("t0ken")};
  const std::string annotations_file = "/etc/machine-config-daemon/node-annotations.json";
  for (const bool with_source : {false, true}) {
    const ServedImage served_image = {image, with_source ? std::optional(source) : std::nullopt};
    const ignition::Config served =
        served_config(sample(), controller, {Secret("k")}, ignition::Version::v3_2, served_image).value();
    const Json annotations = json_of(served, annotations_file);
    EXPECT_EQ(annotations.as_object().size(), 6u);
    EXPECT_EQ(find_string(annotations, {"machineconfiguration.openshift.io/currentImage"}), image);
    EXPECT_EQ(find_string(annotations, {"machineconfiguration.openshift.io/desiredImage"}), image);
    EXPECT_EQ(find_string(annotations, {"machineconfiguration.openshift.io/currentConfig"}), "rendered-master-1");
    const Json first = json_of(served, "/etc/ignition-machine-config-encapsulated.json");
    EXPECT_EQ(find_string(first, {"spec", "osImageURL"}), image);
    EXPECT_EQ(find_string(first, {"metadata", "name"}), "rendered-master-1");
    EXPECT_EQ(find_string(json_of(served, "/etc/mcs-machine-config-content.json"), {"spec", "osImageURL"}), "os@sha256:1");
    const auto file = std::ranges::find(served.storage.files, os_image_source_file, &ignition::File::path);
    ASSERT_EQ(file != served.storage.files.end(), with_source);
    if (!with_source) continue;
    EXPECT_EQ(file->mode, 0600);
    EXPECT_EQ(parse_os_image_source(ignition::decode_data_url(*file->contents.source).value(), "file").value(), source);
  }
}

TEST(ServedConfig, KernelArgumentsOfIgnitionMoveWhereIgnitionHasNone) {
  MachineConfig config = sample();
  config.config.kernel_arguments.should_exist = {"nosmt"};
  const ignition::Config old = served_config(config, controller, {Secret("k")}, ignition::Version::v3_2).value();
  EXPECT_TRUE(old.kernel_arguments.should_exist.empty());
  EXPECT_EQ(find_array(json_of(old, "/etc/ignition-machine-config-encapsulated.json"), {"spec", "kernelArguments"}),
            (JsonArray{"quiet", "nosmt"}));
  EXPECT_EQ(served_config(config, controller, {Secret("k")}, ignition::Version::v3_3)->kernel_arguments.should_exist.size(), 1u);
  config.config.kernel_arguments.should_not_exist = {"quiet"};
  EXPECT_EQ(served_config(config, controller, {Secret("k")}, ignition::Version::v3_2).error().code(), Code::invalid);
}

TEST(ServedConfig, SaysWhatAnOlderIgnitionCannotDo) {
  MachineConfig config = sample();
  config.config.storage.luks.push_back({.name = "l", .device = "/dev/x", .discard = true});
  const Result<ignition::Config> served = served_config(config, controller, {Secret("k")}, ignition::Version::v3_3);
  ASSERT_FALSE(served.ok());
  EXPECT_NE(served.error().message().find("discard"), std::string::npos);
}

}  // namespace
}  // namespace slipway::machineconfig
