#include "cli/cluster_directory.h"

#include "assets/identity/identity.h"
#include "assets/store.h"
#include "base/text.h"
#include "cli/local_options.h"
#include "cli/output_option.h"
#include "cluster/state_copy.h"
#include "sys/event_lines.h"
#include "sys/events.h"

#include <fmt/core.h>

#include <filesystem>

namespace slipway::cli {

namespace {

// The folder of clusters that contains the machines of this directory; the folder for new clusters when there are no machines.
// errors: invalid: --state names another folder
Result<std::string> state_of(const Environment& environment, const Arguments& arguments, const std::string& folder) {
  const std::string chosen = state_folder(arguments);
  const std::filesystem::path made = trim(TRY(environment.files.read_if_exists(machines_path(folder))).value_or(""));
  if (made.empty() || made.parent_path() == chosen || !TRY(environment.files.info(made))) return chosen;
  if (!arguments.has("--state")) return made.parent_path().string();
  return error(Code::invalid, "--state {}: the machines of {} are in {} (omit --state)", chosen, folder,
               made.parent_path().string());
}

}  // namespace

Result<ClusterDirectory> read_cluster_directory(const Environment& environment, const std::string& folder) {
  const std::string path = folder + "/metadata.json";
  const auto text = TRY(environment.files.read_if_exists(path));
  if (!text) return error(Code::not_found, "{}: not found, so this is not the asset directory of a cluster (use --dir)", path);
  const Json metadata = TRY(parse_json(*text, path));
  std::string name = TRY(require_string(metadata, {"clusterName"}).context(path));
  const std::string infra_id(find_string(metadata, {"infraID"}).value_or(""));
  ClusterDirectory known{folder, std::move(name), {.infra_id = infra_id, .cluster_id = {}}};
  for (const auto& member : metadata.get_object()) {
    if (!provider::has_provider(member.key())) continue;
    known.platform = member.key();
    known.uri = text_of(member.value(), {"uri"});
    known.section = emit_json(member.value(), JsonStyle::compact);
  }
  return known;
}

ClusterDirectory new_cluster_directory(const Environment& environment, const std::string& folder,
                                       const config::InstallConfig& config) {
  const Result<ClusterDirectory> existing = read_cluster_directory(environment, folder);
  return {.folder = folder,
          .cluster = config.name,
          .id = existing.ok() ? existing->id : assets::ClusterId{},
          .platform = config.platform.type,
          .uri = text_of(config.platform.section, {"URI"}),
          .section = emit_json(config.platform.section, JsonStyle::compact)};
}

Result<OpenedProvider> open_machines(const Environment& environment, const Arguments& arguments, const ClusterDirectory& known,
                                     ProviderUse use) {
  provider::ClusterSelection choice{
      .cluster = known.cluster,
      .options = {{"directory", known.folder}, {"infra-id", known.id.infra_id}, {"uri", known.uri}, {"platform", known.section}}};
  choice.options["state"] = TRY(state_of(environment, arguments, known.folder));
  choice.options["place"] = known.place;
  choice.options["expires"] = trim(TRY(environment.files.read_if_exists(expiry_path(known.folder))).value_or(""));
  choice.options["program"] = TRY(own_program());
  if (use == ProviderUse::new_cluster) {
    const std::string images = TRY(images_folder(environment, arguments, arguments["--release"]));
    choice.options["os-repo"] = os_repo_folder(arguments, images);
    choice.options["images"] = images;
    choice.options["os-image"] = arguments.has("--os-image") ? absolute(arguments["--os-image"]) : "";
    choice.options["programs"] = TRY(helper_folder());
  }
  return provider::open_provider(environment, known.platform, std::move(choice));
}

std::vector<Option> place_options() {
  return {
      {.name = "--platform", .value = "PLATFORM", .help = "platform of the cluster", .choices = provider::planned_platforms()},
      {.name = "--place",
       .value = "PLACE",
       .help = "aws: the region (default: of the environment or the profile); libvirt: the URI of the host (default "
               "qemu:///system); openstack: the cloud in clouds.yaml (default: $OS_CLOUD, then openstack); vsphere: the vCenter, "
               "with GOVC_USERNAME and GOVC_PASSWORD"}};
}

Result<std::optional<ClusterDirectory>> named_cluster(const Environment& environment, const Arguments& arguments) {
  const std::string& id = arguments["--infra-id"];
  if (id.empty() && !arguments.has("--platform") && !arguments.has("--place")) return std::optional<ClusterDirectory>();
  if (id.empty() || !arguments.has("--platform")) {
    return error(Code::invalid,
                 "--infra-id and --platform: both are needed to name a cluster (or name its asset directory with --dir)");
  }
  if (!assets::is_infra_id(id)) {
    return error(Code::invalid, "--infra-id {}: is not an infraID, for example demo-x7k2p (`slipway orphans` lists them)", id);
  }
  const std::string folder = absolute(arguments["--dir"]);
  if (const Result<ClusterDirectory> other = read_cluster_directory(environment, folder);
      other.ok() && other->id.infra_id != id) {
    return error(Code::invalid, "{}: belongs to cluster {} (name another directory with --dir)", folder, other->id.infra_id);
  }
  return std::optional(ClusterDirectory{.folder = folder,
                                        .cluster = id.substr(0, id.rfind('-')),
                                        .id = {.infra_id = id, .cluster_id = {}},
                                        .platform = arguments["--platform"],
                                        .place = arguments["--place"]});
}

std::string expiry_path(const std::string& folder) { return folder + "/.slipway/expires"; }

void keep_state_copy(const Environment& environment, const std::string& folder) {
  const auto keep = [&]() -> Result<> {
    if (!TRY(environment.files.info(fmt::format("{}/{}", folder, assets::resources_file)))) return Ok{};
    kube::Client api = TRY(client_of(environment, folder));
    return cluster::write_state_copy(environment.context, environment.files, api, folder);
  };
  if (const Result<> kept = keep(); !kept.ok()) {
    environment.context.log.warn("the copy of the state in the cluster is not up to date: {}; `slipway refresh` writes it",
                                 kept.error().message());
  }
}

Result<bool> has_own_machines(const Environment& environment, const std::string& folder) {
  return TRY(environment.files.info(machines_path(folder))).has_value();
}

Result<provider::ExistingCluster> find_machines(provider::Provider& machines, const ClusterDirectory& known) {
  const provider::ExistingCluster existing = TRY(machines.find(known.id));
  if (existing.of == provider::ExistingCluster::Of::another_cluster && known.id.infra_id.empty())
    return error(Code::invalid, "{}/metadata.json: infraID: missing, must be a string", known.folder);
  return existing;
}

Result<OpenedProvider> open_own_machines(const Environment& environment, const Arguments& arguments,
                                         const ClusterDirectory& known) {
  OpenedProvider opened = TRY(open_machines(environment, arguments, known));
  if (TRY(find_machines(*opened, known)).of != provider::ExistingCluster::Of::another_cluster) return opened;
  return error(Code::conflict, "cluster {} in {}: created from another asset directory than {} (name that directory with --dir)",
               known.cluster, opened->place(), known.folder);
}

std::string machines_path(const std::string& folder) { return fmt::format("{}/{}", folder, assets::machines_file); }

std::string events_path(const std::string& folder) { return fmt::format("{}/{}", folder, assets::events_file); }

void record_events(const Environment& environment, const std::string& folder) {
  const auto on_failure = [&log = environment.context.log](const Error& why) {
    log.warn("cannot write events: {}; continuing without them", why.message());
  };
  environment.context.events.add_sink(sys::journal_sink(environment.files, events_path(folder), on_failure));
}

Option events_option() { return output_option("json: print events to standard output, one per line"); }

void print_events(const Environment& environment, const Arguments& arguments) {
  if (arguments["--output"] != "json") return;
  environment.context.events.add_sink([&environment](const sys::Event& event) { environment.print(event.to_line() + "\n"); });
}

Result<kube::Client> client_of(const Environment& environment, const std::string& folder) {
  return kube::Client(environment.http, TRY(kube::read_kubeconfig(environment.files, folder + "/auth/kubeconfig")));
}

}  // namespace slipway::cli
