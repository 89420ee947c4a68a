#include "cli/cluster.h"

#include "cli/asset_inputs.h"
#include "cli/create_assets.h"
#include "cli/exit_status.h"
#include "cli/local_options.h"
#include "cli/output_option.h"
#include "cli/validate.h"

#include "assets/store.h"
#include "base/text.h"
#include "cluster/create.h"
#include "cluster/destroy.h"
#include "cluster/fault_watch.h"
#include "cluster/gather.h"
#include "cluster/local_cluster.h"
#include "cluster/ready.h"
#include "cluster/router_authority.h"
#include "cluster/timeline.h"
#include "cluster/timeline_html.h"
#include "cluster/workers.h"
#include "diagnosis/open.h"
#include "diagnosis/rules.h"
#include "kube/conditions.h"
#include "sys/environment_variable.h"
#include "sys/event_lines.h"
#include "sys/events.h"
#include "sys/temp_dir.h"

#include <algorithm>
#include <filesystem>
#include <memory>

namespace slipway::cli {

namespace {

std::string machines_path(const std::string& folder) { return fmt::format("{}/{}", folder, assets::machines_file); }

// The folder of clusters that has the machines of this directory's; where new ones go when there are none.
// errors: invalid: --state is another folder
Result<std::string> state_of(const Environment& environment, const Arguments& arguments, const std::string& folder) {
  const std::string chosen = state_folder(arguments);
  const std::filesystem::path made = trim(TRY(environment.files.read_if_exists(machines_path(folder))).value_or(""));
  if (made.empty() || made.parent_path() == chosen || !TRY(environment.files.info(made))) return chosen;
  if (!arguments.has("--state")) return made.parent_path().string();
  return error(Code::invalid, "--state {}: the machines of {} are in {}", chosen, folder, made.parent_path().string());
}

Result<cluster::LocalGround> local_ground(const Environment& environment, const Arguments& arguments, const std::string& folder) {
  std::string program = TRY(own_program());
  std::string state = TRY(state_of(environment, arguments, folder));
  return cluster::LocalGround{.state = std::move(state), .program = std::move(program)};
}

std::string events_path(const std::string& folder) { return fmt::format("{}/{}", folder, assets::events_file); }

// What happens to a cluster stands in its directory; `slipway timeline` reads it.
void keep_events(const Environment& environment, const std::string& folder) {
  const auto on_failure = [&log = environment.context.log](const Error& why) {
    log.warn("cannot write events: {}; continuing without them", why.message());
  };
  environment.context.events.add_sink(sys::journal_sink(environment.files, events_path(folder), on_failure));
}

// Events as lines on standard output, for programs.
void print_events(const Environment& environment, const Arguments& arguments) {
  if (arguments["--output"] != "json") return;
  environment.context.events.add_sink([&environment](const sys::Event& event) { environment.print(event.to_line() + "\n"); });
}

// What people do next.
std::string next_steps(std::string_view program, const config::InstallConfig& config, const provider::local::ClusterConfig& made,
                       const std::string& folder, Milliseconds took) {
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
                    "One more worker:           {0} create worker --dir {1}\n"
                    "What took how long:        {0} timeline --dir {1}\n"
                    "To remove all of it:       {0} destroy cluster --dir {1}\n",
                    program, folder);
}

Result<kube::Client> client_of(const Environment& environment, const std::string& folder) {
  return kube::Client(environment.http, TRY(kube::read_kubeconfig(environment.files, folder + "/auth/kubeconfig")));
}

// Where the console is, of a release that has one.
std::optional<std::string> console_of(const Environment& environment, const std::string& folder) {
  auto client = client_of(environment, folder);
  if (!client.ok()) return std::nullopt;
  const Result<Json> route = client.value().send(
      environment.context,
      {.path = "/apis/route.openshift.io/v1/namespaces/openshift-console/routes/console", .limit = Seconds(10)});
  if (!route.ok()) return std::nullopt;
  for (const Json& ingress : find_array(route.value(), {"status", "ingress"})) {
    const auto host = find_string(ingress, {"host"});
    if (host && kube::condition_status({{"status", ingress}}, "Admitted") == "True") return fmt::format("https://{}", *host);
  }
  return std::nullopt;
}

Result<> tell_console(const Environment& environment, const std::string& folder) {
  const std::optional<std::string> console = console_of(environment, folder);
  if (!console) {
    environment.context.log.debug("no console was found");
    return Ok{};
  }
  std::optional<std::string> password = folder + "/auth/kubeadmin-password";
  if (!TRY(environment.files.info(*password))) password.reset();
  for (const std::string& line : console_lines(*console, password)) environment.context.log.info("{}", line);
  return Ok{};
}

// The last step of an installation: without it programs of the user's take applications of the cluster for strangers.
Result<> trust_routers(const Environment& environment, const std::string& folder) {
  kube::Client api = TRY(client_of(environment, folder));
  return or_end_with(ExitStatus::initialisation, environment,
                     cluster::trust_routers(environment.context, environment.files, api, folder + "/auth/kubeconfig"));
}

// What the operators say of themselves when a cluster has not become complete; nothing when nobody can be asked.
std::vector<Json> ask_operators(const Environment& environment, const std::string& folder) {
  auto client = client_of(environment, folder);
  if (!client.ok()) return {};
  kube::Client& api = client.value();
  if (!api.send(environment.context, {.path = "/readyz", .limit = Seconds(5)}).ok()) return {};
  auto found = kube::list(environment.context, api, kube::types::cluster_operators, "", {});
  return found.ok() ? std::move(found).value() : std::vector<Json>();
}

// With which status an installation ends that failed, and where people can look (installer 8.1 to 8.4).
void tell_end(const Environment& environment, const std::string& folder, const FailedStep& failed) {
  ExitStatus status = status_of_step(failed.name());
  Log& log = environment.context.log;
  if (status == ExitStatus::bootstrap || status == ExitStatus::initialisation || status == ExitStatus::operators) {
    const std::vector<Json> operators = ask_operators(environment, folder);
    for (const cluster::OperatorLine& line : cluster::operator_lines(operators)) {
      line.level == Level::error ? log.error("{}", line.text) : log.info("{}", line.text);
    }
    if (status == ExitStatus::operators && !cluster::only_work_is_left(operators)) status = ExitStatus::initialisation;
    if (status == ExitStatus::bootstrap) {
      log.info(
          "`slipway gather bootstrap --dir {}` collects what tells why, of machines elsewhere with --bootstrap HOST; "
          "`slipway analyze --dir {}` looks at it",
          folder, folder);
    } else {
      log.info("{}/auth/kubeconfig is for looking at the cluster; `slipway wait-for install-complete --dir {}` waits again",
               folder, folder);
    }
  }
  environment.exit_status = static_cast<int>(status);
}

// An installation, or waiting for one: watched, and ended with the status of what failed.
Result<> installing(const Environment& environment, const std::string& folder,
                    const std::function<Result<>(cluster::FaultWatch&)>& work) {
  const SteadyTime begin = environment.context.clock.steady();
  // Sinks are called as long as there are events.
  const auto faults = std::make_shared<cluster::FaultWatch>(environment.context.clock);
  const auto failed = std::make_shared<FailedStep>();
  environment.context.events.add_sink([faults, failed](const sys::Event& event) {
    faults->hear(event);
    failed->hear(event);
  });
  const Result<> worked = work(*faults);
  if (worked.ok()) {
    const auto took = std::chrono::duration_cast<Milliseconds>(environment.context.clock.steady() - begin);
    environment.context.log.info("time elapsed: {}", human_duration(took));
  } else if (!failed->name().empty() && !environment.context.stop.stop_requested()) {
    tell_end(environment, folder, *failed);
  }
  return worked;
}

bool keeps_bootstrap() { return !sys::environment_variable("OPENSHIFT_INSTALL_PRESERVE_BOOTSTRAP").empty(); }

// Before anything is written or consumed.
Result<> check_platform(const config::InstallConfig& config) {
  if (config.platform.type == "local") return Ok{};
  return error(Code::invalid,
               "platform {}: this version makes machines of platform local only; `slipway create ignition-configs` writes what "
               "yours need",
               config.platform.type);
}

Result<> create_cluster_in(const Environment& environment, const Arguments& arguments, const std::string& folder,
                           cluster::FaultWatch& faults) {
  const SteadyTime begin = environment.context.clock.steady();
  const sys::FileLock lock = TRY(lock_assets(environment, folder));
  const assets::Folder opened = TRY(open_assets(environment, folder, arguments.has("--strict")));
  TRY(check_platform(opened.config.config));
  const auto earlier = TRY(sys::read_events(environment.files, events_path(folder)));
  keep_events(environment, folder);
  const assets::Environment inputs = TRY(asset_inputs(environment, arguments, opened.config.config));
  sys::Span span(environment.context.events, environment.context.clock, "step", "assets",
                 {{"description", "configs and certificates are made"}});
  const assets::Assets assets =
      TRY(span.end(assets::load_or_make(environment.context, environment.files, environment.random, opened, inputs,
                                        target_request(environment, assets::Target::cluster).consumes_install_config)));
  cluster::LocalGround ground = TRY(local_ground(environment, arguments, folder));
  TRY(environment.files.write(machines_path(folder), ground.choice(assets.config.name).paths().folder + "\n", 0600));
  ground.os_repo = absolute(arguments["--os-repo"]);
  ground.images = TRY(provider::local::find_images(environment.files, absolute(arguments["--images"])));
  TRY(cluster::create_local_cluster(environment, ground, assets, earlier.value_or(std::vector<sys::Event>()), faults, folder,
                                    keeps_bootstrap()));
  TRY(trust_routers(environment, folder));
  if (arguments["--output"] != "json") {
    const provider::local::ClusterConfig made =
        TRY(provider::local::read_cluster(environment.files, ground.choice(assets.config.name)));
    const auto took = std::chrono::duration_cast<Milliseconds>(environment.context.clock.steady() - begin);
    environment.print(next_steps(environment.program, assets.config, made, folder, took));
  }
  return tell_console(environment, folder);
}

Result<> create_cluster(const Environment& environment, const Arguments& arguments) {
  print_events(environment, arguments);
  const std::string folder = absolute(arguments["--dir"]);
  return installing(environment, folder,
                    [&](cluster::FaultWatch& faults) { return create_cluster_in(environment, arguments, folder, faults); });
}

// The cluster that an asset directory is of.
struct OfDirectory {
  std::string folder;
  std::string cluster;
  assets::ClusterId id;
};

Result<OfDirectory> read_metadata(const Environment& environment, const std::string& folder) {
  const std::string path = folder + "/metadata.json";
  const auto text = TRY(environment.files.read_if_exists(path));
  if (!text)
    return error(Code::not_found, "{} is not there, so there is no cluster to be found; name its directory with --dir", path);
  const Json metadata = TRY(parse_json(*text, path));
  std::string name = TRY(require_string(metadata, {"clusterName"}).context(path));
  const std::string infra_id(find_string(metadata, {"infraID"}).value_or(""));
  return OfDirectory{folder, std::move(name), {.infra_id = infra_id, .cluster_id = {}}};
}

Result<std::string> cluster_name(const Environment& environment, const std::string& folder) {
  return TRY(read_metadata(environment, folder)).cluster;
}

enum class Machines { none, own, of_another_directory };

// The machines that have the name of a directory's cluster.
Result<Machines> machines_of(const Environment& environment, const cluster::LocalGround& ground, const OfDirectory& known) {
  const auto there = provider::local::read_cluster(environment.files, ground.choice(known.cluster));
  if (!there.ok()) return there.error().code() == Code::not_found ? Machines::none : Machines::own;  // what a kill has left
  if (known.id.infra_id.empty())
    return error(Code::invalid, "{}/metadata.json: infraID: missing, a string is needed", known.folder);
  return cluster::is_of(there.value(), known.id) ? Machines::own : Machines::of_another_directory;
}

Result<> check_machines(const Environment& environment, const cluster::LocalGround& ground, const OfDirectory& known) {
  if (TRY(machines_of(environment, ground, known)) != Machines::of_another_directory) return Ok{};
  return error(Code::conflict, "the cluster {} in {} was made from another directory than {}: name that one with --dir",
               known.cluster, ground.state, known.folder);
}

// Machines that start when that is over do not get into the cluster; one that is complete has other certificates by then.
void warn_of_age(const Environment& environment, const std::string& folder) {
  const auto end = assets::usable_until(environment.files, folder);
  if (!end.ok() || !end.value() || end.value()->until > environment.context.clock.now()) return;
  environment.context.log.warn(
      "machines could be made of the Ignition configs in {} until {}, when the certificate {} ended: those that start now cannot "
      "join; make new configs in another directory",
      folder, to_rfc3339(end.value()->until), end.value()->certificate);
}

// Waits for a cluster of any platform, through the kubeconfig of its directory.
Result<> wait_for(const Environment& environment, const Arguments& arguments, const std::string& folder,
                  std::vector<cluster::Condition> (*conditions)(const config::InstallConfig&)) {
  print_events(environment, arguments);
  const config::InstallConfig config = TRY(read_config(environment, folder));
  kube::Client api = TRY(client_of(environment, folder).context("no cluster was made of this directory yet"));
  const cluster::LocalGround ground = TRY(local_ground(environment, arguments, folder));
  const bool is_local =
      config.platform.type == "local" && provider::local::read_cluster(environment.files, ground.choice(config.name)).ok();
  const cluster::Subject subject{config.name, is_local ? &ground : nullptr, &config, &api};
  return installing(environment, folder, [&](cluster::FaultWatch& faults) {
    return cluster::while_watched(environment, subject, folder, faults, [&](const sys::Context& watched) {
      return cluster::wait_for_all(watched, api, conditions(config), [] { return std::string(); });
    });
  });
}

Result<> wait_for_bootstrap(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  warn_of_age(environment, folder);
  TRY(wait_for(environment, arguments, folder, cluster::bootstrap_conditions));
  if (arguments["--output"] != "json") {
    environment.print(fmt::format("The bootstrap machine is not needed any more: {} destroy bootstrap\n", environment.program));
  }
  return Ok{};
}

Result<> wait_for_install(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  TRY(wait_for(environment, arguments, folder, cluster::install_conditions));
  TRY(trust_routers(environment, folder));
  environment.context.log.info("install complete; to use the cluster: export KUBECONFIG={}/auth/kubeconfig", folder);
  return tell_console(environment, folder);
}

// What the machines of a cluster did, by their owner; nothing when there are none any more.
Result<std::vector<sys::Event>> read_machine_events(const Environment& environment, const Arguments& arguments,
                                                    const std::string& folder, const std::string& cluster) {
  const cluster::LocalGround ground = TRY(local_ground(environment, arguments, folder));
  return TRY(sys::read_events(environment.files, ground.choice(cluster).paths().events())).value_or(std::vector<sys::Event>());
}

Result<> timeline(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  const std::string path = arguments.has("--from") ? absolute(arguments["--from"]) : events_path(folder);
  auto events = TRY(sys::read_events(environment.files, path));
  if (!events)
    return error(Code::not_found, "{} is not there: nothing was installed from this directory; name one with --dir", path);
  std::string name;
  if (const Result<std::string> known = cluster_name(environment, folder); known.ok() && !arguments.has("--from")) {
    name = known.value();
    std::ranges::move(TRY(read_machine_events(environment, arguments, folder, name)), std::back_inserter(*events));
  }
  const cluster::Timeline made = cluster::make_timeline(std::move(*events));
  const std::string& output = arguments["--output"];
  environment.print(output == "html"   ? cluster::to_html(made, name)
                    : output == "json" ? emit_json(cluster::to_json(made, name), JsonStyle::pretty)
                                       : cluster::to_text(made));
  return Ok{};
}

// Machines that --bootstrap and its kin name; nothing when nobody named any.
Result<std::optional<cluster::RemoteMachines>> remote_machines(const Arguments& arguments) {
  cluster::RemoteMachines machines{arguments["--bootstrap"], arguments.list("--master"), {}};
  for (const std::string& key : arguments.list("--key")) machines.keys.push_back(absolute(key));
  if (arguments.has("--bootstrap")) return std::optional(std::move(machines));
  if (machines.masters.empty() && machines.keys.empty()) return std::optional<cluster::RemoteMachines>();
  return error(Code::invalid,
               "--master and --key are for machines that ssh reaches by way of their bootstrap machine: name that one with "
               "--bootstrap HOST");
}

// The key that the bootstrap machine got from Ignition, in a file for ssh. Empty where nobody knows it: there are other keys.
Result<std::string> write_ssh_key(const Environment& environment, const std::string& folder, const std::string& private_folder) {
  const Result<std::optional<Secret>> key = assets::private_ssh_key(environment.files, folder);
  if (!key.ok()) environment.context.log.warn("the key of the bootstrap machine is not known: {}", key.error().message());
  if (!key.ok() || !key.value()) return std::string();
  const std::string path = private_folder + "/bootstrap-ssh.key";
  TRY(environment.files.write(path, key.value()->reveal(), 0600));
  return path;
}

Result<> gather_bootstrap(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  const std::optional<cluster::RemoteMachines> remote = TRY(remote_machines(arguments));
  const Result<config::InstallConfig> config = assets::read_config(environment.files, folder);
  std::optional<kube::Client> api;
  if (const auto access = kube::read_kubeconfig(environment.files, folder + "/auth/kubeconfig"); access.ok()) {
    api.emplace(environment.http, access.value());
  }
  cluster::Subject subject{.cluster = {}, .config = config.ok() ? &config.value() : nullptr, .api = api ? &*api : nullptr};
  const cluster::LocalGround ground = TRY(local_ground(environment, arguments, folder));
  const sys::TempDir keys = TRY(sys::TempDir::make("slipway-ssh"));
  if (remote) {
    subject.remote = &*remote;
    subject.ssh_key = TRY(write_ssh_key(environment, folder, keys.path()));
  } else {
    subject.cluster = TRY(cluster_name(environment, folder));
    if (config.ok() && config->platform.type != "local") {
      environment.context.log.warn("the machines are asked nothing: --bootstrap HOST says where they are");
    } else {
      subject.ground = &ground;
    }
  }
  const std::string archive = TRY(cluster::gather(environment, subject, folder));
  environment.print(archive + "\n");
  if (arguments.has("--skipAnalysis")) return Ok{};
  const auto findings = diagnosis::diagnose(TRY(diagnosis::unpack(TRY(environment.files.read(archive)))));
  for (const diagnosis::Finding& finding : findings) {
    environment.context.log.info("{}: {}; {}", finding.name, finding.cause, finding.next_step);
  }
  return Ok{};
}

Result<> destroy_bootstrap(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  const OfDirectory known = TRY(read_metadata(environment, folder));
  const cluster::LocalGround ground = TRY(local_ground(environment, arguments, folder));
  TRY(check_machines(environment, ground, known));
  return cluster::destroy_local_bootstrap(environment, ground, known.cluster);
}

Result<> destroy_cluster(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  const OfDirectory known = TRY(read_metadata(environment, folder));
  const cluster::LocalGround ground = TRY(local_ground(environment, arguments, folder));
  const Machines machines = TRY(machines_of(environment, ground, known));
  if (machines == Machines::none) {
    environment.context.log.warn("there are no machines of {} in {}; only files of {} are removed", known.cluster, ground.state,
                                 folder);
  }
  if (machines == Machines::of_another_directory) {
    environment.context.log.warn("the cluster {} in {} was made from another directory and stays; only files of {} are removed",
                                 known.cluster, ground.state, folder);
  } else {
    TRY(cluster::destroy_local_cluster(environment, ground, known.cluster));
  }
  // The install-config stays: the same command line makes the cluster again, a new one. metadata.json goes last, it says what
  // there is.
  const sys::FileLock lock = TRY(lock_assets(environment, folder));
  TRY(environment.files.remove(events_path(folder)));
  TRY(environment.files.remove(machines_path(folder)));
  return assets::forget(environment.files, folder);
}

// Does something with the workers of a directory's cluster, one command at a time.
Result<> change_workers(const Environment& environment, const Arguments& arguments,
                        const std::function<Result<>(const cluster::WorkerGround&)>& change) {
  print_events(environment, arguments);
  const std::string folder = absolute(arguments["--dir"]);
  const OfDirectory known = TRY(read_metadata(environment, folder));
  const sys::FileLock lock = TRY(lock_assets(environment, folder));
  keep_events(environment, folder);
  const cluster::LocalGround ground = TRY(local_ground(environment, arguments, folder));
  TRY(check_machines(environment, ground, known));
  kube::Client api = TRY(client_of(environment, folder));
  return change({ground, known.cluster, api});
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

constexpr const char* waiting_interrupted = "the installation goes on without being watched, and the same command waits again";
constexpr const char* destroying_interrupted = "the same command removes what is left";

Option events_option() { return output_option("json: events as lines on standard output"); }

}  // namespace

std::vector<std::string> console_lines(const std::string& console, const std::optional<std::string>& password_file) {
  std::vector<std::string> lines = {fmt::format("the console is at {}", console)};
  if (password_file) lines.push_back(fmt::format("log in there as kubeadmin, with the password in {}", *password_file));
  return lines;
}

Command create_cluster_command() {
  Command command{.words = "create cluster",
                  .summary = "Make the cluster of an install-config.yaml; the same command again continues",
                  .options = {os_repo_option(),
                              images_option(),
                              state_of_directory_option(),
                              events_option(),
                              strict_option(),
                              {.name = "--skip-password-print",
                               .value = "",
                               .help = "nothing: the password is never printed; for scripts of openshift-install"}},
                  .run = create_cluster,
                  .when_interrupted =
                      "machines that were made go on, and the same command continues; `slipway destroy cluster` "
                      "removes them"};
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
      .options = {state_of_directory_option(), events_option()},
      .run = create_worker,
      .when_interrupted = "the machine goes on, and the same command with its name continues"};
}

