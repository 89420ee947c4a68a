#include "assets/plan.h"

#include "assets/bootstrap_ignition.h"
#include "assets/graph.h"
#include "assets/identity.h"
#include "assets/pointer.h"
#include "assets/user_files.h"
#include "assets/user_tls.h"
#include "base/digest.h"
#include "base/text.h"
#include "base/yaml.h"
#include "ignition/validate.h"
#include "net/seeded_stream.h"

#include <algorithm>
#include <array>

namespace slipway::assets {

namespace {

using Contents = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view metadata_file = "metadata.json";
constexpr std::string_view single_node_file = "bootstrap-in-place-for-live-iso.ign";
constexpr std::string_view gateway = "journal-gatewayd";

// Why a file is touched.
constexpr std::string_view not_there = "it is not there yet";
constexpr std::string_view remembered = "you made it so, and it was consumed since";
constexpr std::string_view other_config = "install-config.yaml is not the one that it was made of";
constexpr std::string_view made_anew = "what it is made of has changed";
constexpr std::string_view has_no_such = "this install-config.yaml has no such file";

// What a target does with a file of the targets behind manifests (installer 1.5).
enum class Use { nothing, write, consume };
struct OutputRow {
  std::string_view path;
  Use ignition_configs;
  Use single_node;
  Use cluster;

  Use by(Target target) const {
    return target == Target::ignition_configs ? ignition_configs : target == Target::cluster ? cluster : single_node;
  }
};
constexpr auto output_rows = std::to_array<OutputRow>({
    {"auth/kubeadmin-password", Use::write, Use::write, Use::write},
    {"auth/kubeconfig", Use::write, Use::write, Use::write},
    {metadata_file, Use::write, Use::write, Use::write},
    {"tls/journal-gatewayd.crt", Use::nothing, Use::nothing, Use::write},
    {"tls/journal-gatewayd.key", Use::nothing, Use::nothing, Use::write},
    {"bootstrap.ign", Use::write, Use::consume, Use::consume},
    {"master.ign", Use::write, Use::consume, Use::consume},
    {"worker.ign", Use::write, Use::write, Use::consume},
    {single_node_file, Use::nothing, Use::write, Use::nothing},
});

struct ConfigFile {
  std::string_view path;
  ignition::Config Assets::*member;
};
constexpr std::array<ConfigFile, 3> config_files = {
    {{"bootstrap.ign", &Assets::bootstrap}, {"master.ign", &Assets::master}, {"worker.ign", &Assets::worker}}};

const std::string& config_text(const Snapshot& folder, const State* state) {
  const auto found = folder.find(install_config_file);
  return found != folder.end() ? found->second : state->install_config;
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? "" : path.substr(0, slash));
}

std::string_view where_it_goes(Target target) {
  return target == Target::cluster ? "it goes into the cluster" : "it goes into the Ignition configs";
}

// An install-config that this program no longer reads is another one.
bool is_same(const config::InstallConfig& config, std::string_view earlier) {
  const Result<config::Loaded> before = config::load_install_config(earlier, state_file);
  return before.ok() && before->config.effective == config.effective;
}

// One target at work; holds what its steps share.
class Planner {
 public:
  Planner(const Request& request, const Snapshot& folder, const std::optional<State>& state)
      : request_(request), target_(request.target), folder_(folder), before_(state) {}

