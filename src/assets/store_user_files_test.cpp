// Files and install-configs that users change, add and remove.
#include "support/asset_store.h"

#include <gtest/gtest.h>

namespace slipway::assets {
namespace {

TEST_F(Store, FilesOfTheUserAreHonouredOfWhateverKind) {
  ASSERT_TRUE(manifests().ok());
  put("manifests/mine.yml", thing);
  put("openshift/mine.json", R"({"apiVersion":"example.com/v1","kind":"Other","metadata":{"name":"mine"}})");
  const std::string changed = read("manifests/cluster-network-02-config.yml") + "  # by hand\n";
  put("manifests/cluster-network-02-config.yml", changed);
  remove("manifests/kube-cloud-config.yaml");
  ASSERT_TRUE(manifests().ok());  // keeps the user's changes
  EXPECT_FALSE(exists("manifests/kube-cloud-config.yaml"));
  EXPECT_EQ(read("manifests/cluster-network-02-config.yml"), changed);
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(on_bootstrap("manifests/mine.yml"), thing);
  EXPECT_TRUE(on_bootstrap("openshift/mine.json"));
  EXPECT_EQ(on_bootstrap("manifests/cluster-network-02-config.yml"), changed);
  EXPECT_EQ(on_bootstrap("manifests/kube-cloud-config.yaml"), std::nullopt);
  EXPECT_TRUE(on_bootstrap("manifests/cluster-dns-02-config.yml"));

  // The state file keeps the changes after the folders are consumed; `create manifests` restores them.
  const std::string before = read("bootstrap.ign");
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(read("bootstrap.ign"), before);
  ASSERT_TRUE(manifests().ok());
  EXPECT_EQ(read("manifests/mine.yml"), thing);
  EXPECT_EQ(read("manifests/cluster-network-02-config.yml"), changed);
  EXPECT_FALSE(exists("manifests/kube-cloud-config.yaml"));
}

class ImageModeStore : public Store {
 protected:
  ImageModeStore() {
    std::string text(sample_install_config);
    text.replace(text.find("replicas: 0"), 11, "replicas: 1");
    put("install-config.yaml", text + "imageMode: {policy: BuildOnBootstrap}\n");
  }

  Result<> with_machine_os_config() {
    environment.with_machine_os_config = true;
    Result<> result = manifests();
    environment.with_machine_os_config = false;
    return result;
  }

  const std::string master = "openshift/99_machineosconfig_master.yaml", worker = "openshift/99_machineosconfig_worker.yaml";
};

TEST_F(ImageModeStore, FilesToStartFromStayAndAreNotOverwritten) {
  ASSERT_TRUE(manifests().ok());
  EXPECT_FALSE(exists(master));
  EXPECT_FALSE(ignition_configs().ok());
  ASSERT_TRUE(with_machine_os_config().ok());
  const std::string made = read(worker), changed = read(master) + "      RUN true\n";
  put(master, changed);
  ASSERT_TRUE(manifests().ok());
  ASSERT_TRUE(with_machine_os_config().ok());
  EXPECT_EQ(read(master), changed);
  EXPECT_EQ(read(worker), made);
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(on_bootstrap(master), changed);
  EXPECT_EQ(on_bootstrap(worker), made);
  EXPECT_TRUE(on_bootstrap("openshift/99_machineosconfig_secret_worker.yaml"));
  EXPECT_EQ(on_bootstrap("image-mode.json"), R"({"policy":"BuildOnBootstrap"})");
}

TEST_F(ImageModeStore, RemovedFilesToStartFromAreWrittenAgainWhenAskedFor) {
  ASSERT_TRUE(with_machine_os_config().ok());
  const std::string made = read(master);
  remove(master);
  EXPECT_FALSE(manifests().ok());
  EXPECT_FALSE(exists(master));
  ASSERT_TRUE(with_machine_os_config().ok());
  EXPECT_EQ(read(master), made);
}

TEST_F(ImageModeStore, WithoutImageModeTheBootstrapMachineHasNoFileOfIt) {
  for (const char* more : {"", "imageMode: {policy: None}\n"}) {
    put("install-config.yaml", std::string(sample_install_config) + more);
    ASSERT_TRUE(ignition_configs().ok());
    EXPECT_EQ(on_bootstrap("image-mode.json"), std::nullopt);
  }
}

TEST_F(Store, WhatTheUserTakesBackIsTakenBack) {
  ASSERT_TRUE(manifests().ok());
  const std::string original = read("manifests/cluster-network-02-config.yml");
  put("manifests/cluster-network-02-config.yml", original + "  # by hand\n");
  put("manifests/mine.yaml", thing);
  ASSERT_TRUE(manifests().ok());
  put("manifests/cluster-network-02-config.yml", original);
  remove("manifests/mine.yaml");
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(on_bootstrap("manifests/cluster-network-02-config.yml"), original);
  EXPECT_EQ(on_bootstrap("manifests/mine.yaml"), std::nullopt);
  EXPECT_TRUE(state().user.files.empty());
}

TEST_F(Store, FilesThatWereThereBeforeAreHonouredToo) {
  put("manifests/mine.yaml", thing);
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(on_bootstrap("manifests/mine.yaml"), thing);
  EXPECT_FALSE(exists("manifests"));
}

TEST_F(Store, AFolderThatIsGoneSaysNothingAboutItsFiles) {
  ASSERT_TRUE(manifests().ok());
  remove("manifests");
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_TRUE(on_bootstrap("manifests/cluster-config.yaml"));
}

TEST_F(Store, AMissingFileOfThoseThatTheBootstrapReadsIsAnError) {
  ASSERT_TRUE(manifests().ok());
  remove("manifests/cluster-config.yaml");
  const Tree before = tree();
  EXPECT_EQ(ignition_configs().error().code(), Code::invalid);
  EXPECT_EQ(tree(), before);
}

TEST_F(Store, NothingIsWrittenWhenAFileOfTheUserIsBroken) {
  ASSERT_TRUE(manifests().ok());
  put("manifests/a.yaml", "a: [1\n");
  put("openshift/b.yaml", "apiVersion: config.openshift.io/v1\nkind: Proxy\nmetadata:\n  name: cluster\n");
  const Tree before = tree();
  for (const Result<>& result : {manifests(), ignition_configs()}) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code(), Code::invalid);
    EXPECT_NE(result.error().message().find("manifests/a.yaml:2:1"), std::string::npos) << result.error().message();
    EXPECT_NE(result.error().message().find("openshift/b.yaml:4:3"), std::string::npos) << result.error().message();
    EXPECT_EQ(context.logged().back(), "info: nothing was written to /d");
  }
  EXPECT_FALSE(cluster().ok());
  EXPECT_EQ(tree(), before);
}

