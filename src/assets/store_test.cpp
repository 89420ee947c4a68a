#include "assets/store.h"

#include "assets/outputs.h"
#include "assets/user_files.h"
#include "base/digest.h"
#include "base/yaml.h"
#include "ignition/data_url.h"
#include "ignition/validate.h"
#include "kube/authorities.h"
#include "support/memory_files.h"
#include "support/sample_assets.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <regex>

namespace slipway::assets {
namespace {

using testing_support::MemoryFiles;
using testing_support::sample_environment;
using testing_support::sample_install_config;

// After::dead: all further changes fail, like after a kill. After::well: one change fails, like on a disk that is briefly full.
enum class After { dead, well };

// Forwards calls to other Files; after a number of changes, changes fail as After says.
class DyingFiles final : public sys::Files {
 public:
  DyingFiles(sys::Files& files, int changes, After after = After::dead) : files_(files), left_(changes), after_(after) {}

  Result<std::string> read(const std::string& path) override { return files_.read(path); }
  Result<> write(const std::string& path, std::string_view content, sys::Mode mode) override {
    TRY(change());
    return files_.write(path, content, mode);
  }
  Result<> append(const std::string& path, std::string_view content, sys::Mode mode) override {
    TRY(change());
    return files_.append(path, content, mode);
  }
  Result<std::optional<sys::FileInfo>> info(const std::string& path) override { return files_.info(path); }
  Result<std::vector<std::string>> list(const std::string& path) override { return files_.list(path); }
  Result<> make_directories(const std::string& path, sys::Mode mode) override {
    TRY(change());
    return files_.make_directories(path, mode);
  }
  Result<> rename(const std::string& from, const std::string& to) override {
    TRY(change());
    return files_.rename(from, to);
  }
  Result<> exchange(const std::string& one, const std::string& other) override {
    TRY(change());
    return files_.exchange(one, other);
  }
  Result<> remove(const std::string& path) override {
    TRY(change());
    return files_.remove(path);
  }

  int changes() const { return changes_; }

 private:
  Result<> change() {
    if (left_ == 0) {
      if (after_ == After::well) left_ = -1;
      return error(Code::unavailable, "no space");
    }
    --left_;
    ++changes_;
    return Ok{};
  }

  sys::Files& files_;
  int left_;  // changes before the failure; negative: no failure
  const After after_;
  int changes_ = 0;
};

constexpr int for_ever = std::numeric_limits<int>::max();
constexpr std::string_view thing = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: mine\n";

// With this file no hash is computed, which would take longer than the rest of a test.
constexpr std::string_view password_hash_file = "tls/kubeadmin-password.hash";
constexpr std::string_view password_hash = "$2a$10$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

using Tree = std::map<std::string, std::string>;

// A directory /d with an install-config. Each run of a target uses other random numbers.
class Store : public testing::Test {
 protected:
  Store() { put("install-config.yaml", sample_install_config); }

  Result<> install_config() { return run({.target = Target::install_config}); }
  Result<> manifests(int changes = for_ever) { return run({.target = Target::manifests}, changes); }
  Result<> ignition_configs(int changes = for_ever) { return run({.target = Target::ignition_configs}, changes); }
  Result<Assets> cluster(int changes = for_ever) {
    testing_support::SeededRandom random(++seed_);
    DyingFiles dying(files, changes);
    const Folder folder = TRY(open_folder(dying, "/d"));
    Result<Assets> assets = load_or_make(context.context(), dying, random, folder, environment);
    changes_ = dying.changes();
    return assets;
  }

  void put(const std::string& path, std::string_view content) { EXPECT_TRUE(files.write("/d/" + path, content, 0600).ok()); }
  void remove(const std::string& path) { EXPECT_TRUE(files.remove("/d/" + path).ok()); }
  std::string read(const std::string& path) { return files.read_if_exists("/d/" + path)->value_or("(not there)"); }
  bool exists(const std::string& path) { return files.info("/d/" + path)->has_value(); }
  State state() { return parse_state(read(std::string(state_file))).value(); }

