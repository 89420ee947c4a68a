#include "assets/plan.h"

#include "assets/graph.h"
#include "assets/identity/identity.h"
#include "assets/ignition/bootstrap_ignition.h"
#include "assets/ignition/pointer.h"
#include "assets/ignition/split_config.h"
#include "assets/manifests/image_mode.h"
#include "assets/manifests/machine_settings.h"
#include "assets/outputs.h"
#include "assets/tls/user_tls.h"
#include "assets/user_files.h"
#include "base/digest.h"
#include "base/text.h"
#include "base/yaml.h"
#include "ignition/validate.h"
#include "kube/authorities.h"
#include "net/seeded_stream.h"

#include <algorithm>

namespace slipway::assets {

namespace {

// Reasons of changes.
constexpr std::string_view missing = "does not exist yet";
constexpr std::string_view restores_change = "restores your change, which was consumed";
constexpr std::string_view config_changed = "install-config.yaml has changed";
constexpr std::string_view inputs_changed = "its inputs have changed";
constexpr std::string_view not_needed = "not needed for this install-config.yaml";

const std::string& config_text(const Snapshot& files, const std::optional<State>& state) {
  const auto found = files.find(install_config_file);
  return found != files.end() ? found->second : state->install_config;
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? "" : path.substr(0, slash));
}

std::string_view reason_to_consume(Target target) {
  return target == Target::cluster ? "used for the cluster" : "used for the Ignition configs";
}

// Whether the existing files were generated from this install-config. A kept install-config that this version cannot read counts
// as another one.
bool is_same(const Folder& folder) {
  if (!folder.state) return false;
  if (config_text(folder.files, folder.state) == folder.state->install_config) return true;
  const JsonArray& hosts = find_array(folder.config.config.effective, {"platform", "baremetal", "hosts"});
  config::LoadOptions options{.baremetal_hosts = hosts};
  if (folder.config.config.bootstrap_in_place) options.in_place_disk = folder.config.config.bootstrap_in_place;
  const Result<config::LoadedConfig> before = config::load_install_config(folder.state->install_config, state_file, options);
  return before.ok() && before->config.effective == folder.config.config.effective;
}

// Computes the plan of one target; the members are shared by its steps.
class Planner {
 public:
  Planner(const Request& request, const Folder& folder)
      : request_(request),
        target_(request.target),
        config_(folder.config.config),
        folder_(folder.files),
        previous_(folder.state),
        is_new_(!is_same(folder)) {}

  Result<Plan> run(Environment environment, sys::Random& random) {
    if (is_new_ && previous_) TRY(check_config_change());
    if (is_new_ && is_infra_id_cut(config_)) {
      plan_.warnings.push_back(fmt::format("metadata.name is truncated to {} characters in the infrastructure ID", longest_stem));
    }

    Randomness drawn{&random};
    if (environment.seed) drawn.seed = net::derive_seed(*environment.seed, config_.cluster_domain());
    if (!is_new_ && previous_->no_kubeadmin) environment.no_kubeadmin = true;
    is_of_slipway_ = environment.release_has_slipway_node;
    wants_machine_os_config_ = environment.with_machine_os_config;
    if (!is_new_ && previous_->with_machine_os_config) environment.with_machine_os_config = true;
    if (!is_new_ && environment.bootstrap_url.empty()) environment.bootstrap_url = previous_->bootstrap_url;
    FoundTls user = TRY(find_user_tls(folder_, environment));
    std::ranges::move(user.warnings, std::back_inserter(plan_.warnings));
    const bool is_new_password = is_new_ || user.tls.password_hash.value_or(previous_->password.hash) != previous_->password.hash;

    graph_.put(config_);
    graph_.put(std::move(environment));
    graph_.put(std::move(drawn));
    graph_.put(is_new_ ? PreviousTls{} : PreviousTls{previous_->tls, previous_->has_cluster});
    graph_.put(std::move(user.tls));
    if (!is_new_password) graph_.put(previous_->password);
    if (!is_new_) {
      graph_.put(previous_->id);
      graph_.put(previous_->token);
      if (previous_->ironic) graph_.put(*previous_->ironic);
    }
    TRY(put_pointer_edits());
    TRY(merge_manifests());
    if (target_ == Target::manifests) {
      write_manifests();
    } else {
      TRY(write_outputs());
      consume_manifests();
    }
    if (request_.consumes_install_config && folder_.contains(install_config_file)) {
      consume(install_config_file, "stored in the state file");
    }
    TRY(check_conflicts());
    TRY(finish());
    return std::move(plan_);
  }

