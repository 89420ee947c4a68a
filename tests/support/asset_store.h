// A folder of assets whose files are in memory, for tests of the store.
#pragma once

#include "assets/store.h"

#include "assets/outputs.h"
#include "assets/user_files.h"
#include "base/digest.h"
#include "base/yaml.h"
#include "ignition/data_url.h"
#include "ignition/validate.h"
#include "support/memory_files.h"
#include "support/sample_assets.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace slipway::assets {

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

inline constexpr int for_ever = std::numeric_limits<int>::max();
inline constexpr std::string_view thing = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: mine\n";

// With this file no hash is computed, which would take longer than the rest of a test.
inline constexpr std::string_view password_hash_file = "tls/kubeadmin-password.hash";
inline constexpr std::string_view password_hash = "$2a$10$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

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

}  // namespace slipway::assets