  // Every file with its content.
  Tree tree(const std::string& folder = "/d") {
    Tree found;
    const std::vector<std::string> names = files.list(folder).value();
    for (const std::string& name : names) {
      const std::string path = folder + "/" + name;
      if (files.info(path)->value().kind == sys::FileKind::directory) {
        found.merge(tree(path));
      } else {
        found.emplace(path.substr(3), files.read(path).value());
      }
    }
    return found;
  }
  // All files outside of .slipway/.
  std::vector<std::string> paths() {
    std::vector<std::string> paths;
    for (const auto& [path, content] : tree()) {
      if (!path.starts_with(".slipway/")) paths.push_back(path);
    }
    return paths;
  }

  // The content of a file on the bootstrap machine; empty if there is no such file.
  std::optional<std::string> on_bootstrap(const std::string& path) {
    const ignition::Config config = ignition::read_config(read("bootstrap.ign"), "bootstrap.ign")->config;
    const auto file = std::ranges::find(config.storage.files, "/opt/openshift/" + path, &ignition::File::path);
    if (file == config.storage.files.end()) return std::nullopt;
    return ignition::decode_data_url(*file->contents.source).value();
  }

  Result<> run(const Request& request, int changes = for_ever, After after = After::dead) {
    testing_support::SeededRandom random(++seed_);
    DyingFiles dying(files, changes, after);
    const Folder folder = TRY(open_folder(dying, "/d"));
    const Result<TargetResult> result = create_target(context.context(), dying, random, folder, environment, request);
    changes_ = dying.changes();
    if (!result.ok()) return result.error();
    made_ = result.value();
    return Ok{};
  }
  // The plan of the next run().
  Result<Plan> preview(const Request& request) {
    testing_support::SeededRandom random(seed_ + 1);
    return plan_target(request, TRY(open_folder(files, "/d")), environment, random);
  }

  // A state of the directory before a target runs; `make` creates it.
  struct Situation {
    std::string name;
    std::function<void()> make;
    Request request;
  };
  std::vector<Situation> situations() {
    auto edit = [this] {
      ASSERT_TRUE(manifests().ok());
      put("manifests/mine.yaml", thing);
      put("cluster-api/mine.yaml", thing);
      put("manifests/cluster-network-02-config.yml", read("manifests/cluster-network-02-config.yml") + "# by hand\n");
      remove("manifests/kube-cloud-config.yaml");
    };
    auto change_config = [this] {
      std::string text(sample_install_config);
      put("install-config.yaml", text.replace(text.find("example.com"), 11, "example.org"));
    };
    return {
        {"config", [] {}, {.target = Target::install_config}},
        {"new", [] {}, {.target = Target::manifests}},
        {"new, all the way", [] {}, {.target = Target::ignition_configs}},
        {"edited", edit, {.target = Target::ignition_configs}},
        {"as the original", edit, {.target = Target::ignition_configs, .consumes_install_config = true}},
        {"brought back",
         [=, this] {
           edit();
           ASSERT_TRUE(ignition_configs().ok());
         },
         {.target = Target::manifests}},
        {"another config",
         [=, this] {
           ASSERT_TRUE(manifests().ok());
           ASSERT_TRUE(ignition_configs().ok());
           change_config();
         },
         {.target = Target::ignition_configs}},
        {"a newer release",
         [this] {
           environment.release_version = "0.1.0";
           ASSERT_TRUE(manifests().ok());
           environment.release_version = "0.2.0";
         },
         {.target = Target::manifests}},
        {"cluster",
         [=, this] {
           edit();
           ASSERT_TRUE(ignition_configs().ok());
         },
         {.target = Target::cluster}},
    };
  }

  MemoryFiles files;
  testing_support::TestContext context;
  Environment environment = sample_environment();
  int changes_ = 0;
  TargetResult made_;  // of the last run