TEST_F(Store, ABrokenInstallConfigWritesNothing) {
  put("install-config.yaml", "apiVersion: v1\nmetadata: {name: A_B}\n");
  EXPECT_EQ(manifests().error().code(), Code::invalid);
  EXPECT_EQ(paths(), std::vector<std::string>{"install-config.yaml"});
}

TEST_F(Store, AFolderWithoutAnInstallConfigIsSaidToBeOne) {
  remove("install-config.yaml");
  const Result<> made = manifests();
  EXPECT_EQ(made.error().code(), Code::not_found);
  EXPECT_NE(made.error().message().find("install-config.yaml"), std::string::npos);
}

TEST_F(Store, ARemovedInstallConfigIsRemembered) {
  ASSERT_TRUE(manifests().ok());
  const State before = state();
  remove("install-config.yaml");
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(state().id, before.id);
  put("install-config.yaml", sample_install_config);
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(state().id, before.id);
}

TEST_F(Store, AnotherInstallConfigMakesAnotherCluster) {
  ASSERT_TRUE(ignition_configs().ok());
  const State before = state();
  std::string text(sample_install_config);
  put("install-config.yaml", "# only a remark\n" + text);
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(state().id, before.id);
  put("install-config.yaml", text.replace(text.find("example.com"), 11, "example.org"));
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_NE(state().id, before.id);
  EXPECT_NE(state().tls, before.tls);
  EXPECT_NE(state().token, before.token);
  EXPECT_NE(read("master.ign").find("10.97.77.5"), std::string::npos);
  EXPECT_EQ(context.logged().back(),
            "warning: install-config.yaml: differs from the one that the existing files were generated from; the cluster gets "
            "new IDs, keys and passwords");
}

TEST_F(Store, AnotherInstallConfigReplacesManifestsOfOursAndKeepsAdditions) {
  ASSERT_TRUE(manifests().ok());
  put("manifests/mine.yaml", thing);
  std::string text(sample_install_config);
  put("install-config.yaml", text.replace(text.find("example.com"), 11, "example.org"));
  ASSERT_TRUE(manifests().ok());
  EXPECT_NE(read("manifests/cluster-dns-02-config.yml").find("demo.example.org"), std::string::npos);
  EXPECT_EQ(read("manifests/mine.yaml"), thing);
}

TEST_F(Store, AnotherInstallConfigLeavesNoManifestBehindThatItDoesNotHave) {
  environment.nodes.clear();
  put("install-config.yaml",
      std::string(sample_install_config) + "imageDigestSources:\n- {source: quay.io/a, mirrors: [mirror.example.com/a]}\n");
  ASSERT_TRUE(manifests().ok());
  ASSERT_TRUE(exists("manifests/image-digest-mirror-set.yaml"));
  put("install-config.yaml", sample_install_config);
  ASSERT_TRUE(manifests().ok());
  EXPECT_FALSE(exists("manifests/image-digest-mirror-set.yaml"));
}

