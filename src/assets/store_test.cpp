#include "assets/store.h"

#include "assets/plan.h"
#include "base/yaml.h"
#include "ignition/data_url.h"
#include "ignition/validate.h"
#include "support/memory_files.h"
#include "support/sample_assets.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace slipway::assets {
namespace {

using testing_support::MemoryFiles;
using testing_support::sample_environment;
using testing_support::sample_install_config;

// Passes everything on until so many changes were made, then every change fails: what is left behind is what a kill leaves.
class DyingFiles final : public sys::Files {
 public:
  DyingFiles(sys::Files& files, int changes) : files_(files), left_(changes) {}

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
    if (left_ == 0) return error(Code::internal, "killed");
    --left_;
    ++changes_;
    return Ok{};
  }

  sys::Files& files_;
  int left_;
  int changes_ = 0;
};

constexpr int for_ever = std::numeric_limits<int>::max();
constexpr std::string_view thing = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: mine\n";

using Tree = std::map<std::string, std::string>;

// A folder /d with an install-config, and the program that is run in it again and again, each time with other random numbers.
class Store : public testing::Test {
 protected:
  Store() { put("install-config.yaml", sample_install_config); }

  Result<> manifests(int changes = for_ever) { return run(create_manifests, changes); }
  Result<> ignition_configs(int changes = for_ever) { return run(create_ignition_configs, changes); }
  Result<Assets> cluster(int changes = for_ever) {
    testing_support::SeededRandom random(++seed_);
    DyingFiles dying(files, changes);
    Result<Assets> assets = load_or_make(context.context(), dying, random, "/d", environment);
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
  std::vector<std::string> paths() {
    std::vector<std::string> paths;
    for (const auto& [path, content] : tree()) paths.push_back(path);
    return paths;
  }

  // The content of a file on the bootstrap machine; nothing when it is not there.
  std::optional<std::string> on_bootstrap(const std::string& path) {
    const ignition::Config config = ignition::read_config(read("bootstrap.ign"), "bootstrap.ign")->config;
    const auto file = std::ranges::find(config.storage.files, "/opt/openshift/" + path, &ignition::File::path);
    if (file == config.storage.files.end()) return std::nullopt;
    return ignition::decode_data_url(*file->contents.source).value();
  }

  MemoryFiles files;
  testing_support::TestContext context;
  Environment environment = sample_environment();
  int changes_ = 0;

 private:
  using Create = Result<> (*)(const sys::Context&, sys::Files&, sys::Random&, const std::string&, const Environment&);

  Result<> run(Create create, int changes) {
    testing_support::SeededRandom random(++seed_);
    DyingFiles dying(files, changes);
    Result<> result = create(context.context(), dying, random, "/d", environment);
    changes_ = dying.changes();
    return result;
  }

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
  EXPECT_EQ(context.logged().back(), "warning: manifests/notes.txt is not used: manifests end in .yaml, .yml or .json");
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
  EXPECT_EQ(assets->tls, first.tls);
  EXPECT_EQ(assets->machine_config_server_token, first.token.text);
  EXPECT_EQ(assets->kubeadmin_password, first.password.plain);
}

TEST_F(Store, FilesOfTheUserAreHonouredOfWhateverKind) {
  ASSERT_TRUE(manifests().ok());
  put("manifests/mine.yml", thing);
  put("openshift/mine.json", R"({"apiVersion":"example.com/v1","kind":"Other","metadata":{"name":"mine"}})");
  const std::string changed = read("manifests/cluster-network-02-config.yml") + "  # by hand\n";
  put("manifests/cluster-network-02-config.yml", changed);
  remove("manifests/kube-cloud-config.yaml");
  ASSERT_TRUE(manifests().ok());  // in between, which takes nothing back
  EXPECT_FALSE(exists("manifests/kube-cloud-config.yaml"));
  EXPECT_EQ(read("manifests/cluster-network-02-config.yml"), changed);
  ASSERT_TRUE(ignition_configs().ok());
  EXPECT_EQ(on_bootstrap("manifests/mine.yml"), thing);
  EXPECT_TRUE(on_bootstrap("openshift/mine.json"));
  EXPECT_EQ(on_bootstrap("manifests/cluster-network-02-config.yml"), changed);
  EXPECT_EQ(on_bootstrap("manifests/kube-cloud-config.yaml"), std::nullopt);
  EXPECT_TRUE(on_bootstrap("manifests/cluster-dns-02-config.yml"));

  // They are remembered after the folders are gone, and come back with them.
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
  EXPECT_EQ(
      context.logged().back(),
      "warning: install-config.yaml is not the one that the files of before were made of: the cluster gets new ids, keys and "
      "passwords");
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

TEST_F(Store, AStateOfAnotherProgramIsRefused) {
  put(std::string(state_file), R"({"*installconfig.InstallConfig": {}})");
  const Result<> made = manifests();
  EXPECT_EQ(made.error().code(), Code::invalid);
  EXPECT_NE(made.error().message().find("remove the file to begin anew"), std::string::npos);
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
  EXPECT_EQ(paths(), (std::vector<std::string>{"install-config.yaml", "manifests/mine.yaml"}));
  EXPECT_FALSE(exists("auth"));
  ASSERT_TRUE(cluster().ok());
}

// The order of people: manifests, their changes, Ignition configs, cluster. Killed at every change in turn, then run again.
TEST_F(Store, AfterAKillAtAnyMomentTheSameCommandReachesTheSameEnd) {
  for (int kill = 0, kills = 1; kill < kills; ++kill) {
    ASSERT_TRUE(files.remove("/d").ok());
    put("install-config.yaml", sample_install_config);
    int left = kill;
    auto until_it_works = [&](auto step) {
      const Result<> first = step(left);
      left -= std::min(left, changes_);
      if (first.ok()) return;
      left = for_ever;  // killed once, in this step
      const Result<> second = step(for_ever);
      ASSERT_TRUE(second.ok()) << kill << ": " << second.error().message();
    };
    until_it_works([&](int changes) { return manifests(changes); });
    const State first = state();
    EXPECT_TRUE(first.complete);
    put("manifests/mine.yaml", thing);
    remove("manifests/kube-cloud-config.yaml");
    until_it_works([&](int changes) { return ignition_configs(changes); });
    EXPECT_EQ(on_bootstrap("manifests/mine.yaml"), thing) << kill;
    EXPECT_EQ(on_bootstrap("manifests/kube-cloud-config.yaml"), std::nullopt) << kill;
    EXPECT_TRUE(on_bootstrap("manifests/cluster-proxy-01-config.yaml")) << kill;
    EXPECT_FALSE(exists("manifests")) << kill;
    until_it_works([&](int changes) -> Result<> {
      TRY(cluster(changes));
      return Ok{};
    });
    EXPECT_EQ(state().id, first.id) << kill;
    EXPECT_EQ(state().tls, first.tls) << kill;
    EXPECT_TRUE(state().complete) << kill;
    EXPECT_EQ(paths().size(), 7u) << kill;
    if (left != for_ever) break;  // the whole way without being killed
    kills = kill + 2;
    ASSERT_LT(kills, 200);
  }
}

// The same for another install-config over the files of the first.
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