  Result<Plan> run(const Environment& environment, sys::Random& random) {
    config::Loaded loaded = TRY(config_of(folder_, before_));
    for (const Finding& finding : loaded.warnings.all()) plan_.warnings.push_back(to_string(finding));
    is_new_ = !before_ || !is_same(loaded.config, before_->install_config);
    if (is_new_ && before_) TRY(leave(loaded.config));

    if (is_new_ && is_infra_id_cut(loaded.config)) {
      plan_.warnings.push_back(fmt::format("metadata.name is cut to {} characters in the infrastructure id", longest_stem));
    }

    Randomness drawn{&random};
    std::optional<net::SeededStream> seeded;  // of what has no stream of its own
    if (environment.seed) {
      drawn.seed = net::derive_seed(*environment.seed, loaded.config.cluster_domain());
      drawn.source = &seeded.emplace(*drawn.seed, "others");
    }
    FoundTls user = TRY(find_user_tls(folder_, environment));
    std::ranges::move(user.warnings, std::back_inserter(plan_.warnings));
    const bool is_new_password = is_new_ || user.tls.password_hash.value_or(before_->password.hash) != before_->password.hash;

    graph_.put(std::move(loaded.config));
    graph_.put(environment);
    graph_.put(std::move(drawn));
    graph_.put(is_new_ ? KeptTls{} : KeptTls{before_->tls, before_->has_cluster});
    graph_.put(std::move(user.tls));
    if (!is_new_password) graph_.put(before_->password);
    if (!is_new_) {
      graph_.put(before_->id);
      graph_.put(before_->token);
      if (before_->ironic) graph_.put(*before_->ironic);
    }
    TRY(judge_manifests());
    TRY(judge_pointers());
    if (target_ == Target::manifests) {
      write_manifests();
    } else {
      TRY(write_outputs());
      consume_manifests();
    }
    if (request_.consumes_install_config && folder_.contains(install_config_file)) {
      consume(install_config_file, "what it says is remembered");
    }
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
                   install_config_file, before_->id.infra_id, config.name);
    }
    plan_.warnings.push_back(
        fmt::format("{} is not the one that the files of before were made of: the cluster gets new ids, keys and passwords",
                    install_config_file));
    return Ok{};
  }

  // What the folders of manifests would hold, with what the user did to them, and whether that can work.
  Result<> judge_manifests() {
    const CommonManifests* common = TRY(graph_.get<CommonManifests>());
    const OpenshiftManifests* openshift = TRY(graph_.get<OpenshiftManifests>());
    const ClusterApiManifests* cluster_api = TRY(graph_.get<ClusterApiManifests>());
    for (const AssetFiles* files : {&common->files, &openshift->files, &cluster_api->files}) {
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
    for (const auto& [path, content] : generated_) wanted_.emplace(path, content);
    UserFiles for_machines;
    for (const auto& [path, content] : user.files) {
      if (content) {
        wanted_.insert_or_assign(path, *content);
      } else {
        wanted_.erase(path);
      }
      if (is_for_machines(path)) {
        for_machines.files.emplace(path, content);
      } else if (content) {
        TRY(parse_yaml_documents(*content, path));
      }
    }
    user_ = std::move(user);
    graph_.put(std::move(for_machines));
    TRY(graph_.get<ManifestSet>());
    // Files of ours that this install-config does not have, from one that did.
    for (const auto& [path, content] : folder_) {
      if (is_manifest_path(path) && !generated_.contains(path) && is_ours(written(), path, content)) {
        plan_.changes.push_back({Action::remove, path, "", std::string(has_no_such)});
      }
    }
    return Ok{};
  }

  // Machines get master.ign and worker.ign as the user changed them, and the bootstrap machine is told of the changes.
  Result<> judge_pointers() {
    const PointerConfigs* made = TRY(graph_.get<PointerConfigs>());
    PointerEdits edits;
    edits.master = TRY(edited("master.ign", made->master));
    edits.worker = TRY(edited("worker.ign", made->worker));
    graph_.put(std::move(edits));
    return Ok{};
  }

  Result<std::optional<ignition::Config>> edited(std::string_view path, const ignition::Config& made) const {
    if (is_new_ || !is_users({std::string(path), ignition_text(made)})) return std::optional<ignition::Config>();
    ignition::Config config = TRY(ignition::read_config(folder_.find(path)->second, path)).config;
    return std::optional(std::move(config));
  }

  void write_manifests() {
    for (const auto& [path, content] : wanted_) write(path, content, user_.files.contains(path) ? remembered : not_there);
    for (const auto& [path, content] : generated_) {
      if (wanted_.contains(path)) remember(path, content);
    }
  }

  // cluster-api/ outlives the Ignition configs, and shall not be another install-config's then.
  void consume_manifests() {
    for (const auto& [path, content] : folder_) {
      if (!is_manifest_path(path) || is_touched(path)) continue;
      if (consumes(target_, path)) {
        consume(path, where_it_goes(target_));
      } else if (const auto wanted = wanted_.find(path); wanted != wanted_.end()) {
        write(path, wanted->second, not_there);
        if (!user_.files.contains(path)) remember(path, wanted->second);
      }
    }
  }

  Result<> write_outputs() {
    plan_.assets = *TRY(graph_.get<Assets>());
    Assets& assets = *plan_.assets;
    Contents made;
    for (const AssetFile& file : assets.auth) made.emplace(file.path, file.content);
    made.emplace(metadata_file, emit_json(assets.metadata, JsonStyle::compact));
    if (const auto pair = assets.tls.find(gateway); pair != assets.tls.end()) {
      made.emplace(fmt::format("tls/{}.crt", gateway), pair->second.pem);
      made.emplace(fmt::format("tls/{}.key", gateway), pair->second.key.reveal());
    }
    if (target_ == Target::single_node_ignition_config) {
      const SingleNodeConfig* single_node = TRY(graph_.get<SingleNodeConfig>());
      made.emplace(single_node_file, ignition_text(single_node->config));
    }
    std::set<std::string_view> of_user;
    for (const ConfigFile& row : config_files) {
      const auto made_text = made.emplace(row.path, ignition_text(assets.*row.member)).first;
      if (!is_users(*made_text)) continue;
      of_user.insert(row.path);
      if (!is_new_) assets.*row.member = TRY(ignition::read_config(folder_.find(row.path)->second, row.path)).config;
    }
    for (const OutputRow& row : output_rows) {
      const Use use = row.by(target_);
      const auto file = made.find(row.path);
      if (file == made.end()) {  // it may have been there before
        const auto found = folder_.find(row.path);
        const bool is_left = use == Use::write && found != folder_.end() && is_ours(written(), found->first, found->second);
        if (is_left) plan_.changes.push_back({Action::remove, found->first, "", std::string(has_no_such)});
        continue;
      }
      if (use == Use::write || (use == Use::consume && of_user.contains(row.path))) {
        write_unless_changed(*file);
      } else if (use == Use::consume && folder_.contains(row.path)) {
        consume(row.path, where_it_goes(target_));
      }
    }
    if (target_ == Target::cluster) put_install_record(assets.bootstrap, *TRY(graph_.get<Environment>()));
    return Ok{};
  }

  Written written() const { return before_ ? before_->written : Written{}; }

  // A file that is there and was not written by us, now or before.
  bool is_users(const Contents::value_type& made) const {
    const auto found = folder_.find(made.first);
    return found != folder_.end() && found->second != made.second && !is_ours(written(), made.first, found->second);
  }

  bool is_touched(std::string_view path) const {
    return std::ranges::find(plan_.changes, path, &Change::path) != plan_.changes.end();
  }

  void remember(const std::string& path, std::string_view content) { end_.written[path] = {sha256_hex(content)}; }

  void write(const std::string& path, const std::string& content, std::string_view why_when_missing) {
    plan_.folders.insert(folder_of(path));
    const auto found = folder_.find(path);
    if (found == folder_.end()) {
      plan_.changes.push_back({Action::add, path, content, std::string(why_when_missing)});
    } else if (found->second != content) {
      plan_.changes.push_back({Action::change, path, content, std::string(is_new_ ? other_config : made_anew)});
    }
  }

  void write_unless_changed(const Contents::value_type& file) {
    const auto& [path, content] = file;
    if (!is_users(file)) {
      write(path, content, not_there);
    } else if (is_new_) {
      changed_.push_back(path);
    } else {
      plan_.folders.insert(folder_of(path));
      plan_.warnings.push_back(fmt::format("{} is not as it was written: it stays as you changed it", path));
    }
    remember(path, content);
  }

  void consume(std::string_view path, std::string_view why) {
    plan_.changes.push_back({Action::consume, std::string(path), "", std::string(why)});
  }

  // Those that were made so far.
  Result<Tls> certificates() {
    if (target_ != Target::manifests) return *TRY(graph_.get<Tls>());
    Tls all = is_new_ ? Tls{} : before_->tls;
    for (const auto& [name, certificate] : TRY(graph_.get<RootTls>())->tls) all.insert_or_assign(name, certificate);
    return all;
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
    State& end = end_;
    end.install_config = config_text(folder_, before_ ? &*before_ : nullptr);
    end.id = *TRY(graph_.get<ClusterId>());
    end.password = *TRY(graph_.get<KubeadminPassword>());
    end.token = *TRY(graph_.get<ServerToken>());
    end.ironic = *TRY(graph_.get<IronicCredentials>());
    end.tls = TRY(certificates());
    end.target = target_;
    end.complete = true;
    end.has_cluster = target_ == Target::cluster || (before_ && before_->has_cluster);
    end.user = user_;
    for (const auto& [path, digests] : written()) {  // what stays in the folder from targets before
      const auto change = std::ranges::find(plan_.changes, path, &Change::path);
      const bool is_gone =
          change != plan_.changes.end() && (change->action == Action::remove || change->action == Action::consume);
      if (folder_.contains(path) && !is_gone) end.written.try_emplace(path, digests);
    }
    State begin = end;
    begin.complete = false;
    for (const auto& [path, digests] : written()) begin.written[path].insert(digests.begin(), digests.end());
    plan_.begin = std::move(begin);
    plan_.end = std::move(end);
    return Ok{};
  }

  const Request& request_;
  const Target target_;
  const Snapshot& folder_;
  const std::optional<State>& before_;
  Graph graph_ = asset_graph();
  bool is_new_ = false;  // another install-config than before, or the first one
  Contents generated_;   // of manifests/, openshift/ and cluster-api/
  UserFiles user_;       // what the user did to them
  Contents wanted_;      // both
  std::vector<std::string> changed_;
  State end_;
  Plan plan_;
};

}  // namespace