 private:
  Result<> check_config_change() {
    if (previous_->has_cluster) {
      return error(Code::conflict,
                   "{}: differs from the one that cluster {} was created from (destroy that cluster first, restore its "
                   "install-config, or use another directory for {})",
                   install_config_file, previous_->id.infra_id, config_.name);
    }
    plan_.warnings.push_back(fmt::format(
        "{}: differs from the one that the existing files were generated from; the cluster gets new IDs, keys and passwords",
        install_config_file));
    return Ok{};
  }

  // Generates the manifests, applies the user's changes and validates the result.
  Result<> merge_manifests() {
    const CommonManifests* common = TRY(graph_.get<CommonManifests>());
    const OpenshiftManifests* openshift = TRY(graph_.get<OpenshiftManifests>());
    const ClusterApiManifests* cluster_api = TRY(graph_.get<ClusterApiManifests>());
    for (const AssetFiles* files : {&common->files, &openshift->files, &cluster_api->files}) {
      for (const AssetFile& file : *files) generated_.emplace(file.path, file.content);
    }
    UserFiles user = find_user_files(folder_, previous_, generated_);
    if (wants_machine_os_config_) {
      std::erase_if(user.files, [](const auto& each) { return !each.second && is_machine_os_config_file(each.first); });
    }
    if (is_new_) {
      for (auto each = user.files.begin(); each != user.files.end();) {
        const bool is_added = each->second && !generated_.contains(each->first);
        if (!each->second) plan_.warnings.push_back(fmt::format("{}: removed by you, generated again", each->first));
        if (each->second && !is_added) conflicting_.push_back(each->first);
        each = is_added ? std::next(each) : user.files.erase(each);
      }
    }
    merged_ = with_user_files(generated_, user);
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
    const ManifestSet* manifests = TRY(graph_.get<ManifestSet>());
    std::ranges::move(TRY(check_image_mode(config_, *manifests, user_, target_)), std::back_inserter(plan_.warnings));
    // Machines of other releases run CRI-O, and their operators check these objects.
    if (is_of_slipway_) TRY(check_machine_settings(*manifests));
    // Remove manifests that were generated from an earlier install-config and are not generated from this one.
    for (const auto& [path, content] : folder_) {
      if (is_manifest_path(path) && !generated_.contains(path) && is_ours(written(), path, content)) {
        plan_.changes.push_back({Action::remove, path, "", std::string(not_needed)});
      }
    }
    return Ok{};
  }

  // Puts the user's changes of master.ign and worker.ign into the graph: the manifests and the bootstrap config contain them.
  Result<> put_pointer_edits() {
    const PointerConfigs* made = TRY(graph_.get<PointerConfigs>());
    PointerEdits edits;
    edits.master = TRY(user_version({"master.ign", ignition_text(made->master)}));
    edits.worker = TRY(user_version({"worker.ign", ignition_text(made->worker)}));
    graph_.put(std::move(edits));
    return Ok{};
  }

  // A generated config as the user changed it; empty if the user did not change it.
  Result<std::optional<ignition::Config>> user_version(const Snapshot::value_type& made) const {
    if (is_new_ || !is_changed_by_user(made)) return std::optional<ignition::Config>();
    ignition::Config config = TRY(ignition::read_config(folder_.find(made.first)->second, made.first)).config;
    return std::optional(std::move(config));
  }

  void write_manifests() {
    for (const auto& [path, content] : merged_) write(path, content, user_.files.contains(path) ? restores_change : missing);
    for (const auto& [path, content] : generated_) {
      if (merged_.contains(path)) record_written(path, content);
    }
  }

  // cluster-api/ is not consumed with the Ignition configs, so its files are updated to this install-config.
  void consume_manifests() {
    for (const auto& [path, content] : folder_) {
      if (!is_manifest_path(path) || is_touched(path)) continue;
      if (consumes(target_, path)) {
        consume(path, reason_to_consume(target_));
      } else if (const auto wanted = merged_.find(path); wanted != merged_.end()) {
        write(path, wanted->second, missing);
        if (!user_.files.contains(path)) record_written(path, wanted->second);
      }
    }
  }

