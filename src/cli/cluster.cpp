#include "cli/cluster.h"

#include "cli/asset_inputs.h"
#include "cli/local_options.h"

#include "assets/store.h"
#include "base/text.h"
#include "cluster/create.h"
#include "cluster/destroy.h"
#include "cluster/fault_watch.h"
#include "cluster/gather.h"
#include "cluster/local_cluster.h"
#include "cluster/ready.h"
#include "cluster/timeline.h"
#include "cluster/timeline_html.h"
#include "cluster/workers.h"
#include "sys/events.h"

#include <algorithm>

namespace slipway::cli {

namespace {

Result<cluster::LocalGround> local_ground(const Arguments& arguments) {
  std::string program = TRY(own_program());
  return cluster::LocalGround{.state = state_folder(arguments), .program = std::move(program)};
}

std::string events_path(const std::string& folder) { return folder + "/events.jsonl"; }

// What happens to a cluster stands in its directory; `slipway timeline` reads it.
void keep_events(const Environment& environment, const std::string& folder) {
  const auto on_failure = [&log = environment.context.log](const Error& why) {
    log.warn("cannot write events: {}; continuing without them", why.message());
  };
  environment.context.events.add_sink(sys::journal_sink(environment.files, events_path(folder), on_failure));
}

// What was told there so far; nothing when there is no such file.
Result<std::optional<std::vector<sys::Event>>> read_events(const Environment& environment, const std::string& path) {
  const auto text = TRY(environment.files.read_if_exists(path));
  if (!text) return std::optional<std::vector<sys::Event>>();
  std::vector<sys::Event> events;
  for (const std::string_view line : split(*text, '\n')) {
    Result<sys::Event> event = sys::parse_event(line);
    if (event.ok()) events.push_back(std::move(event).value());  // others were cut by a kill
  }
  return std::optional(std::move(events));
}

// Events as lines on standard output, for programs.
void print_events(const Environment& environment, const Arguments& arguments) {
  if (arguments["--output"] != "json") return;
  environment.context.events.add_sink([&environment](const sys::Event& event) { environment.print(event.to_line() + "\n"); });
}

// What people do next.
std::string next_steps(const config::InstallConfig& config, const provider::local::ClusterConfig& made, const std::string& folder,
                       Milliseconds took) {
  const std::string domain = config.cluster_domain();
  std::string text = fmt::format(
      "\nCluster {} is complete, after {}.\n\n"
      "To use it:\n"
      "  export KUBECONFIG={}/auth/kubeconfig\n"
      "Its API, https://api.{}:{}, answers on this host at {}:{}.\n",
      config.name, human_duration(took), folder, domain, cluster::api_port, made.host_address, cluster::api_port);
  const cluster::IngressPorts ports = cluster::ingress_ports(made.forwards);
  if (ports.https != 0) {
    const std::string name = "NAME.apps." + domain;
    text += fmt::format(
        "Applications, *.apps.{} ({} in its network), answer on this host at {}, ports {} and {}; a Route of host {}:\n"
        "  curl --insecure --resolve {}:{}:{} https://{}{}\n",
        domain, config::ingress_vips(config).at(0), made.host_address, ports.http, ports.https, name, name, ports.https,
        made.host_address, name, ports.https == 443 ? "" : fmt::format(":{}", ports.https));
  }
  return text + fmt::format(
                    "One more worker:           slipway create worker --dir {}\n"
                    "What took how long:        slipway timeline --dir {}\n"
                    "To remove all of it:       slipway destroy cluster --dir {}\n",
                    folder, folder, folder);
}

Result<> create_cluster(const Environment& environment, const Arguments& arguments) {
  const SteadyTime begin = environment.context.clock.steady();
  print_events(environment, arguments);
  cluster::FaultWatch faults(environment.context.clock);
  environment.context.events.add_sink([&faults](const sys::Event& event) { faults.hear(event); });
  const std::string folder = absolute(arguments["--dir"]);
  const sys::FileLock lock = TRY(lock_assets(environment, folder));
  const auto earlier = TRY(read_events(environment, events_path(folder)));
  keep_events(environment, folder);
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
  TRY(cluster::create_local_cluster(environment, ground, assets, earlier.value_or(std::vector<sys::Event>()), faults, folder));
  if (arguments["--output"] != "json") {
    const provider::local::ClusterConfig made =
        TRY(provider::local::read_cluster(environment.files, ground.choice(assets.config.name)));
    const auto took = std::chrono::duration_cast<Milliseconds>(environment.context.clock.steady() - begin);
    environment.print(next_steps(assets.config, made, folder, took));
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

// Waits for a cluster of any platform, through the kubeconfig of its directory.
Result<> wait_for(const Environment& environment, const Arguments& arguments,
                  std::vector<cluster::Condition> (*conditions)(const config::InstallConfig&)) {
  print_events(environment, arguments);
  cluster::FaultWatch faults(environment.context.clock);
  environment.context.events.add_sink([&faults](const sys::Event& event) { faults.hear(event); });
  const std::string folder = absolute(arguments["--dir"]);
  const config::InstallConfig config = TRY(assets::read_config(environment.files, folder));
  const kube::Access access = TRY(
      kube::read_kubeconfig(environment.files, folder + "/auth/kubeconfig").context("no cluster was made of this directory yet"));
  kube::Client api(environment.http, access);
  const cluster::LocalGround ground = TRY(local_ground(arguments));
  const bool is_local = config.platform.type == "local" && provider::local::read_cluster(environment.files, ground.choice(config.name)).ok();
  const cluster::Subject subject{config.name, is_local ? &ground : nullptr, &config, &api};
  return cluster::while_watched(environment, subject, folder, faults, [&](const sys::Context& watched) {
    return cluster::wait_for_all(watched, api, conditions(config), [] { return std::string(); });
  });
}

Result<> wait_for_bootstrap(const Environment& environment, const Arguments& arguments) {
  TRY(wait_for(environment, arguments, cluster::bootstrap_conditions));
  if (arguments["--output"] != "json")
    environment.print("The bootstrap machine is not needed any more: slipway destroy bootstrap\n");
  return Ok{};
}

Result<> wait_for_install(const Environment& environment, const Arguments& arguments) {
  return wait_for(environment, arguments, cluster::install_conditions);
}

// What the machines of a cluster did, by their owner; nothing when there are none any more.
Result<std::vector<sys::Event>> read_machine_events(const Environment& environment, const Arguments& arguments,
                                                    const std::string& cluster) {
  const cluster::LocalGround ground = TRY(local_ground(arguments));
  return TRY(read_events(environment, ground.choice(cluster).paths().events())).value_or(std::vector<sys::Event>());
}

Result<> timeline(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  const std::string path = arguments.has("--from") ? absolute(arguments["--from"]) : events_path(folder);
  auto events = TRY(read_events(environment, path));
  if (!events)
    return error(Code::not_found, "{} is not there: nothing was installed from this directory; name one with --dir", path);
  std::string name;
  if (const Result<std::string> known = cluster_name(environment, folder); known.ok() && !arguments.has("--from")) {
    name = known.value();
    std::ranges::move(TRY(read_machine_events(environment, arguments, name)), std::back_inserter(*events));
  }
  const cluster::Timeline made = cluster::make_timeline(std::move(*events));
  const std::string& output = arguments["--output"];
  environment.print(output == "html"   ? cluster::to_html(made, name)
                    : output == "json" ? emit_json(cluster::to_json(made, name), JsonStyle::pretty)
                                       : cluster::to_text(made));
  return Ok{};
}

Result<> gather_bootstrap(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  const std::string name = TRY(cluster_name(environment, folder));
  const cluster::LocalGround ground = TRY(local_ground(arguments));
  const Result<config::InstallConfig> config = assets::read_config(environment.files, folder);
  std::optional<kube::Client> api;
  if (const auto access = kube::read_kubeconfig(environment.files, folder + "/auth/kubeconfig"); access.ok()) {
    api.emplace(environment.http, access.value());
  }
  const std::string archive = TRY(cluster::gather(
      environment, {name, &ground, config.ok() ? &config.value() : nullptr, api ? &*api : nullptr}, folder));
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
  TRY(environment.files.remove(events_path(folder)));
  return assets::forget(environment.files, folder);
}

// Does something with the workers of a directory's cluster, one command at a time.
Result<> change_workers(const Environment& environment, const Arguments& arguments,
                        const std::function<Result<>(const cluster::WorkerGround&)>& change) {
  print_events(environment, arguments);
  const std::string folder = absolute(arguments["--dir"]);
  const std::string name = TRY(cluster_name(environment, folder));
  const sys::FileLock lock = TRY(lock_assets(environment, folder));
  keep_events(environment, folder);
  const cluster::LocalGround ground = TRY(local_ground(arguments));
  kube::Client api(environment.http, TRY(kube::read_kubeconfig(environment.files, folder + "/auth/kubeconfig")));
  return change({ground, name, api});
}

Result<> create_worker(const Environment& environment, const Arguments& arguments) {
  return change_workers(environment, arguments, [&](const cluster::WorkerGround& where) -> Result<> {
    const std::string made = TRY(cluster::create_local_worker(environment, where, arguments["NAME"]));
    if (arguments["--output"] != "json") environment.print(fmt::format("{} is Ready\n", made));
    return Ok{};
  });
}

Result<> destroy_worker(const Environment& environment, const Arguments& arguments) {
  return change_workers(environment, arguments, [&](const cluster::WorkerGround& where) {
    return cluster::destroy_local_worker(environment, where, arguments["NAME"], arguments.has("--force"));
  });
}

Option output_option() {
  return {.name = "--output",
          .value = "text|json",
          .help = "json: events as lines on standard output",
          .fallback = "text",
          .choices = {"text", "json"}};
}

Option dir_option() { return {.name = "--dir", .value = "DIR", .help = "the cluster's asset directory", .fallback = "."}; }

}  // namespace

Command create_cluster_command() {
  Command command{.words = "create cluster",
                  .summary = "Make the cluster of an install-config.yaml; the same command again continues",
                  .options = {dir_option(), os_repo_option(), images_option(), state_option(), output_option()},
                  .run = create_cluster};
  std::ranges::move(asset_input_options(), std::back_inserter(command.options));
  return command;
}

Command create_worker_command() {
  return {
      .words = "create worker",
      .summary = "Add a worker to a cluster on local machines, and wait until it is Ready",
      .positionals = {{.name = "NAME",
                       .value = "NAME",
                       .help = "of the worker; the first of worker-0, worker-1, ... that is free when there is none. With the "
                               "name of one that was begun the command continues"}},
      .options = {dir_option(), state_option(), output_option()},
      .run = create_worker};
}

Command destroy_worker_command() {
  return {.words = "destroy worker",
          .summary = "Take a worker out of a cluster on local machines: what runs on it moves first",
          .positionals = {{.name = "NAME", .value = "NAME", .help = "of the worker", .required = true}},
          .options = {dir_option(),
                      {.name = "--force", .value = "", .help = "at once, without waiting for what runs on it to move"},
                      state_option(),
                      output_option()},
          .run = destroy_worker};
}

Command wait_for_bootstrap_command() {
  return {.words = "wait-for bootstrap-complete",
          .summary = "Wait until the control plane runs on its own machines and the bootstrap machine may go",
          .options = {dir_option(), state_option(), output_option()},
          .run = wait_for_bootstrap};
}

Command wait_for_install_command() {
  return {.words = "wait-for install-complete",
          .summary = "Wait until the nodes are Ready, the operators available and the release installed",
          .options = {dir_option(), state_option(), output_option()},
          .run = wait_for_install};
}

Command timeline_command() {
  return {.words = "timeline",
          .summary = "Show what happened when, who waited for whom, and which chain of waiting took all the time",
          .options = {dir_option(),
                      {.name = "--from", .value = "FILE", .help = "events of another place than the directory's"},
                      {.name = "--output",
                       .value = "text|html|json",
                       .help = "html: a page for a browser, in one file; json: for programs",
                       .fallback = "text",
                       .choices = {"text", "html", "json"}},
                      state_option()},
          .run = timeline};
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
