#include "cli/cluster.h"

#include "cli/asset_inputs.h"
#include "cli/local_options.h"

#include "assets/store.h"
#include "cluster/create.h"
#include "cluster/destroy.h"
#include "cluster/gather.h"
#include "sys/events.h"

#include <algorithm>

namespace slipway::cli {

namespace {

Result<cluster::LocalGround> local_ground(const Arguments& arguments) {
  std::string program = TRY(own_program());
  return cluster::LocalGround{.state = state_folder(arguments), .program = std::move(program)};
}

// Events as lines on standard output, for programs.
void print_events(const Environment& environment, const Arguments& arguments) {
  if (arguments["--output"] != "json") return;
  environment.context.events.add_sink([&environment](const sys::Event& event) { environment.print(event.to_line() + "\n"); });
}

Result<> create_cluster(const Environment& environment, const Arguments& arguments) {
  print_events(environment, arguments);
  const std::string folder = absolute(arguments["--dir"]);
  const sys::FileLock lock = TRY(lock_assets(environment, folder));
  const assets::Environment inputs = TRY(asset_inputs(environment, arguments, folder));
  sys::Span span(environment.context.events, environment.context.clock, "step", "assets",
                 {{"description", "configs and certificates are made"}});
  const assets::Assets assets =
      TRY(span.end(assets::load_or_make(environment.context, environment.files, environment.random, folder, inputs)));
  if (assets.config.platform.type != "local") {
    return error(Code::invalid,
                 "platform {}: this version makes machines of platform local only; `slipway create ignition-configs` writes what "
                 "yours need",
                 assets.config.platform.type);
  }
  cluster::LocalGround ground = TRY(local_ground(arguments));
  ground.os_repo = absolute(arguments["--os-repo"]);
  ground.images = TRY(provider::local::find_images(environment.files, absolute(arguments["--images"])));
  TRY(cluster::create_local_cluster(environment, ground, assets));
  if (arguments["--output"] != "json") {
    environment.print(
        fmt::format("The machines of cluster {} have joined. To look at it:\n  export KUBECONFIG={}/auth/kubeconfig\n",
                    assets.config.name, folder));
  }
  return Ok{};
}

// The cluster that an asset directory is of.
Result<std::string> cluster_name(const Environment& environment, const std::string& folder) {
  const std::string path = folder + "/metadata.json";
  const auto text = TRY(environment.files.read_if_exists(path));
  if (!text)
    return error(Code::not_found, "{} is not there, so there is no cluster to be found; name its directory with --dir", path);
  const Json metadata = TRY(parse_json(*text, path));
  return require_string(metadata, {"clusterName"}).context(path);
}

Result<> gather_bootstrap(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  const std::string name = TRY(cluster_name(environment, folder));
  const cluster::LocalGround ground = TRY(local_ground(arguments));
  const std::string archive = TRY(cluster::gather_local_bootstrap(environment, ground, name, folder));
  environment.print(archive + "\n");
  return Ok{};
}

Result<> destroy_bootstrap(const Environment& environment, const Arguments& arguments) {
  const std::string name = TRY(cluster_name(environment, absolute(arguments["--dir"])));
  const cluster::LocalGround ground = TRY(local_ground(arguments));
  return cluster::destroy_local_bootstrap(environment, ground, name);
}

Result<> destroy_cluster(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  const std::string name = TRY(cluster_name(environment, folder));
  const cluster::LocalGround ground = TRY(local_ground(arguments));
  TRY(cluster::destroy_local_cluster(environment, ground, name));
  // The install-config stays: the same command line makes the cluster again, a new one. metadata.json goes last, it says what
  // there is.
  const sys::FileLock lock = TRY(lock_assets(environment, folder));
  return assets::forget(environment.files, folder);
}

Option dir_option() { return {.name = "--dir", .value = "DIR", .help = "the cluster's asset directory", .fallback = "."}; }

}  // namespace

Command create_cluster_command() {
  Command command{.words = "create cluster",
                  .summary = "Make the cluster of an install-config.yaml; the same command again continues",
                  .options = {dir_option(),
                              os_repo_option(),
                              images_option(),
                              state_option(),
                              {.name = "--output",
                               .value = "text|json",
                               .help = "json: events as lines on standard output",
                               .fallback = "text",
                               .choices = {"text", "json"}}},
                  .run = create_cluster};
  std::ranges::move(asset_input_options(), std::back_inserter(command.options));
  return command;
}

Command gather_bootstrap_command() {
  return {.words = "gather bootstrap",
          .summary = "Collect what tells why a cluster does not come up, without secrets, in one archive",
          .options = {dir_option(), state_option()},
          .run = gather_bootstrap};
}

Command destroy_bootstrap_command() {
  return {.words = "destroy bootstrap",
          .summary = "Remove the bootstrap machine",
          .options = {dir_option(), state_option()},
          .run = destroy_bootstrap};
}

Command destroy_cluster_command() {
  return {.words = "destroy cluster",
          .summary = "Remove the cluster's machines and all that was made for it but the install-config",
          .options = {dir_option(), state_option()},
          .run = destroy_cluster};
}

}  // namespace slipway::cli
