#include "assets/plan.h"

#include "assets/graph.h"
#include "assets/pointer.h"
#include "assets/user_files.h"
#include "base/digest.h"
#include "base/text.h"
#include "ignition/validate.h"

#include <algorithm>
#include <array>

namespace slipway::assets {

namespace {

using Contents = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view config_file = "install-config.yaml";
constexpr std::string_view signing_key_file = "tls/bound-service-account-signing-key.key";

struct ConfigFile {
  std::string_view path;
  ignition::Config Assets::*member;
};
constexpr std::array<ConfigFile, 3> config_files = {
    {{"bootstrap.ign", &Assets::bootstrap}, {"master.ign", &Assets::master}, {"worker.ign", &Assets::worker}}};

const std::string& config_text(const Snapshot& folder, const State* state) {
  const auto found = folder.find(config_file);
  return found != folder.end() ? found->second : state->install_config;
}

// An install-config that this program no longer reads is another one.
bool is_same(const config::InstallConfig& config, std::string_view earlier) {
  const Result<config::Loaded> before = config::load_install_config(earlier, state_file);
  return before.ok() && before->config.effective == config.effective;
}

// One target at work; holds what its steps share.
class Planner {
 public:
  Planner(Target target, const Snapshot& folder, const std::optional<State>& state)
      : target_(target), folder_(folder), before_(state) {}

  Result<Plan> run(const Environment& environment, sys::Random& random) {
    config::Loaded loaded = TRY(config_of(folder_, before_));
    for (const Finding& finding : loaded.warnings.all()) plan_.warnings.push_back(to_string(finding));
    is_new_ = !before_ || !is_same(loaded.config, before_->install_config);
    if (is_new_ && before_) TRY(leave(loaded.config));

    graph_.put(std::move(loaded.config));
    graph_.put(environment);
    graph_.put(Randomness{&random});
    graph_.put(KeptTls{is_new_ ? Tls{} : before_->tls});
    const auto key = folder_.find(signing_key_file);
    graph_.put(UserSigningKey{key == folder_.end() ? std::nullopt : std::optional(Secret(key->second))});
    if (!is_new_) {
      graph_.put(before_->id);
      graph_.put(before_->password);
      graph_.put(before_->token);
    }
    TRY(judge_manifests());
    TRY(target_ == Target::manifests ? write_manifests() : write_outputs());
    TRY(conflicts());
    TRY(finish());
    return std::move(plan_);
  }

 private:
  Result<> leave(const config::InstallConfig& config) {
    if (before_->has_cluster) {
      return error(Code::conflict,
                   "{} is not the one that cluster {} was made of: destroy that cluster first, put its install-config back, or "
                   "use another folder for {}",
                   config_file, before_->id.infra_id, config.name);
    }
    plan_.warnings.push_back(fmt::format(
        "{} is not the one that the files of before were made of: the cluster gets new ids, keys and passwords", config_file));
    return Ok{};
  }

  Written written() const { return before_ ? before_->written : Written{}; }

  Result<> judge_manifests() {
    const CommonManifests* common = TRY(graph_.get<CommonManifests>());
    const OpenshiftManifests* openshift = TRY(graph_.get<OpenshiftManifests>());
    for (const AssetFiles* files : {&common->files, &openshift->files}) {
      for (const AssetFile& file : *files) generated_.emplace(file.path, file.content);
    }
    UserFiles user = find_user_files(folder_, before_, generated_);
    if (is_new_) {
      for (auto each = user.files.begin(); each != user.files.end();) {
        const bool is_added = each->second && !generated_.contains(each->first);
        if (!each->second) plan_.warnings.push_back(fmt::format("{}, which you had removed, is made anew", each->first));
        if (each->second && !is_added) changed_.push_back(each->first);
        each = is_added ? std::next(each) : user.files.erase(each);
      }
    }
    plan_.end.user = user;
    graph_.put(std::move(user));
    set_ = TRY(graph_.get<ManifestSet>());
    // Files of ours that this install-config does not have, from one that did.
    for (const auto& [path, content] : folder_) {
      if (is_manifest_path(path) && !generated_.contains(path) && is_ours(written(), path, content)) {
        plan_.removes.push_back(path);
      }
    }
    return Ok{};
  }

  Result<> write_manifests() {
    Contents wanted;
    for (const AssetFile& file : set_->files) wanted.emplace(file.path, file.content);
    for (const auto& [path, content] : wanted) {
      const auto found = folder_.find(path);
      if (found == folder_.end() || found->second != content) plan_.writes.push_back({path, content});
    }
    for (const auto& [path, content] : generated_) {
      if (wanted.contains(path)) remember(path, content);
    }
    return Ok{};
  }

