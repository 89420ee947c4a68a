#include "cli/masters.h"

#include "cli/local_options.h"

namespace slipway::cli {

Option key_option() { return {.name = "--key", .value = "FILE", .help = "private SSH key of user core", .repeats = true}; }

Result<> open_masters(const Environment& environment, const Arguments& arguments, const std::string& folder,
                      std::map<std::string, std::string> hosts, MastersAccess& access) {
  if (TRY(has_own_machines(environment, folder)))
    access.machines = TRY(open_own_machines(environment, arguments, TRY(read_cluster_directory(environment, folder))));
  if (access.machines && access.machines->capabilities().runs_commands) {
    if (!hosts.empty() || !arguments.list("--key").empty())
      return error(Code::invalid, "--host and --key: have no effect, because the machines are local");
    access.run = [&access](const sys::Context& context, const cluster::Master& master, sys::Command command) {
      return access.machines->run(context, master.name, std::move(command));
    };
    return Ok{};
  }
  std::vector<std::string> keys;
  for (const std::string& key : arguments.list("--key")) keys.push_back(absolute(key));
  access.hosts = std::move(hosts);
  access.run = [&environment, &access, keys, known_hosts = folder + "/.slipway/known_hosts"](
                   const sys::Context& context, const cluster::Master& master, sys::Command command) -> Result<sys::Output> {
    const auto given = access.hosts.find(master.name);
    const std::string& host = given == access.hosts.end() ? master.address : given->second;
    if (host.empty()) return error(Code::not_found, "no address is known (use --host)");
    command.argv = cluster::root_command_by_ssh(host, keys, known_hosts, command.argv);
    return environment.runner.run(context, command);
  };
  return Ok{};
}

}  // namespace slipway::cli
