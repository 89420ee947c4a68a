#include "assets/plan.h"

#include "assets/graph.h"
#include "assets/identity/identity.h"
#include "assets/ignition/bootstrap_ignition.h"
#include "assets/ignition/pointer.h"
#include "assets/ignition/split_config.h"
#include "assets/tls/user_tls.h"
#include "assets/user_files.h"
#include "base/digest.h"
#include "base/text.h"
#include "base/yaml.h"
#include "ignition/validate.h"
#include "kube/authorities.h"
#include "net/seeded_stream.h"

#include <algorithm>
#include <array>

namespace slipway::assets {

namespace {

constexpr std::string_view metadata_file = "metadata.json";
constexpr std::string_view kubeconfig_file = "auth/kubeconfig";
constexpr std::string_view single_node_file = "bootstrap-in-place-for-live-iso.ign";
constexpr std::string_view bootstrap_file = "bootstrap.ign";
constexpr std::string_view gateway = "journal-gatewayd";

// Why a file is touched.
constexpr std::string_view not_there = "does not exist yet";
constexpr std::string_view remembered = "restores your change, which was consumed";
constexpr std::string_view other_config = "install-config.yaml has changed";
constexpr std::string_view made_anew = "its inputs have changed";
constexpr std::string_view has_no_such = "not needed for this install-config.yaml";

// What a target does with a file of the targets after `manifests`.
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
    {kubeconfig_file, Use::write, Use::write, Use::write},
    {metadata_file, Use::write, Use::write, Use::write},
    {"tls/journal-gatewayd.crt", Use::nothing, Use::nothing, Use::write},
    {"tls/journal-gatewayd.key", Use::nothing, Use::nothing, Use::write},
    {bootstrap_file, Use::write, Use::consume, Use::consume},
    {user_data_file, Use::write, Use::consume, Use::consume},
    {"master.ign", Use::write, Use::consume, Use::consume},
    {"worker.ign", Use::write, Use::write, Use::consume},
    {single_node_file, Use::nothing, Use::write, Use::nothing},
});

struct ConfigFile {
  std::string_view path;
  ignition::Config Assets::*member;
};
constexpr std::array<ConfigFile, 3> config_files = {
    {{bootstrap_file, &Assets::bootstrap}, {"master.ign", &Assets::master}, {"worker.ign", &Assets::worker}}};

const std::string& config_text(const Snapshot& files, const std::optional<State>& state) {
  const auto found = files.find(install_config_file);
  return found != files.end() ? found->second : state->install_config;
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? "" : path.substr(0, slash));
}

std::string_view where_it_goes(Target target) {
  return target == Target::cluster ? "used for the cluster" : "used for the Ignition configs";
}

// Whether all was made of this install-config. One that this program no longer reads is another one.
bool is_same(const Folder& folder) {
  if (!folder.state) return false;
  if (config_text(folder.files, folder.state) == folder.state->install_config) return true;
  const Result<config::Loaded> before = config::load_install_config(folder.state->install_config, state_file);
  return before.ok() && before->config.effective == folder.config.config.effective;
}

// One target at work; holds what its steps share.
class Planner {
 public:
  Planner(const Request& request, const Folder& folder)
      : request_(request),
        target_(request.target),
        config_(folder.config.config),
        folder_(folder.files),
        before_(folder.state),
        is_new_(!is_same(folder)) {}

  Result<Plan> run(Environment environment, sys::Random& random) {
    if (is_new_ && before_) TRY(leave());
    if (is_new_ && is_infra_id_cut(config_)) {
      plan_.warnings.push_back(fmt::format("metadata.name is truncated to {} characters in the infrastructure ID", longest_stem));
    }

    Randomness drawn{&random};
    if (environment.seed) drawn.seed = net::derive_seed(*environment.seed, config_.cluster_domain());
    if (!is_new_ && before_->no_kubeadmin) environment.no_kubeadmin = true;
    if (!is_new_ && environment.bootstrap_url.empty()) environment.bootstrap_url = before_->bootstrap_url;
    FoundTls user = TRY(find_user_tls(folder_, environment));
    std::ranges::move(user.warnings, std::back_inserter(plan_.warnings));
    const bool is_new_password = is_new_ || user.tls.password_hash.value_or(before_->password.hash) != before_->password.hash;

    graph_.put(config_);
    graph_.put(std::move(environment));
    graph_.put(std::move(drawn));
    graph_.put(is_new_ ? PreviousTls{} : PreviousTls{before_->tls, before_->has_cluster});
    graph_.put(std::move(user.tls));
    if (!is_new_password) graph_.put(before_->password);
    if (!is_new_) {
      graph_.put(before_->id);
      graph_.put(before_->token);
      if (before_->ironic) graph_.put(*before_->ironic);
    }
    TRY(judge_pointers());
    TRY(judge_manifests());
    if (target_ == Target::manifests) {
      write_manifests();
    } else {
      TRY(write_outputs());
      consume_manifests();
    }
    if (request_.consumes_install_config && folder_.contains(install_config_file)) {
      consume(install_config_file, "stored in the state file");
    }
    TRY(conflicts());
    TRY(finish());
    return std::move(plan_);
  }