Command destroy_worker_command() {
  return {.words = "destroy worker",
          .summary = "Take a worker out of a cluster on local machines: what runs on it moves first",
          .positionals = {{.name = "NAME", .value = "NAME", .help = "of the worker", .required = true}},
          .options = {{.name = "--force", .value = "", .help = "at once, without waiting for what runs on it to move"},
                      state_of_directory_option(),
                      events_option()},
          .run = destroy_worker,
          .when_interrupted = destroying_interrupted};
}

Command wait_for_bootstrap_command() {
  return {.words = "wait-for bootstrap-complete",
          .summary = "Wait until the control plane runs on its own machines and the bootstrap machine may go",
          .options = {state_of_directory_option(), events_option()},
          .run = wait_for_bootstrap,
          .when_interrupted = waiting_interrupted};
}

Command wait_for_install_command() {
  return {.words = "wait-for install-complete",
          .summary = "Wait until the nodes are Ready, the operators available and the release installed",
          .options = {state_of_directory_option(), events_option()},
          .run = wait_for_install,
          .when_interrupted = waiting_interrupted};
}

Command timeline_command() {
  return {.words = "timeline",
          .summary = "Show what happened when, who waited for whom, and which chain of waiting took all the time",
          .options = {{.name = "--from", .value = "FILE", .help = "events of another place than the directory's"},
                      {.name = "--output",
                       .value = "text|html|json",
                       .help = "html: a page for a browser, in one file; json: for programs",
                       .fallback = "text",
                       .choices = {"text", "html", "json"}},
                      state_of_directory_option()},
          .run = timeline};
}

