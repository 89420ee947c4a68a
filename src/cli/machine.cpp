#include "cli/machine.h"

#include "cli/cluster_directory.h"
#include "cli/discovery_image.h"
#include "cli/local_options.h"
#include "cli/secret_option.h"

#include "cli/output_option.h"
#include "provider/local/client.h"
#include "provider/local/owner.h"
#include "provider/local/shell.h"

#include "base/json.h"

#include <algorithm>

namespace slipway::cli {

namespace {

namespace local = provider::local;

constexpr const char* default_cluster = "default";

Option cluster_option() {
  return {.name = "--cluster", .value = "NAME", .help = "name of the cluster", .fallback = default_cluster};
}
Option wait_option() {
  return {.name = "--wait", .value = "", .help = "wait until the machines have booted or have failed to boot"};
}
Option live_option() {
  return {.name = "--discovery", .value = "", .help = "machines of create --blank boot the discovery image once, not their disk"};
}
Option some_machines(std::string help) { return {.name = "NAME...", .value = "NAME", .help = std::move(help), .repeats = true}; }
Option one_machine() { return {.name = "NAME", .value = "NAME", .help = "name of the machine", .required = true}; }

Result<local::ClusterChoice> choice_of(const Arguments& arguments) {
  std::string program = TRY(own_program());
  return local::ClusterChoice{state_folder(arguments), arguments["--cluster"], std::move(program)};
}

Result<> create(const Environment& environment, const Arguments& arguments) {
  const local::ClusterChoice choice = TRY(choice_of(arguments));
  const std::vector<std::string>& names = arguments.list("NAME...");
  for (const std::string& name : names) TRY(local::check_name("machine", name));
  std::vector<local::Forward> forwards;
  for (const std::string& text : arguments.list("--forward")) forwards.push_back(TRY(local::parse_forward(text)));
  if (arguments.has("--blank") && arguments.has("--ignition"))
    return error(Code::invalid,
                 "--ignition: a machine with an empty disk gets its config from the discovery image, and from its installation");
  local::Request request{.order = local::Order::create, .machines = names, .wait = arguments.has("--wait")};
  if (arguments.has("--ignition")) {
    request.ignition = TRY(environment.files.read(arguments["--ignition"]).context("reading the Ignition config"));
    TRY(parse_json(*request.ignition, arguments["--ignition"]));
  }
  if (arguments.has("--blank") != arguments.has("--discovery"))
    return error(Code::invalid,
                 "--blank: requires --discovery, and --discovery requires --blank: an empty disk boots a discovery image");
  if (arguments.has("--cacert") && !arguments.has("--discovery")) return error(Code::invalid, "--cacert: requires --discovery");
  if (arguments.has("--discovery")) {
    const std::string image = TRY(value_or_file(environment.files, "--discovery", arguments["--discovery"]));
    request.discovery = TRY(discovery_config(environment, image, arguments["--cacert"]));
  }
  const std::vector<int> host_ports = TRY(local::parse_host_ports(arguments.list("--host-port")).context("--host-port"));
  std::vector<local::NameRecord> records;
  for (const std::string& text : arguments.list("--name-record"))
    records.push_back(TRY(local::parse_name_record(text).context("--name-record")));
  const std::string payload = TRY(images_folder(environment, arguments, ""));
  const std::string os_repo = os_repo_folder(arguments, payload);
  const local::Images images = TRY(local::find_images(environment.files, payload));
  const local::ClusterOptions wishes{.os_repo = os_repo,
                                     .images = images,
                                     .forwards = forwards,
                                     .records = records,
                                     .is_offline = arguments.has("--offline"),
                                     .host_ports = host_ports,
                                     .has_egress = arguments.has("--egress")};
  const local::MachineGroup group{.names = names, .ignition = request.ignition, .is_blank = request.discovery.has_value()};
  TRY(local::preflight(environment.context, environment.files, environment.runner, choice, wishes, {group}));
  if (images.registry.empty() && !TRY(environment.files.info(choice.paths().config()))) {
    environment.context.log.warn(
        "{}: no images found, so machines of this cluster get no images and no registry (import a release with `slipway release "
        "import FILE`, or use --images)",
        payload);
  }
  TRY(local::ensure_cluster(environment.files, environment.random, choice, wishes));
  TRY(local::ensure_owner(environment.context, environment.files, choice));
  TRY(local::ask(environment.context, choice, request));
  return Ok{};
}

Result<> order(const Environment& environment, const Arguments& arguments, local::Order what, bool wait,
               bool boots_live = false) {
  const local::ClusterChoice choice = TRY(choice_of(arguments));
  TRY(local::ask(environment.context, choice,
                 {.order = what, .machines = arguments.list("NAME..."), .wait = wait, .boots_live = boots_live}));
  return Ok{};
}

Result<> start(const Environment& environment, const Arguments& arguments) {
  const local::ClusterChoice choice = TRY(choice_of(arguments));
  TRY(local::preflight_start(environment.context, environment.files, environment.runner, choice, arguments.list("NAME...")));
  TRY(local::ensure_owner(environment.context, environment.files, choice));
  return order(environment, arguments, local::Order::start, arguments.has("--wait"), arguments.has("--discovery"));
}

Result<> stop(const Environment& environment, const Arguments& arguments) {
  const bool all = arguments.list("NAME...").empty();
  const Result<> stopped = order(environment, arguments, all ? local::Order::end : local::Order::stop, true);
  if (stopped.ok() || stopped.error().code() != Code::unavailable) return stopped;
  // Without an owner process all machines are off. A cluster that does not exist is still an error.
  TRY(local::list_machines(environment.context, environment.files, TRY(choice_of(arguments))));
  return Ok{};
}

Result<> reboot(const Environment& environment, const Arguments& arguments) {
  return order(environment, arguments, local::Order::reboot, arguments.has("--wait"), arguments.has("--discovery"));
}

std::string table(const std::vector<local::MachineStatus>& machines) {
  std::string text = fmt::format("{:<20} {:<16} {:<16} {:<6} {}\n", "NAME", "STATE", "ADDRESS", "BOOTS", "DEPLOYMENT");
  for (const local::MachineStatus& machine : machines) {
    const std::size_t dot = machine.deployment.find('.');
    const std::string deployment = dot == std::string::npos ? ""
                                                            : machine.deployment.substr(0, 12) + machine.deployment.substr(dot) +
                                                                  (machine.is_live ? " (live)" : "");
    text += fmt::format("{:<20} {:<16} {:<16} {:<6} {}\n", machine.name, to_string(machine.state), machine.address, machine.boots,
                        deployment);
    if (!machine.reason.empty()) text += fmt::format("  {}\n", machine.reason);
  }
  return text;
}

Result<> list(const Environment& environment, const Arguments& arguments) {
  const local::ClusterChoice choice = TRY(choice_of(arguments));
  const local::ClusterConfig config = TRY(local::read_cluster(environment.files, choice));
  const std::vector<local::MachineStatus> machines = TRY(local::list_machines(environment.context, environment.files, choice));
  if (arguments["--output"] == "json") {
    JsonArray rows, forwards;
    for (const local::MachineStatus& machine : machines) rows.push_back(to_json(machine));
    for (const local::Forward& forward : config.forwards) forwards.emplace_back(to_string(forward));
    environment.print(emit_json({{"cluster", choice.cluster}, {"id", config.id}, {"forwards", forwards}, {"machines", rows}},
                                JsonStyle::pretty));
    return Ok{};
  }
  std::string text = table(machines);
  for (const local::Forward& forward : config.forwards) {
    text += fmt::format("{}:{} is forwarded to {}:{}\n", config.host_address, forward.host_port, forward.target, forward.port);
  }
  environment.print(text);
  return Ok{};
}

// The console that a platform keeps of a machine that is not local.
Result<> console_of_platform(const Environment& environment, const Arguments& arguments, const ClusterDirectory& known) {
  const std::string& name = arguments["NAME"];
  if (arguments.has("--follow")) {
    const std::string hint =
        known.uri.empty() ? ""
                          : fmt::format(" (on platform libvirt: virsh -c {} console {}-{})", known.uri, known.id.infra_id, name);
    return error(Code::invalid, "--follow: works on platform local only{}", hint);
  }
  const OpenedProvider machines = TRY(open_own_machines(environment, arguments, known));
  const std::string path = fmt::format("host/{}.console.log", name);
  for (const provider::BundleFile& file : TRY(machines->bundle_files(environment.context))) {
    if (file.path != path) continue;
    environment.print(file.content);
    return Ok{};
  }
  return error(Code::not_found, "machine {}: not found in cluster {}, or it was never started", name, known.cluster);
}

Result<> console(const Environment& environment, const Arguments& arguments) {
  const std::string directory = absolute(arguments["--dir"]);
  if (arguments["--cluster"] == default_cluster && TRY(has_own_machines(environment, directory))) {
    const ClusterDirectory known = TRY(read_cluster_directory(environment, directory));
    if (known.platform != "local") return console_of_platform(environment, arguments, known);
  }
  const local::ClusterChoice choice = TRY(choice_of(arguments));
  const std::string& name = arguments["NAME"];
  TRY(local::check_name("machine", name));
  if (!arguments.has("--follow")) {
    const local::MachinePaths machine = choice.paths().machine(name);
    if (!TRY(environment.files.info(machine.record()))) {
      return error(Code::not_found, "machine {}: not found in cluster {}", name, choice.cluster);
    }
    environment.print(TRY(environment.files.read_if_exists(machine.console())).value_or(""));
    return Ok{};
  }
  const Result<Json> followed = local::ask(environment.context, choice, {.order = local::Order::follow, .machines = {name}},
                                           [&](std::string_view line) { environment.print(fmt::format("{}\n", line)); });
  // Following ends when the user stops it; that is not an error.
  if (!followed.ok() && followed.error().code() != Code::cancelled) return followed.error();
  return Ok{};
}

Result<> shell(const Environment& environment, const Arguments& arguments) {
  environment.exit_status = TRY(local::run_in_machine(environment.context, environment.files, TRY(choice_of(arguments)),
                                                      arguments["NAME"], arguments.list("COMMAND...")));
  return Ok{};
}

Result<> destroy(const Environment& environment, const Arguments& arguments) {
  const local::ClusterChoice choice = TRY(choice_of(arguments));
  const std::vector<std::string>& names = arguments.list("NAME...");
  if (names.empty() != arguments.has("--all")) {
    return error(Code::invalid, "no machines named (name the machines to destroy, or use --all for the whole cluster {})",
                 choice.cluster);
  }
  TRY(local::check_name("cluster", choice.cluster));
  if (names.empty()) return local::destroy_cluster(environment.context, environment.files, choice);
  TRY(local::ensure_owner(environment.context, environment.files, choice));
  const Json left = TRY(local::ask(environment.context, choice, {.order = local::Order::destroy, .machines = names}));
  if (!find_array(left, {"machines"}).empty()) return Ok{};
  return local::destroy_cluster(environment.context, environment.files, choice);
}

Result<> owner(const Environment& environment, const Arguments& arguments) {
  return local::run_owner(environment.context, environment.files, environment.runner,
                          local::cluster_paths(arguments["--state"], arguments["--cluster"]));
}

}  // namespace

Command machine_create_command() {
  return {
      .words = "machine create",
      .summary = "Create machines and start them",
      .positionals = {{.name = "NAME...", .value = "NAME", .help = "names of the machines", .required = true, .repeats = true}},
      .options = {cluster_option(),
                  {.name = "--ignition",
                   .value = "FILE",
                   .help = "Ignition config (spec up to 3.3.0) that each machine applies before its first boot"},
                  {.name = "--blank",
                   .value = "",
                   .help = "with an empty disk: the machines boot the discovery image until something is installed on it"},
                  {.name = "--discovery",
                   .value = "IMAGE|URL|@FILE",
                   .help = "discovery image of the machines with --blank; they use its config and the machine OS of the cluster; "
                           "@FILE: a file with the URL"},
                  {.name = "--cacert", .value = "FILE", .help = "authorities of the server of --discovery URL, PEM"},
                  {.name = "--host-port",
                   .value = "PORT",
                   .help = "machines reach 127.0.0.1:PORT of this host at the first address of their network, for a new cluster",
                   .repeats = true},
                  {.name = "--name-record",
                   .value = "NAME=ADDRESS",
                   .help = "a name that machines resolve, *.NAME for all names below it, for a new cluster",
                   .repeats = true},
                  {.name = "--forward",
                   .value = "HOSTPORT:MACHINE:PORT",
                   .help = "forward 127.0.0.1:HOSTPORT to that port, for a new cluster",
                   .repeats = true},
                  {.name = "--offline", .help = "the registry of the machines asks no other registry, for a new cluster"},
                  {.name = "--egress", .help = "machines reach what this host reaches, for a new cluster"},
                  os_repo_option(),
                  images_option(),
                  wait_option(),
                  state_option()},
      .run = create};
}

Command machine_start_command() {
  return {.words = "machine start",
          .summary = "Start machines",
          .positionals = {some_machines("names of machines (default: all)")},
          .options = {cluster_option(), live_option(), wait_option(), state_option()},
          .run = start};
}

Command machine_stop_command() {
  return {.words = "machine stop",
          .summary = "Shut machines down",
          .positionals = {some_machines("names of machines (default: all machines and the owner process of the cluster)")},
          .options = {cluster_option(), state_option()},
          .run = stop};
}

Command machine_reboot_command() {
  return {.words = "machine reboot",
          .summary = "Reboot machines",
          .positionals = {some_machines("names of machines (default: all)")},
          .options = {cluster_option(), live_option(), wait_option(), state_option()},
          .run = reboot};
}

Command machine_list_command() {
  return {.words = "machine list",
          .summary = "List the machines of a cluster",
          .options = {cluster_option(), output_option(), state_option()},
          .run = list};
}

Command machine_console_command() {
  return {
      .words = "machine console",
      .summary = "Print the console output of a machine, of a local cluster or of the cluster in --dir",
      .positionals = {one_machine()},
      .options = {cluster_option(), {.name = "--follow", .value = "", .help = "continue to print new output"}, state_option()},
      .run = console};
}

Command machine_shell_command() {
  return {.words = "machine shell",
          .summary = "Run a command or a shell in a machine, without ssh",
          .positionals = {one_machine(),
                          {.name = "COMMAND...",
                           .value = "COMMAND",
                           .help = "command and arguments after --; its exit status is that of this program",
                           .repeats = true}},
          .options = {cluster_option(), state_option()},
          .run = shell};
}

Command machine_destroy_command() {
  return {.words = "machine destroy",
          .summary = "Power machines off at once and remove them",
          .positionals = {some_machines("names of machines; the last one removes the cluster too")},
          .options = {cluster_option(), {.name = "--all", .value = "", .help = "all machines of the cluster"}, state_option()},
          .run = destroy};
}

Command machine_owner_command() {
  return {.words = "machine-owner",
          .summary = "Run a cluster of local machines",
          .options = {{.name = "--cluster", .value = "NAME", .help = "name of the cluster", .required = true},
                      {.name = "--state", .value = "DIR", .help = "folder of local clusters", .required = true}},
          .run = owner,
          .is_hidden = true};
}

}  // namespace slipway::cli