  Result<> write_outputs() {
    plan_.assets = *TRY(graph_.get<Assets>());
    Assets& assets = *plan_.assets;
    for (const AssetFile& file : assets.auth) write_unless_changed(file);
    write_unless_changed({"metadata.json", emit_json(assets.metadata, JsonStyle::compact)});
    if (target_ == Target::cluster) {
      const net::Certificate& gateway = assets.tls.find("journal-gatewayd")->second;
      write_unless_changed({"tls/journal-gatewayd.crt", gateway.pem});
      write_unless_changed({"tls/journal-gatewayd.key", gateway.key.reveal()});
    }
    for (const ConfigFile& row : config_files) {
      AssetFile file{std::string(row.path), ignition_text(assets.*row.member)};
      const auto found = folder_.find(file.path);
      const bool is_users =
          found != folder_.end() && found->second != file.content && !is_ours(written(), file.path, found->second);
      if (is_users && !is_new_) assets.*row.member = TRY(ignition::read_config(found->second, file.path)).config;
      if (target_ == Target::ignition_configs || is_users) {
        write_unless_changed(file);
      } else if (found != folder_.end()) {
        plan_.removes.push_back(file.path);
      }
    }
    for (const auto& [path, content] : folder_) {
      const bool is_listed = std::find(plan_.removes.begin(), plan_.removes.end(), path) != plan_.removes.end();
      if (is_manifest_path(path) && !is_listed) plan_.removes.push_back(path);
    }
    return Ok{};
  }

  void remember(const std::string& path, std::string_view content) { plan_.end.written[path] = {sha256_hex(content)}; }

  void write_unless_changed(const AssetFile& file) {
    const auto found = folder_.find(file.path);
    const bool is_there = found != folder_.end();
    if (is_there && found->second != file.content && !is_ours(written(), file.path, found->second)) {
      if (is_new_) {
        changed_.push_back(file.path);
      } else {
        plan_.warnings.push_back(fmt::format("{} is not as it was written: it stays as you changed it", file.path));
      }
    } else if (!is_there || found->second != file.content) {
      plan_.writes.push_back(file);
    }
    remember(file.path, file.content);
  }

  // Nothing of the user's is overwritten, and nothing that belongs to other keys is used.
  Result<> conflicts() {
    if (changed_.empty()) return Ok{};
    return error(Code::conflict,
                 "these files were changed by hand, or belong to another install-config.yaml than the one here: {}; move them "
                 "away to have them made anew, put the install-config of before back, or use an empty folder",
                 join(changed_, ", "));
  }

  Result<> finish() {
    State& end = plan_.end;
    end.install_config = config_text(folder_, before_ ? &*before_ : nullptr);
    end.id = *TRY(graph_.get<ClusterId>());
    end.password = *TRY(graph_.get<KubeadminPassword>());
    end.token = *TRY(graph_.get<ServerToken>());
    end.tls = *TRY(graph_.get<Tls>());
    end.target = target_;
    end.complete = true;
    end.has_cluster = target_ == Target::cluster || (before_ && before_->has_cluster);
    for (const auto& [path, digests] : written()) {  // what stays in the folder from targets before
      const bool is_removed = std::find(plan_.removes.begin(), plan_.removes.end(), path) != plan_.removes.end();
      if (folder_.contains(path) && !is_removed) end.written.try_emplace(path, digests);
    }
    plan_.begin = end;
    plan_.begin.complete = false;
    for (const auto& [path, digests] : written()) plan_.begin.written[path].insert(digests.begin(), digests.end());
    return Ok{};
  }

  const Target target_;
  const Snapshot& folder_;
  const std::optional<State>& before_;
  Graph graph_ = asset_graph();
  bool is_new_ = false;  // another install-config than before, or the first one
  Contents generated_;
  const ManifestSet* set_ = nullptr;
  std::vector<std::string> changed_;
  Plan plan_;
};

}  // namespace

Result<config::Loaded> config_of(const Snapshot& folder, const std::optional<State>& state) {
  if (!state && !folder.contains(config_file)) {
    return error(Code::not_found, "there is no {} in this folder; write one, docs/install-config.md has the fields", config_file);
  }
  return config::load_install_config(config_text(folder, state ? &*state : nullptr), config_file);
}

Result<Plan> plan_target(Target target, const Snapshot& folder, const std::optional<State>& state, const Environment& environment,
                         sys::Random& random) {
  return Planner(target, folder, state).run(environment, random);
}

}  // namespace slipway::assets
