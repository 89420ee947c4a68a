// Targets: what they write, keep and consume.
#include "support/asset_store.h"

#include "kube/authorities.h"

#include <gtest/gtest.h>

#include <regex>

namespace slipway::assets {
namespace {

TEST_F(Store, ManifestsAreWrittenForTheUserAlone) {
  ASSERT_TRUE(manifests().ok());
  EXPECT_TRUE(exists("install-config.yaml"));
  for (const auto& [path, content] : tree()) {
    const auto info = files.info("/d/" + path).value();
    EXPECT_EQ(info->mode, 0600u) << path;
  }
  EXPECT_EQ(files.info("/d/manifests").value()->mode, 0700u);
}

TEST_F(Store, IgnitionConfigsConsumeTheManifestsAndKeepTheInstallConfig) {
  ASSERT_TRUE(manifests().ok());
  put("manifests/notes.txt", "not a manifest");
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(paths(), (std::vector<std::string>{".openshift_install_state.json", "auth/kubeadmin-password", "auth/kubeconfig",
                                               "bootstrap.ign", "install-config.yaml", "manifests/notes.txt", "master.ign",
                                               "metadata.json", "worker.ign"}));
  EXPECT_FALSE(exists("openshift"));
  EXPECT_EQ(files.info("/d/metadata.json").value()->mode, 0640u);
  EXPECT_EQ(files.info("/d/bootstrap.ign").value()->mode, 0600u);
  EXPECT_EQ(files.info("/d/auth/kubeconfig").value()->mode, 0600u);
  EXPECT_EQ(context.logged().back(), "warning: manifests/notes.txt: ignored, names of manifests end in .yaml, .yml or .json");
}

TEST_F(Store, TheClusterConsumesIgnitionConfigsAndLeavesWhatDestroyingNeeds) {
  ASSERT_TRUE(ignition_configs().ok());
  const Result<Assets> assets = cluster();
  ASSERT_TRUE(assets.ok()) << assets.error().message();
  EXPECT_EQ(paths(), (std::vector<std::string>{".openshift_install_state.json", "auth/kubeadmin-password", "auth/kubeconfig",
                                               "install-config.yaml", "metadata.json", "tls/journal-gatewayd.crt",
                                               "tls/journal-gatewayd.key"}));
  EXPECT_FALSE(ignition::validate(assets->bootstrap).has_errors());
  EXPECT_EQ(assets->auth[0].content, read("auth/kubeadmin-password"));
}

TEST_F(Store, TheSameCommandAgainChangesNothing) {
  using Step = std::function<Result<>()>;
  const std::vector<Step> steps = {[this] { return manifests(); }, [this] { return ignition_configs(); },
                                   [this]() -> Result<> {
                                     TRY(cluster());
                                     return Ok{};
                                   }};
  for (const Step& step : steps) {
    ASSERT_TRUE(step().ok());
    const Tree before = tree();
    ASSERT_TRUE(step().ok());
    EXPECT_EQ(changes_, 0);
    EXPECT_EQ(tree(), before);
  }
}

TEST_F(Store, EveryTargetHasTheSameKeys) {
  ASSERT_TRUE(manifests().ok());
  const State first = state();
  ASSERT_TRUE(ignition_configs().ok());
  const Result<Assets> assets = cluster();
  ASSERT_TRUE(assets.ok());
  EXPECT_EQ(assets->id, first.id);
  EXPECT_FALSE(first.tls.empty());
  for (const auto& [name, certificate] : first.tls) EXPECT_EQ(assets->tls.find(name)->second, certificate) << name;
  EXPECT_EQ(assets->machine_config_server_token, first.token.text);
  EXPECT_EQ(assets->kubeadmin_password, first.password.plain);
}

TEST_F(Store, ThatNobodyWantsKubeadminIsRemembered) {
  environment.no_kubeadmin = true;
  ASSERT_TRUE(manifests().ok());
  environment.no_kubeadmin = false;
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(on_bootstrap("openshift/99_kubeadmin-password-secret.yaml"), std::nullopt);
  EXPECT_FALSE(exists("auth/kubeadmin-password"));

  // Another cluster does not keep the choice.
  put("install-config.yaml", std::regex_replace(std::string(sample_install_config), std::regex("name: demo"), "name: other"));
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_TRUE(on_bootstrap("openshift/99_kubeadmin-password-secret.yaml"));
  EXPECT_TRUE(exists("auth/kubeadmin-password"));
}

// User data of aws has at most 16 KiB, and every bootstrap.ign is larger.
TEST_F(Store, WhatIsTooLargeForAMachineIsFetchedByOneThatIsNot) {
  const std::string user_data(user_data_file);
  environment.bootstrap_url = "https://storage.example.com/bootstrap.ign";
  const Result<> local = ignition_configs();
  ASSERT_FALSE(local.ok());
  EXPECT_NE(local.error().message().find("platform local does not limit the size of user data"), std::string::npos)
      << local.error().message();

  const auto put_config_of = [&](std::string_view platform) {
    std::string text(sample_install_config);
    put("install-config.yaml", text.replace(text.find("local: {}"), 9, platform));
  };
  put_config_of("aws: {region: us-east-1}\ncredentialsMode: Manual");
  ASSERT_TRUE(manifests().ok());
  EXPECT_FALSE(exists(user_data));
  environment.bootstrap_url.clear();  // the state file keeps it
  ASSERT_TRUE(ignition_configs().ok());
  const auto hash = [&] {
    return ignition::read_config(read(user_data), user_data)->config.ignition.config.replace.verification.hash.value_or("");
  };
  EXPECT_EQ(hash(), "sha256-" + sha256_hex(read("bootstrap.ign")));

  // The hash is that of the user's bootstrap.ign, including its formatting.
  put("bootstrap.ign", emit_json(parse_json(read("bootstrap.ign"), "bootstrap.ign").value(), JsonStyle::pretty));
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(hash(), "sha256-" + sha256_hex(read("bootstrap.ign")));

  // The file is removed if it is not needed.
  put_config_of("libvirt: {}");
  remove("bootstrap.ign");
  environment.bootstrap_url = "https://storage.example.com/bootstrap.ign";
  const Result<> libvirt = ignition_configs();
  ASSERT_TRUE(libvirt.ok()) << libvirt.error().message();
  EXPECT_FALSE(exists(user_data));
  EXPECT_TRUE(std::ranges::any_of(context.logged(), [](const std::string& line) {
    return line == "warning: bootstrap-user-data.ign: not needed, platform libvirt can pass bootstrap.ign to the machine";
  }));
}

TEST_F(Store, AKubeconfigThatTrustsTheRoutersIsStillOurs) {
  ASSERT_TRUE(cluster().ok());
  const std::string routers =
      net::make_certificate({.subject = {.common_name = "routers"}, .is_ca = true, .valid_for = Seconds(60)}, nullptr)
          .value()
          .pem;
  const std::string more = kube::add_authorities(read("auth/kubeconfig"), "kubeconfig", routers).value().value();
  put("auth/kubeconfig", more);
  ASSERT_TRUE(cluster().ok());
  EXPECT_EQ(read("auth/kubeconfig"), more);
  for (const std::string& line : context.logged()) EXPECT_EQ(line.find("auth/kubeconfig"), std::string::npos) << line;
}

TEST_F(Store, TheKeyOfTheBootstrapMachineCanBeHad) {
  EXPECT_FALSE(private_ssh_key(files, "/d").value());
  ASSERT_TRUE(ignition_configs().ok());
  const Secret key = private_ssh_key(files, "/d").value().value();
  EXPECT_NE(read("bootstrap.ign").find(net::authorized_key(key, "").value() + "\""), std::string::npos);
}

TEST_F(Store, AKubeconfigThatAnotherProgramChangedStays) {
  ASSERT_TRUE(cluster().ok());
  put("auth/kubeconfig", "mine");
  ASSERT_TRUE(cluster().ok());
  EXPECT_EQ(read("auth/kubeconfig"), "mine");
}

TEST_F(Store, TheUsersSigningKeyGoesAlong) {
  const Secret key = net::make_key().value();
  put("tls/bound-service-account-signing-key.key", key.reveal());
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(on_bootstrap("tls/bound-service-account-signing-key.key"), key.reveal());
  EXPECT_TRUE(on_bootstrap("tls/bound-service-account-signing-key.pub"));
}

TEST_F(Store, AStateOfAnotherProgramIsRefusedWithWhatToDo) {
  struct Case {
    std::string_view text;
    std::string_view words;
  };
  const Case cases[] = {
      {R"({"*installconfig.InstallConfig": {}, "*tls.RootCA": {}})",
       "written by openshift-install, and only openshift-install can continue"},
      {R"({"format": 2, "installConfig": ""})",
       "written by a newer version of this program (format 2, supported: 1; use the newer version)"},
      {R"({"format": 0})", "not written by this program: format: must be 1 (use another directory, or remove the file"},
      {R"({"format": 1})", "not written by this program: installConfig: missing, must be a string"},
      {"[]", "not written by this program"},
      {"{\"format\": 1,", ".openshift_install_state.json:1:14: "},
      {"", "restore the state file from a copy, or use another directory"},
  };
  for (const Case& c : cases) {
    put(std::string(state_file), c.text);
    const Tree before = tree();
    const Result<> made = manifests();
    ASSERT_FALSE(made.ok()) << c.text;
    EXPECT_EQ(made.error().code(), Code::invalid);
    EXPECT_NE(made.error().message().find(c.words), std::string::npos) << made.error().message();
    EXPECT_EQ(tree(), before);
  }
}

// A plan writes the user files of the state, so their paths must be those of manifests.
TEST_F(Store, AStateNamesNoFilesButManifests) {
  ASSERT_TRUE(manifests().ok());
  const State good = state();
  for (const std::string path :
       {"/etc/passwd", "manifests/../x", "manifests/a/b.yaml", "manifests/", "manifests/.a", "", "x.yaml"}) {
    State bad = good;
    bad.user.files[path] = "x";
    EXPECT_FALSE(parse_state(state_text(bad)).ok()) << path;
  }
}

TEST_F(Store, TheStateIsReadAsItWasWritten) {
  ASSERT_TRUE(manifests().ok());
  put("manifests/mine.yaml", thing);
  remove("manifests/kube-cloud-config.yaml");
  ASSERT_TRUE(ignition_configs().ok());
  const State read_back = state();
  EXPECT_EQ(state_text(read_back), read(std::string(state_file)));
  EXPECT_EQ(read_back.user.files.size(), 2u);
  EXPECT_EQ(read_back.target, Target::ignition_configs);
}

TEST_F(Store, ForgettingLeavesTheInstallConfigAlone) {
  ASSERT_TRUE(manifests().ok());
  ASSERT_TRUE(cluster().ok());
  put("manifests/mine.yaml", thing);
  ASSERT_TRUE(forget(files, "/d").ok());
  EXPECT_EQ(tree(),
            (Tree{{"install-config.yaml", std::string(sample_install_config)}, {"manifests/mine.yaml", std::string(thing)}}));
  EXPECT_FALSE(exists("auth"));
  ASSERT_TRUE(cluster().ok());
}

TEST_F(Store, ForgettingLeavesWhatTheUserMadeAmongWhatWasConsumed) {
  ASSERT_TRUE(manifests().ok());
  put("manifests/mine.yaml", thing);
  ASSERT_TRUE(run({.target = Target::ignition_configs, .consumes_install_config = true}).ok());
  ASSERT_TRUE(cluster().ok());
  ASSERT_TRUE(forget(files, "/d").ok());
  EXPECT_EQ(tree(), (Tree{{".slipway/consumed/install-config.yaml", std::string(sample_install_config)},
                          {".slipway/consumed/manifests/mine.yaml", std::string(thing)}}));
}

TEST_F(Store, WhatIsConsumedCanBeFoundAndIsNeverReadAgain) {
  ASSERT_TRUE(manifests().ok());
  put("manifests/mine.yaml", thing);
  Tree consumed;
  for (const auto& [path, content] : tree()) {
    if (is_manifest_path(path)) consumed.emplace(".slipway/consumed/" + path, content);
  }
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_GT(consumed.size(), 20u);
  for (const auto& [path, content] : consumed) EXPECT_EQ(read(path), content);
  for (const std::string folder : {".slipway", ".slipway/consumed", ".slipway/consumed/manifests"}) {
    EXPECT_EQ(files.info("/d/" + folder).value()->mode, 0700u) << folder;
  }
  put(".slipway/consumed/manifests/mine.yaml", "a: [1\n");
  put(".slipway/consumed/install-config.yaml", "a: [1\n");
  const std::string before = read("bootstrap.ign");
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(read("bootstrap.ign"), before);
}

// Scripts for openshift-install expect that install-config.yaml is consumed, and write it again if they need it.
TEST_F(Store, CalledAsTheOriginalItConsumesTheInstallConfig) {
  ASSERT_TRUE(run({.target = Target::manifests, .consumes_install_config = true}).ok());
  EXPECT_FALSE(exists("install-config.yaml"));
  EXPECT_EQ(read(".slipway/consumed/install-config.yaml"), sample_install_config);
  const State before = state();
  ASSERT_TRUE(run({.target = Target::ignition_configs, .consumes_install_config = true}).ok());
  EXPECT_EQ(state().id, before.id);
  put("install-config.yaml", sample_install_config);
  ASSERT_TRUE(run({.target = Target::ignition_configs, .consumes_install_config = true}).ok());
  EXPECT_EQ(state().id, before.id);
  EXPECT_FALSE(exists("install-config.yaml"));
}

TEST_F(Store, TheInstallConfigIsWrittenWithItsDefaultsAndTheUsersOwnStaysBeside) {
  ASSERT_TRUE(install_config().ok());
  EXPECT_EQ(made_.folders, std::vector<std::string>{"/d"});
  const std::string written = read("install-config.yaml");
  EXPECT_EQ(parse_yaml(written, "written")->value, testing_support::sample_config().effective);
  EXPECT_EQ(files.info("/d/install-config.yaml").value()->mode, 0600u);
  EXPECT_EQ(read(".slipway/consumed/install-config.yaml"), sample_install_config);
  EXPECT_FALSE(exists(std::string(state_file)));
  ASSERT_TRUE(install_config().ok());
  EXPECT_EQ(changes_, 0);

  // Later targets treat it as the same install-config.
  put("install-config.yaml", sample_install_config);
  ASSERT_TRUE(manifests().ok());
  const State before = state();
  ASSERT_TRUE(install_config().ok());
  EXPECT_EQ(state(), before);
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(state().id, before.id);

  // The copy in the state file is written again.
  remove("install-config.yaml");
  ASSERT_TRUE(install_config().ok());
  EXPECT_EQ(read("install-config.yaml"), written);
}

TEST_F(Store, AnInstallConfigThatWasAskedForIsWritten) {
  remove("install-config.yaml");
  EXPECT_EQ(install_config().error().code(), Code::not_found);
  const Folder folder{.path = "/d", .config = {testing_support::sample_config(), {}}};
  testing_support::SeededRandom random(1);
  ASSERT_TRUE(create_target(context.context(), files, random, folder, {}, {.target = Target::install_config}).ok());
  EXPECT_EQ(parse_yaml(read("install-config.yaml"), "written")->value, testing_support::sample_config().effective);
  EXPECT_EQ(paths(), std::vector<std::string>{"install-config.yaml"});
}

// Ignition configs do not contain cluster-api/, so `create ignition-configs` keeps the folder; `create cluster` consumes it.
TEST_F(Store, ClusterApiManifestsAreTheClustersAlone) {
  ASSERT_TRUE(manifests().ok());
  put("cluster-api/mine.yaml", thing);
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(read("cluster-api/mine.yaml"), thing);
  EXPECT_EQ(on_bootstrap("cluster-api/mine.yaml"), std::nullopt);
  put("cluster-api/mine.yaml", "a: [1\n");
  EXPECT_NE(ignition_configs().error().message().find("cluster-api/mine.yaml:2:1"), std::string::npos);
  put("cluster-api/mine.yaml", thing);
  ASSERT_TRUE(cluster().ok());
  EXPECT_FALSE(exists("cluster-api"));
  EXPECT_EQ(read(".slipway/consumed/cluster-api/mine.yaml"), thing);
}

constexpr std::string_view single_node_config = R"(apiVersion: v1
metadata: {name: demo}
baseDomain: example.com
platform: {none: {}}
controlPlane: {name: master, replicas: 1}
compute: [{name: worker, replicas: 0}]
bootstrapInPlace: {installationDisk: /dev/sda}
pullSecret: '{"auths":{"quay.io":{"auth":"cHVsbDpzZWNyZXQ="}}}'
)";

TEST_F(Store, ASingleNodeHasAConfigOfItsOwnAndConsumesTheOthers) {
  environment.nodes.clear();
  environment.key_type = net::KeyType::p256;
  put("install-config.yaml", single_node_config);
  ASSERT_TRUE(ignition_configs().ok());
  const std::string bootstrap = read("bootstrap.ign");
  const Result<> made = run({.target = Target::single_node_ignition_config});
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(paths(), (std::vector<std::string>{".openshift_install_state.json", "auth/kubeadmin-password", "auth/kubeconfig",
                                               "bootstrap-in-place-for-live-iso.ign", "install-config.yaml", "metadata.json",
                                               "worker.ign"}));
  EXPECT_EQ(read(".slipway/consumed/bootstrap.ign"), bootstrap);
  const auto config = ignition::read_config(read("bootstrap-in-place-for-live-iso.ign"), "config");
  EXPECT_TRUE(config.ok()) << config.error().message();
  ASSERT_TRUE(run({.target = Target::single_node_ignition_config}).ok());
  EXPECT_EQ(changes_, 0);
}

TEST_F(Store, ARefusedSingleNodeLeavesNothing) {
  const Tree before = tree();
  const Result<> made = run({.target = Target::single_node_ignition_config});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message().find("bootstrapInPlace"), std::string::npos) << made.error().message();
  EXPECT_EQ(tree(), before);
}

TEST_F(Store, TemplatesOfTheOriginalAreSaidToBeUnused) {
  put("templates/cluster-proxy-01-config.yaml", "x");
  ASSERT_TRUE(manifests().ok());
  EXPECT_EQ(context.logged().front(), "warning: templates/: ignored (edit the files that `create manifests` writes instead)");
}

TEST_F(Store, ATargetNamesItsFoldersAndHowLongTheConfigsCanBeUsed) {
  ASSERT_TRUE(manifests().ok());
  EXPECT_EQ(made_.folders, (std::vector<std::string>{"/d/manifests", "/d/openshift"}));
  EXPECT_EQ(made_.usable_until, std::nullopt);
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(made_.folders, (std::vector<std::string>{"/d", "/d/auth"}));
  ASSERT_TRUE(made_.usable_until);
  EXPECT_GT(made_.usable_until->until, environment.now);
  EXPECT_LT(made_.usable_until->until, environment.now + std::chrono::hours(24 * 31));
  EXPECT_EQ(usable_until(files, "/d").value(), made_.usable_until);
}

}  // namespace
}  // namespace slipway::assets