 private:
  Result<> leave() {
    if (before_->has_cluster) {
      return error(Code::conflict,
                   "{}: differs from the one that cluster {} was created from (destroy that cluster first, restore its "
                   "install-config, or use another directory for {})",
                   install_config_file, before_->id.infra_id, config_.name);
    }
    plan_.warnings.push_back(fmt::format(
        "{}: differs from the one that the existing files were generated from; the cluster gets new IDs, keys and passwords",
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
        if (!each->second) plan_.warnings.push_back(fmt::format("{}: removed by you, generated again", each->first));
        if (each->second && !is_added) changed_.push_back(each->first);
        each = is_added ? std::next(each) : user.files.erase(each);
      }
    }
    wanted_ = with_user_files(generated_, user);
    UserFiles for_machines;
    for (const auto& [path, content] : user.files) {
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

  // Machines get master.ign and worker.ign as the user changed them; manifests and the bootstrap machine's config have the
  // changes.
  Result<> judge_pointers() {
    const PointerConfigs* made = TRY(graph_.get<PointerConfigs>());
    PointerEdits edits;
    edits.master = TRY(edited({"master.ign", ignition_text(made->master)}));
    edits.worker = TRY(edited({"worker.ign", ignition_text(made->worker)}));
    graph_.put(std::move(edits));
    return Ok{};
  }

  // A config of ours as the user has it; nothing while it is as we made it.
  Result<std::optional<ignition::Config>> edited(const Snapshot::value_type& made) const {
    if (is_new_ || !is_users(made)) return std::optional<ignition::Config>();
    ignition::Config config = TRY(ignition::read_config(folder_.find(made.first)->second, made.first)).config;
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
    Snapshot made;
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
    for (const ConfigFile& row : config_files) made.emplace(row.path, ignition_text(assets.*row.member));
    const PointerEdits* edits = TRY(graph_.get<PointerEdits>());
    if (edits->master) assets.master = *edits->master;
    if (edits->worker) assets.worker = *edits->worker;
    std::optional<ignition::Config> bootstrap = TRY(edited(*made.find(bootstrap_file)));
    if (bootstrap) assets.bootstrap = *std::move(bootstrap);
    TRY(add_user_data(made));
    for (const OutputRow& row : output_rows) {
      const Use use = row.by(target_);
      const auto file = made.find(row.path);
      if (file == made.end()) {  // it may have been there before
        const auto found = folder_.find(row.path);
        const bool is_left = use == Use::write && found != folder_.end() && is_ours(written(), found->first, found->second);
        if (is_left) plan_.changes.push_back({Action::remove, found->first, "", std::string(has_no_such)});
        continue;
      }
      const bool is_edited_config = row.path.ends_with(".ign") && is_users(*file);
      if (use == Use::write || (use == Use::consume && is_edited_config)) {
        write_unless_changed(*file);
      } else if (use == Use::consume && folder_.contains(row.path)) {
        consume(row.path, where_it_goes(target_));
      }
    }
    if (target_ == Target::cluster) put_install_record(assets.bootstrap, *TRY(graph_.get<Environment>()));
    return Ok{};
  }

  // For a platform that cannot hand bootstrap.ign to a machine: what it can hand over instead.
  Result<> add_user_data(Snapshot& made) {
    const std::string& url = TRY(graph_.get<Environment>())->bootstrap_url;
    if (url.empty()) return Ok{};
    const std::optional<UserDataLimit> limit = user_data_limit(config_.platform.type);
    if (!limit) {
      return error(Code::invalid, "--bootstrap-url: not needed, platform {} does not limit the size of user data",
                   config_.platform.type);
    }
    const Snapshot::value_type& ours = *made.find(bootstrap_file);
    const std::string& text = !is_new_ && is_users(ours) ? folder_.find(bootstrap_file)->second : ours.second;
    const ignition::Config small = TRY(make_fetching_config(text, url, config_, *limit));
    if (TRY(fits(text, *limit))) {
      plan_.warnings.push_back(
          fmt::format("{}: not needed, platform {} can pass {} to the machine", user_data_file, limit->platform, bootstrap_file));
    } else {
      made.emplace(user_data_file, ignition_text(small));
    }
    return Ok{};
  }

  Written written() const { return before_ ? before_->written : Written{}; }

  // A file that is there and was not written by us, now or before.
  bool is_users(const Snapshot::value_type& made) const {
    const auto found = folder_.find(made.first);
    return found != folder_.end() && found->second != made.second && !is_ours(written(), made.first, found->second);
  }

  // The kubeconfig of a complete cluster is ours: wait-for install-complete added the authorities of the routers to it.
  bool trusts_routers(const Snapshot::value_type& made) const {
    const auto found = folder_.find(made.first);
    return made.first == kubeconfig_file && found != folder_.end() && kube::has_only_more_authorities(found->second, made.second);
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

  void write_unless_changed(const Snapshot::value_type& file) {
    const auto& [path, content] = file;
    if (trusts_routers(file)) {
      plan_.folders.insert(folder_of(path));
    } else if (!is_users(file)) {
      write(path, content, not_there);
    } else if (is_new_) {
      changed_.push_back(path);
    } else {
      plan_.folders.insert(folder_of(path));
      plan_.warnings.push_back(fmt::format("{}: changed by you, not overwritten", path));
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
                 "these files were changed by hand, or belong to another install-config.yaml: {} (move them away to generate "
                 "them again, restore the earlier install-config.yaml, or use an empty directory)",
                 join(changed_, ", "));
  }

  Result<> finish() {
    State& end = end_;
    end.install_config = config_text(folder_, before_);
    end.id = *TRY(graph_.get<ClusterId>());
    end.password = *TRY(graph_.get<KubeadminPassword>());
    end.token = *TRY(graph_.get<ServerToken>());
    end.no_kubeadmin = TRY(graph_.get<Environment>())->no_kubeadmin;
    end.bootstrap_url = TRY(graph_.get<Environment>())->bootstrap_url;
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
  const config::InstallConfig& config_;
  const Snapshot& folder_;
  const std::optional<State>& before_;
  const bool is_new_;  // another install-config than before, or the first one
  Graph graph_ = asset_graph();
  Snapshot generated_;  // of manifests/, openshift/ and cluster-api/
  UserFiles user_;      // what the user did to them
  Snapshot wanted_;     // both
  std::vector<std::string> changed_;
  State end_;
  Plan plan_;
};

Plan plan_install_config(const Folder& folder) {
  Plan plan;
  plan.folders.insert("");
  const std::string path(install_config_file);
  const std::string text = emit_yaml(folder.config.config.effective);
  const auto there = folder.files.find(path);
  if (there == folder.files.end()) {
    plan.changes.push_back({Action::add, path, text, std::string(not_there)});
  } else if (there->second != text) {
    plan.changes.push_back({Action::add, fmt::format("{}/{}", consumed_folder, path), there->second, "copy of your file"});
    plan.changes.push_back({Action::change, path, text, "adds all defaults and converts older fields"});
  }
  return plan;
}

}  // namespace

Result<config::Loaded> config_of(const Snapshot& files, const std::optional<State>& state, const config::Reading& reading) {
  const bool is_there = files.contains(install_config_file);
  if (!state && !is_there) {
    return error(Code::not_found, "{}: not found in this directory (write one; `slipway explain installconfig` lists the fields)",
                 install_config_file);
  }
  return config::load_install_config(config_text(files, state), install_config_file, is_there ? reading : config::Reading());
}

Result<Plan> plan_target(const Request& request, const Folder& folder, const Environment& environment, sys::Random& random) {
  Plan plan = request.target == Target::install_config ? plan_install_config(folder)
                                                       : TRY(Planner(request, folder).run(environment, random));
  std::vector<std::string> warnings = folder.warnings;
  for (const Finding& finding : folder.config.warnings.all()) warnings.push_back(to_string(finding));
  plan.warnings.insert(plan.warnings.begin(), warnings.begin(), warnings.end());
  return plan;
}

}  // namespace slipway::assets
