#include "cli/cluster_commands.h"

#include "assets/preview/known_secrets.h"
#include "assets/store.h"
#include "base/text.h"
#include "cli/agent_files.h"
#include "cli/cluster_directory.h"
#include "cli/local_options.h"
#include "cluster/gather.h"
#include "diagnosis/open.h"
#include "diagnosis/rules.h"
#include "sys/environment_variable.h"
#include "sys/temp_dir.h"

namespace slipway::cli {

namespace {

// The machines of --bootstrap, --master and --key; nothing without these options.
Result<std::optional<cluster::RemoteMachines>> remote_machines(const Arguments& arguments) {
  cluster::RemoteMachines machines{arguments["--bootstrap"], arguments.list("--master"), {}};
  for (const std::string& key : arguments.list("--key")) machines.keys.push_back(absolute(key));
  if (arguments.has("--bootstrap")) return std::optional(std::move(machines));
  if (machines.masters.empty() && machines.keys.empty()) return std::optional<cluster::RemoteMachines>();
  return error(Code::invalid,
               "--master and --key: have no effect without --bootstrap HOST, because ssh connects through the bootstrap machine");
}

// What ssh needs to log in to the bootstrap machine, in files of a private folder. An unknown host key is added to the directory
// at the first connection.
Result<cluster::Access> access_to_bootstrap(const Environment& environment, const std::string& folder,
                                            const std::string& private_folder, const std::string& host) {
  cluster::Access access{.known_hosts = fmt::format("{}/{}", folder, assets::known_hosts_file),
                         .known_as = host,
                         .users_agent = sys::environment_variable("SSH_AUTH_SOCK")};
  const Result<std::optional<Secret>> key = assets::private_ssh_key(environment.files, folder);
  if (!key.ok()) environment.context.log.warn("SSH keys of the bootstrap machine: unknown: {}", key.error().message());
  if (key.ok() && key.value()) {
    access.own_key = private_folder + "/bootstrap-ssh.key";
    TRY(environment.files.write(access.own_key, key.value()->reveal(), 0600));
  }
  const Result<std::optional<std::string>> host_key = assets::public_host_key(environment.files, folder);
  if (host_key.ok() && host_key.value()) {
    access.known_hosts = private_folder + "/known_hosts";
    access.known_as = cluster::pinned_host;
    access.is_known = true;
    TRY(environment.files.write(access.known_hosts, fmt::format("{} {}\n", cluster::pinned_host, *host_key.value()), 0600));
  } else {
    TRY(environment.files.make_directories(access.known_hosts.substr(0, access.known_hosts.rfind('/')), 0700));
    const std::string known = TRY(environment.files.read_if_exists(access.known_hosts)).value_or("");
    for (const std::string_view line : split(known, '\n')) access.is_known = access.is_known || line.starts_with(host + " ");
  }
  return access;
}

// The bootstrap machine, if the provider knows its address. Commands run in it by SSH where the provider cannot run them.
Result<std::optional<cluster::RemoteMachines>> bootstrap_of(const Environment& environment, provider::Provider& machines) {
  const auto listed = machines.list(environment.context);
  for (const provider::MachineStatus& machine : listed.ok() ? listed.value() : std::vector<provider::MachineStatus>()) {
    if (machine.name == "bootstrap" && !machine.address.empty())
      return std::optional(cluster::RemoteMachines{machine.address, {}, {}});
  }
  return std::optional<cluster::RemoteMachines>();
}

Result<> gather_bootstrap(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  std::optional<cluster::RemoteMachines> remote = TRY(remote_machines(arguments));
  const Result<config::InstallConfig> config =
      assets::read_config(environment.files, folder, load_options_of(environment, folder));
  std::optional<kube::Client> api;
  if (const auto access = kube::read_kubeconfig(environment.files, folder + "/auth/kubeconfig"); access.ok()) {
    api.emplace(environment.http, access.value());
  }
  cluster::Subject subject{.config = config.ok() ? &config.value() : nullptr,
                           .api = api ? &*api : nullptr,
                           .secrets = assets::known_secrets(environment.files, folder)};
  OpenedProvider machines;
  const sys::TempDir keys = TRY(sys::TempDir::make("ssh"));
  if (!remote) {
    const ClusterDirectory known = TRY(read_cluster_directory(environment, folder));
    if (known.platform.empty()) {
      environment.context.log.warn("no data is collected from machines (name the bootstrap machine with --bootstrap HOST)");
    } else {
      machines = TRY(open_machines(environment, arguments, known));
      subject.machines = machines.get();
      if (!machines->capabilities().runs_commands) remote = TRY(bootstrap_of(environment, *machines));
    }
  }
  if (remote) {
    subject.remote = &*remote;
    subject.access = TRY(access_to_bootstrap(environment, folder, keys.path(), remote->bootstrap));
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

}  // namespace

Command gather_bootstrap_command() {
  return {
      .words = "gather bootstrap",
      .summary = "Collect diagnostic data of a failed installation in one archive, without secrets",
      .options =
          {{.name = "--bootstrap",
            .value = "HOST",
            .help = "the bootstrap machine, if machines are not local; ssh connects as user core"},
           {.name = "--master",
            .value = "HOST",
            .help =
                "address of a control plane machine as seen from the bootstrap machine (default: the masters that the API lists)",
            .repeats = true},
           {.name = "--key",
            .value = "FILE",
            .help = "private SSH key; only these keys are used from the bootstrap machine to the masters",
            .repeats = true},
           {.name = "--skipAnalysis", .value = "", .help = "do not analyze the log bundle"},
           state_of_directory_option()},
      .run = gather_bootstrap,
      .when_interrupted = "no log bundle was written"};
}

}  // namespace slipway::cli
