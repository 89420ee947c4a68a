#include "cli/cluster_commands.h"

#include "assets/store.h"
#include "base/check.h"
#include "cli/asset_inputs.h"
#include "cli/cluster_directory.h"
#include "cli/create_assets.h"
#include "cli/image/registry_files.h"
#include "cli/installing.h"
#include "cli/local_options.h"
#include "cli/validate.h"
#include "cluster/install.h"
#include "sys/environment_variable.h"
#include "sys/event_lines.h"

#include <algorithm>

namespace slipway::cli {

namespace {

// What the user can do next.
std::string next_steps(std::string_view program, const config::InstallConfig& config, const provider::HostAccess& access,
                       const std::string& folder, Milliseconds took) {
  const std::string domain = config.cluster_domain();
  std::string text = fmt::format(
      "\nCluster {} is complete after {}.\n\n"
      "To use the cluster:\n"
      "  export KUBECONFIG={}/auth/kubeconfig\n"
      "The API https://api.{}:{} is reachable on this host at {}:{}.\n",
      config.name, human_duration(took), folder, domain, access.api_port, access.address, access.api_port);
  if (access.https_port != 0) {
    const std::string name = "NAME.apps." + domain;
    text += fmt::format(
        "Applications at *.apps.{} ({} in the cluster network) are reachable on this host at {}, ports {} and {}. To call a "
        "Route with host {}:\n"
        "  curl --insecure --resolve {}:{}:{} https://{}{}\n",
        domain, config::ingress_vips(config).at(0), access.applications, access.http_port, access.https_port, name, name,
        access.https_port, access.applications, name, access.https_port == 443 ? "" : fmt::format(":{}", access.https_port));
  }
  return text + fmt::format(
                    "To add a worker:           {0} create worker --dir {1}\n"
                    "To show the timeline:      {0} timeline --dir {1}\n"
                    "To destroy the cluster:    {0} destroy cluster --dir {1}\n",
                    program, folder);
}

bool keeps_bootstrap() { return !sys::environment_variable("OPENSHIFT_INSTALL_PRESERVE_BOOTSTRAP").empty(); }

// The release that the machines of a directory were created with. Nothing if there are no machines, or if an older version, which
// did not record the release, created them.
Result<std::optional<InstalledRelease>> installed_release(const Environment& environment, provider::Provider& opened,
                                                          const std::string& folder) {
  std::optional<InstalledRelease> installed;
  if (!TRY(environment.files.info(folder + "/metadata.json"))) return installed;
  const provider::ExistingCluster existing = TRY(find_machines(opened, TRY(read_cluster_directory(environment, folder))));
  if (existing.of == provider::ExistingCluster::Of::this_cluster && !existing.release.empty()) {
    installed = InstalledRelease{existing.release, existing.release_version};
  }
  return installed;
}

// Uses the kubeconfig of the user.
Result<kube::Client> client_of(const Environment& environment, const assets::Assets& assets) {
  const std::string path = "auth/kubeconfig";
  const auto kubeconfig = std::ranges::find(assets.auth, path, &assets::AssetFile::path);
  CHECK(kubeconfig != assets.auth.end());
  return kube::Client(environment.http,
                      TRY(kube::parse_kubeconfig(kubeconfig->content, path, [](const std::string& file) -> Result<std::string> {
                        return error(Code::invalid, "refers to file {}, but must contain the data itself", file);
                      })));
}

// --expires is decided once: later runs use the same tags.
Result<> keep_expiry(const Environment& environment, const Arguments& arguments, const provider::Provider& machines,
                     const std::string& folder) {
  if (!arguments.has("--expires")) return Ok{};
  if (!machines.capabilities().marks_expiry) {
    return error(Code::invalid, "--expires: {} has no tags that could say when the cluster may be removed (leave it out)",
                 machines.place());
  }
  const Milliseconds after = TRY(parse_duration(arguments["--expires"]).context("--expires"));
  if (TRY(environment.files.info(expiry_path(folder)))) return Ok{};
  const WallTime end = environment.context.clock.now() + after;
  return environment.files.write(expiry_path(folder), to_rfc3339(std::chrono::floor<Seconds>(end)) + "\n", 0600);
}

Result<> create_cluster_in(const Environment& environment, const Arguments& arguments, const std::string& folder,
                           cluster::FaultWatch& faults, cluster::Steps& steps) {
  const SteadyTime begin = environment.context.clock.steady();
  const sys::FileLock lock = TRY(lock_assets(environment, folder));
  const assets::Folder opened = TRY(open_assets(environment, folder, arguments.has("--strict")));
  const config::InstallConfig& config = opened.config.config;
  // Checked before anything is written or consumed.
  ClusterDirectory known = new_cluster_directory(environment, folder, config);
  OpenedProvider machines = TRY(open_machines(environment, arguments, known, ProviderUse::new_cluster));
  TRY(machines->check_config(config));
  TRY(keep_expiry(environment, arguments, *machines, folder));
  const auto earlier = TRY(sys::read_events(environment.files, events_path(folder)));
  record_events(environment, folder);
  const auto installed = TRY(installed_release(environment, *machines, folder));
  const assets::Environment inputs = TRY(asset_inputs(environment, arguments, config, installed, true, true));
  std::optional<assets::Assets> made;
  TRY(steps.run(environment.context, cluster::Step::assets, [&]() -> Result<> {
    made = TRY(assets::load_or_make(environment.context, environment.files, environment.random, opened, inputs,
                                    target_request(environment, assets::Target::cluster).consumes_install_config));
    return Ok{};
  }));
  const assets::Assets& assets = *made;
  if (known.id.infra_id.empty()) {
    // Now the cluster has the id that is in the names of its machines.
    known.id = assets.id;
    machines = TRY(open_machines(environment, arguments, known, ProviderUse::new_cluster));
  }
  TRY(environment.files.write(machines_path(folder), fmt::format("{}/{}\n", machines->place(), assets.config.name), 0600));
  kube::Client api = TRY(client_of(environment, assets));
  const auto os_login = TRY(environment.files.read_if_exists(os_registry_login_file(folder)));
  const Result<> done = cluster::install(environment,
                                         {.assets = assets,
                                          .machines = *machines,
                                          .api = api,
                                          .folder = folder,
                                          .release = inputs.release_image,
                                          .release_version = inputs.release_version,
                                          .earlier = earlier.value_or(std::vector<sys::Event>()),
                                          .keep_bootstrap = keeps_bootstrap(),
                                          .os_registry_login = Secret(os_login.value_or(""))},
                                         faults, steps);
  // Also after a failure: the reason may be an image that can be loaded.
  if (const auto registry = machines->image_registry(); registry.ok() && registry.value())
    TRY(write_registry_files(environment.files, folder, *registry.value()));
  TRY(done);
  TRY(trust_routers(environment, folder));
  if (const auto access = TRY(machines->host_access()); access && arguments["--output"] != "json") {
    const auto took = std::chrono::duration_cast<Milliseconds>(environment.context.clock.steady() - begin);
    environment.print(next_steps(environment.program, assets.config, *access, folder, took));
  }
  keep_state_copy(environment, folder);
  warn_about_ignored_settings(environment, folder);
  return log_console(environment, folder);
}

Result<> create_cluster(const Environment& environment, const Arguments& arguments) {
  print_events(environment, arguments);
  const std::string folder = absolute(arguments["--dir"]);
  return installing(environment, folder, [&](cluster::FaultWatch& faults, cluster::Steps& steps) {
    return create_cluster_in(environment, arguments, folder, faults, steps);
  });
}

}  // namespace

Command create_cluster_command() {
  Command command{
      .words = "create cluster",
      .summary = "Create the cluster (platforms local, libvirt, aws, vsphere); run it again to continue",
      .options = {os_repo_option(),
                  images_option(),
                  os_image_option(),
                  {.name = "--expires",
                   .value = "DURATION",
                   .help =
                       "tag the resources with the time from which the cluster may be removed, for example 8h (platform aws); "
                       "decided by the first run"},
                  state_of_directory_option(),
                  events_option(),
                  strict_option(),
                  {.name = "--skip-password-print",
                   .value = "",
                   .help = "no effect: the password is never printed (accepted for scripts written for openshift-install)"}},
      .run = create_cluster,
      .when_interrupted = "machines keep running; run the same command to continue, or `slipway destroy cluster` to remove them"};
  std::ranges::move(asset_input_options(), std::back_inserter(command.options));
  return command;
}

}  // namespace slipway::cli