 private:
  unsigned seed_ = 0;
};

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

// After a run the directory is exactly what the plan says, byte for byte.
TEST_F(Store, APlanIsWhatIsThenWritten) {
  environment.seed = Secret("the same in both");
  for (const Situation& situation : situations()) {
    ASSERT_TRUE(files.remove("/d").ok());
    put("install-config.yaml", sample_install_config);
    put(std::string(password_hash_file), password_hash);
    situation.make();
    Tree expected = tree();
    const Result<Plan> seen = preview(situation.request);
    ASSERT_TRUE(seen.ok()) << situation.name << ": " << seen.error().message();
    EXPECT_EQ(tree(), expected) << situation.name << ": a preview writes nothing";
    EXPECT_FALSE(seen->changes.empty()) << situation.name;
    for (const Change& change : seen->changes) {
      EXPECT_FALSE(change.why.empty()) << change.path;
      EXPECT_EQ(expected.contains(change.path), change.action != Action::add) << situation.name << " " << change.path;
      if (change.action == Action::consume) expected[fmt::format("{}/{}", consumed_folder, change.path)] = expected[change.path];
      if (change.action == Action::add || change.action == Action::change) {
        expected[change.path] = change.content;
      } else {
        expected.erase(change.path);
      }
    }
    if (seen->end) expected[std::string(state_file)] = state_text(*seen->end);
    ASSERT_TRUE(run(situation.request).ok()) << situation.name;
    EXPECT_EQ(tree(), expected) << situation.name;
    if (situation.request.target == Target::install_config || situation.request.consumes_install_config) continue;
    EXPECT_TRUE(preview(situation.request)->changes.empty()) << situation.name << ": done is done";
  }
}

// Each change in turn fails once, as on a disk that is briefly full: the run changes nothing, and the next run succeeds.
TEST_F(Store, ATargetThatCannotWriteLeavesNothingBehind) {
  environment.seed = Secret("the same each time");
  for (const Situation& situation : situations()) {
    ASSERT_TRUE(files.remove("/d").ok());
    put("install-config.yaml", sample_install_config);
    put(std::string(password_hash_file), password_hash);
    situation.make();
    const Tree before = tree();
    for (int at = 0;; ++at) {
      ASSERT_LT(at, 200);
      const Result<> made = run(situation.request, at, After::well);
      if (made.ok()) break;
      EXPECT_EQ(tree(), before) << situation.name << " " << at;
      EXPECT_NE(made.error().message().find("no space; all changes were undone"), std::string::npos) << made.error().message();
    }
  }
}

TEST_F(Store, WhereTakingBackFailsTooItSaysThatTheSameCommandContinues) {
  const Result<> made = manifests(5);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message().find("written files are kept (run the same command to continue)"), std::string::npos)
      << made.error().message();
  EXPECT_TRUE(manifests().ok());
}

// Usual order: manifests, user changes, Ignition configs, cluster. Each target is killed at every change in turn, then run again.
TEST_F(Store, AfterAKillAtAnyMomentTheSameCommandReachesTheSameEnd) {
  environment.seed = Secret("the same each time");
  put(std::string(password_hash_file), password_hash);
  const auto kill_everywhere = [&](auto step) {
    const Tree before = tree();
    ASSERT_TRUE(step(for_ever).ok());
    const Tree undisturbed = tree();
    for (int kill = 0;; ++kill) {
      ASSERT_LT(kill, 200);
      ASSERT_TRUE(files.remove("/d").ok());
      for (const auto& [path, content] : before) put(path, content);
      if (step(kill).ok()) return;
      ASSERT_TRUE(step(for_ever).ok()) << kill;
      ASSERT_EQ(tree(), undisturbed) << kill;
    }
  };
  kill_everywhere([&](int changes) { return manifests(changes); });
  put("manifests/mine.yaml", thing);
  remove("manifests/kube-cloud-config.yaml");
  kill_everywhere([&](int changes) { return ignition_configs(changes); });
  EXPECT_EQ(on_bootstrap("manifests/mine.yaml"), thing);
  kill_everywhere([&](int changes) -> Result<> {
    TRY(cluster(changes));
    return Ok{};
  });
}

// Kills a target that replaces the files of another install-config.
TEST_F(Store, AfterAKillDuringAChangeOfTheInstallConfigNothingOldIsLeft) {
  std::string other(sample_install_config);
  other.replace(other.find("example.com"), 11, "example.org");
  for (int kill = 0;; ++kill) {
    ASSERT_LT(kill, 100);
    ASSERT_TRUE(files.remove("/d").ok());
    put("install-config.yaml", sample_install_config);
    ASSERT_TRUE(manifests().ok());
    put("install-config.yaml", other);
    const bool whole = manifests(kill).ok();
    ASSERT_TRUE(manifests().ok()) << kill;
    const Tree end = tree();
    for (const auto& [path, content] : end) {
      EXPECT_EQ(content.find("demo.example.com"), std::string::npos) << kill << " " << path;
    }
    if (whole) break;
  }
}

}  // namespace
}  // namespace slipway::assets