Result<config::Loaded> config_of(const Snapshot& folder, const std::optional<State>& state) {
  if (!state && !folder.contains(install_config_file)) {
    return error(Code::not_found, "there is no {} in this folder; write one, docs/install-config.md has the fields",
                 install_config_file);
  }
  return config::load_install_config(config_text(folder, state ? &*state : nullptr), install_config_file);
}

Result<Plan> plan_target(const Request& request, const Snapshot& folder, const std::optional<State>& state,
                         const Environment& environment, sys::Random& random) {
  return Planner(request, folder, state).run(environment, random);
}

Result<Plan> plan_install_config(const Request& request, const Snapshot& folder, const std::optional<State>& state) {
  const auto there = folder.find(install_config_file);
  const bool is_asked_for = there == folder.end() && !state && request.install_config;
  const config::Loaded loaded =
      TRY(is_asked_for ? config::load_install_config(*request.install_config, install_config_file) : config_of(folder, state));
  Plan plan;
  plan.folders.insert("");
  for (const Finding& finding : loaded.warnings.all()) plan.warnings.push_back(to_string(finding));
  const std::string path(install_config_file);
  const std::string text = emit_yaml(loaded.config.effective);
  if (there == folder.end()) {
    plan.changes.push_back({Action::add, path, text, std::string(not_there)});
  } else if (there->second != text) {
    plan.changes.push_back({Action::add, fmt::format("{}/{}", consumed_folder, path), there->second, "it is as you wrote it"});
    plan.changes.push_back({Action::change, path, text, "it gets every default, and older fields their new names"});
  }
  return plan;
}

}  // namespace slipway::assets