TEST_F(Store, AnotherInstallConfigNeverOverwritesChangesByHand) {
  ASSERT_TRUE(manifests().ok());
  put("manifests/cluster-dns-02-config.yml", read("manifests/cluster-dns-02-config.yml") + "# by hand\n");
  std::string text(sample_install_config);
  put("install-config.yaml", text.replace(text.find("example.com"), 11, "example.org"));
  const Tree before = tree();
  for (const Result<>& result : {manifests(), ignition_configs()}) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code(), Code::conflict);
    EXPECT_NE(result.error().message().find("manifests/cluster-dns-02-config.yml"), std::string::npos);
  }
  EXPECT_EQ(tree(), before);
  remove("manifests/cluster-dns-02-config.yml");
  EXPECT_TRUE(manifests().ok());
}

TEST_F(Store, AFolderThatHasAClusterTakesNoOtherInstallConfig) {
  ASSERT_TRUE(cluster().ok());
  ASSERT_TRUE(manifests().ok());
  std::string text(sample_install_config);
  put("install-config.yaml", text.replace(text.find("example.com"), 11, "example.org"));
  const Tree before = tree();
  EXPECT_EQ(manifests().error().code(), Code::conflict);
  EXPECT_EQ(cluster().error().code(), Code::conflict);
  EXPECT_EQ(tree(), before);
}

TEST_F(Store, FilesOfAForgottenStateAreNotTakenForItsSuccessors) {
  ASSERT_TRUE(ignition_configs().ok());
  remove(std::string(state_file));
  const Tree before = tree();
  const Result<> result = ignition_configs();
  EXPECT_EQ(result.error().code(), Code::conflict);
  EXPECT_NE(result.error().message().find("bootstrap.ign"), std::string::npos);
  EXPECT_EQ(tree(), before);
}

TEST_F(Store, AChangedIgnitionConfigIsTheOneThatMachinesGet) {
  ASSERT_TRUE(ignition_configs().ok());
  const std::string mine = R"({"ignition":{"version":"3.2.0"},"systemd":{"units":[{"name":"mine.service","enabled":false}]}})";
  put("worker.ign", mine);
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(read("worker.ign"), mine);
  const Result<Assets> assets = cluster();
  ASSERT_TRUE(assets.ok());
  EXPECT_EQ(assets->worker.systemd.units.at(0).name, "mine.service");
  EXPECT_EQ(read("worker.ign"), mine);
  EXPECT_FALSE(exists("master.ign"));
  const Result<Assets> again = cluster();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->worker, assets->worker);
}

TEST_F(Store, ABrokenIgnitionConfigOfTheUserIsSaidWithItsPlace) {
  ASSERT_TRUE(ignition_configs().ok());
  put("worker.ign", R"({"ignition":{"version":"9.9.9"}})");
  const Result<Assets> assets = cluster();
  ASSERT_FALSE(assets.ok());
  EXPECT_TRUE(assets.error().message().starts_with("worker.ign:1:")) << assets.error().message();
}

TEST_F(Store, TheBootstrapMachineIsToldOfAChangedPointer) {
  ASSERT_TRUE(ignition_configs().ok());
  const std::string path = "openshift/99_openshift-installer-ignition_worker.yaml";
  EXPECT_EQ(on_bootstrap(path), std::nullopt);
  Json config = parse_json(read("worker.ign"), "worker.ign").value();
  config.get_object()["storage"] =
      parse_json(R"({"files": [{"path": "/etc/mine", "contents": {"source": "data:,mine"}}]})", "storage").value();
  const std::string mine = emit_json(config, JsonStyle::compact);
  put("worker.ign", mine);
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(read("worker.ign"), mine);
  EXPECT_NE(on_bootstrap(path).value_or("").find("/etc/mine"), std::string::npos) << on_bootstrap(path).value_or("");
}

// openshift-install ignores edits of cluster-config.yaml and restores removed user-data Secrets from its state file.
TEST_F(Store, OneRuleHoldsForEveryManifest) {
  ASSERT_TRUE(manifests().ok());
  const std::string edited = read("manifests/cluster-config.yaml") + "# by hand\n";
  put("manifests/cluster-config.yaml", edited);
  for (const std::string role : {"master", "worker"})
    remove(fmt::format("openshift/99_openshift-cluster-api_{}-user-data-secret.yaml", role));
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(on_bootstrap("manifests/cluster-config.yaml"), edited);
  for (const std::string role : {"master", "worker"}) {
    EXPECT_EQ(on_bootstrap(fmt::format("openshift/99_openshift-cluster-api_{}-user-data-secret.yaml", role)), std::nullopt);
  }
  EXPECT_FALSE(exists("openshift"));
  EXPECT_FALSE(exists("manifests"));
}

}  // namespace
}  // namespace slipway::assets