Command gather_bootstrap_command() {
  return {.words = "gather bootstrap",
          .summary = "Collect what tells why a cluster does not come up, without secrets, in one archive",
          .options = {{.name = "--bootstrap",
                       .value = "HOST",
                       .help = "of machines that are not local: the bootstrap machine, which ssh enters as the user core"},
                      {.name = "--master",
                       .value = "HOST",
                       .help = "a machine of the control plane, as the bootstrap machine finds it; else those that the API knows",
                       .repeats = true},
                      {.name = "--key",
                       .value = "FILE",
                       .help = "a private key to log in with, beside those of ~/.ssh; else those of your SSH agent",
                       .repeats = true},
                      {.name = "--skipAnalysis", .value = "", .help = "do not say what is found in it"},
                      state_of_directory_option()},
          .run = gather_bootstrap,
          .when_interrupted = "nothing was kept of what was gathered"};
}

Command destroy_bootstrap_command() {
  return {.words = "destroy bootstrap",
          .summary = "Remove the bootstrap machine",
          .options = {state_of_directory_option()},
          .run = destroy_bootstrap,
          .when_interrupted = destroying_interrupted};
}

Command destroy_cluster_command() {
  return {.words = "destroy cluster",
          .summary = "Remove the cluster's machines and all that was made for it but the install-config",
          .options = {state_of_directory_option()},
          .run = destroy_cluster,
          .when_interrupted = destroying_interrupted};
}

}  // namespace slipway::cli