  Result<> write_outputs() {
    plan_.assets = *TRY(graph_.get<Assets>());
    Assets& assets = *plan_.assets;
    Snapshot outputs = TRY(generate_outputs(graph_, target_));
    const PointerEdits* edits = TRY(graph_.get<PointerEdits>());
    if (edits->master) assets.master = *edits->master;
    if (edits->worker) assets.worker = *edits->worker;
    std::optional<ignition::Config> bootstrap = TRY(user_version(*outputs.find(bootstrap_file)));
    if (bootstrap) assets.bootstrap = *std::move(bootstrap);
    TRY(add_user_data(outputs));
    for (const OutputFile& row : output_files()) {
      const Use use = row.by(target_);
      const auto file = outputs.find(row.path);
      if (file == outputs.end()) {  // not generated now, but maybe by an earlier run
        const auto found = folder_.find(row.path);
        const bool is_obsolete = use == Use::write && found != folder_.end() && is_ours(written(), found->first, found->second);
        if (is_obsolete) plan_.changes.push_back({Action::remove, found->first, "", std::string(not_needed)});
        continue;
      }
      const bool is_edited_config = row.path.ends_with(".ign") && is_changed_by_user(*file);
      if (use == Use::write || (use == Use::consume && is_edited_config)) {
        write_unless_changed(*file);
      } else if (use == Use::consume && folder_.contains(row.path)) {
        consume(row.path, reason_to_consume(target_));
      }
    }
    if (target_ == Target::cluster) put_install_record(assets.bootstrap, *TRY(graph_.get<Environment>()));
    return Ok{};
  }

  // Adds the small config for platforms that limit the size of user data.
  Result<> add_user_data(Snapshot& outputs) {
    const std::string& url = TRY(graph_.get<Environment>())->bootstrap_url;
    if (url.empty()) return Ok{};
    const std::optional<UserDataLimit> limit = user_data_limit(config_.platform.type);
    if (!limit) {
      return error(Code::invalid, "--bootstrap-url: not needed, platform {} does not limit the size of user data",
                   config_.platform.type);
    }
    const Snapshot::value_type& ours = *outputs.find(bootstrap_file);
    const std::string& text = !is_new_ && is_changed_by_user(ours) ? folder_.find(bootstrap_file)->second : ours.second;
    const ignition::Config small = TRY(make_fetching_config(text, url, config_, *limit));
    if (TRY(fits(text, *limit))) {
      plan_.warnings.push_back(
          fmt::format("{}: not needed, platform {} can pass {} to the machine", user_data_file, limit->platform, bootstrap_file));
    } else {
      outputs.emplace(user_data_file, ignition_text(small));
    }
    return Ok{};
  }

  Written written() const { return previous_ ? previous_->written : Written{}; }

  // Whether the file exists and its content was not generated by this or an earlier run.
  bool is_changed_by_user(const Snapshot::value_type& made) const {
    const auto found = folder_.find(made.first);
    return found != folder_.end() && found->second != made.second && !is_ours(written(), made.first, found->second);
  }

  // `wait-for install-complete` adds the authorities of the routers to the kubeconfig. The kubeconfig is still ours then.
  bool trusts_routers(const Snapshot::value_type& made) const {
    const auto found = folder_.find(made.first);
    return made.first == kubeconfig_file && found != folder_.end() && kube::has_only_more_authorities(found->second, made.second);
  }

  bool is_touched(std::string_view path) const {
    return std::ranges::find(plan_.changes, path, &Change::path) != plan_.changes.end();
  }

  void record_written(const std::string& path, std::string_view content) { end_.written[path] = {sha256_hex(content)}; }

  void write(const std::string& path, const std::string& content, std::string_view why_if_missing) {
    plan_.folders.insert(folder_of(path));
    const auto found = folder_.find(path);
    if (found == folder_.end()) {
      plan_.changes.push_back({Action::add, path, content, std::string(why_if_missing)});
    } else if (found->second != content) {
      plan_.changes.push_back({Action::change, path, content, std::string(is_new_ ? config_changed : inputs_changed)});
    }
  }

  void write_unless_changed(const Snapshot::value_type& file) {
    const auto& [path, content] = file;
    if (trusts_routers(file)) {
      plan_.folders.insert(folder_of(path));
    } else if (!is_changed_by_user(file)) {
      write(path, content, missing);
    } else if (is_new_) {
      conflicting_.push_back(path);
    } else {
      plan_.folders.insert(folder_of(path));
      plan_.warnings.push_back(fmt::format("{}: changed by you, not overwritten", path));
    }
    record_written(path, content);
  }

  void consume(std::string_view path, std::string_view why) {
    plan_.changes.push_back({Action::consume, std::string(path), "", std::string(why)});
  }

  // The certificates that are generated so far.
  Result<Tls> certificates() {
    if (target_ != Target::manifests) return *TRY(graph_.get<Tls>());
    Tls all = is_new_ ? Tls{} : previous_->tls;
    for (const auto& [name, certificate] : TRY(graph_.get<RootTls>())->tls) all.insert_or_assign(name, certificate);
    return all;
  }

  // Refuses to overwrite the user's files or to use files that belong to other keys.
  Result<> check_conflicts() {
    if (conflicting_.empty()) return Ok{};
    return error(Code::conflict,
                 "these files were changed by hand, or belong to another install-config.yaml: {} (move them away to generate "
                 "them again, restore the earlier install-config.yaml, or use an empty directory)",
                 join(conflicting_, ", "));
  }

  Result<> finish() {
    State& end = end_;
    end.install_config = config_text(folder_, previous_);
    end.id = *TRY(graph_.get<ClusterId>());
    end.password = *TRY(graph_.get<KubeadminPassword>());
    end.token = *TRY(graph_.get<ServerToken>());
    end.no_kubeadmin = TRY(graph_.get<Environment>())->no_kubeadmin;
    end.with_machine_os_config = TRY(graph_.get<Environment>())->with_machine_os_config;
    end.bootstrap_url = TRY(graph_.get<Environment>())->bootstrap_url;
    end.ironic = *TRY(graph_.get<IronicCredentials>());
    end.tls = TRY(certificates());
    end.target = target_;
    end.complete = true;
    end.has_cluster = target_ == Target::cluster || (previous_ && previous_->has_cluster);
    end.user = user_;
    for (const auto& [path, digests] : written()) {  // files of earlier targets that stay in the directory
      const auto change = std::ranges::find(plan_.changes, path, &Change::path);
      const bool is_removed =
          change != plan_.changes.end() && (change->action == Action::remove || change->action == Action::consume);
      if (folder_.contains(path) && !is_removed) end.written.try_emplace(path, digests);
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
  const std::optional<State>& previous_;
  const bool is_new_;                     // the install-config changed, or this is the first run
  bool is_of_slipway_ = true;             // the release
  bool wants_machine_os_config_ = false;  // in this run, so files that the user removed are generated again
  Graph graph_ = asset_graph();
  Snapshot generated_;  // of manifests/, openshift/ and cluster-api/
  UserFiles user_;      // the user's changes of these
  Snapshot merged_;     // generated_ with the changes of user_
  std::vector<std::string> conflicting_;
  State end_;
  Plan plan_;
};

Plan plan_install_config(const Folder& folder) {
  Plan plan;
  plan.folders.insert("");
  const std::string path(install_config_file);
  const std::string text = emit_yaml(folder.config.config.effective);
  const auto found = folder.files.find(path);
  if (found == folder.files.end()) {
    plan.changes.push_back({Action::add, path, text, std::string(missing)});
  } else if (found->second != text) {
    plan.changes.push_back({Action::add, fmt::format("{}/{}", consumed_folder, path), found->second, "copy of your file"});
    plan.changes.push_back({Action::change, path, text, "adds all defaults and converts older fields"});
  }
  return plan;
}

}  // namespace

Result<config::LoadedConfig> config_of(const Snapshot& files, const std::optional<State>& state,
                                       const config::LoadOptions& options) {
  const bool is_there = files.contains(install_config_file);
  if (!state && !is_there) {
    return error(Code::not_found, "{}: not found in this directory (write one; `slipway explain installconfig` lists the fields)",
                 install_config_file);
  }
  // The copy was validated before, with the hosts of another file if it has none.
  const config::LoadOptions of_copy{.baremetal_hosts = options.baremetal_hosts, .in_place_disk = options.in_place_disk};
  return config::load_install_config(config_text(files, state), install_config_file, is_there ? options : of_copy);
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
