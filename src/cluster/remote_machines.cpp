#include "cluster/remote_machines.h"

#include "base/characters.h"
#include "base/text.h"
#include "data/data.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::cluster {

namespace {

constexpr Milliseconds longest_gathering = Seconds(15 * 60);  // up to two minutes for each master
constexpr std::uint64_t largest_bundle = 512u << 20;
constexpr int status_of_ssh = 255;  // ssh itself failed; nothing was run
constexpr int no_such_program = 127;
constexpr std::string_view get_ssh = "run `apt-get install openssh-client`";

// Host names and addresses also appear in a command line on the remote machine.
Result<> check_host(std::string_view option, std::string_view host) {
  const auto is_fine = [](char c) { return is_letter_or_digit(c) || c == '.' || c == '-' || c == ':' || c == '_'; };
  if (!host.empty() && host.front() != '-' && std::ranges::all_of(host, is_fine)) return Ok{};
  return error(Code::invalid, "{}: '{}' is not a host name or IP address", option, host);
}

Result<> check(const Environment& environment, const RemoteMachines& machines) {
  TRY(check_host("--bootstrap", machines.bootstrap));
  for (const std::string& master : machines.masters) TRY(check_host("--master", master));
  for (const std::string& key : machines.keys) {
    if (!TRY(environment.files.info(key))) return error(Code::not_found, "--key {}: file not found", key);
  }
  return Ok{};
}

// An error text of ssh, its error code, and what to do.
struct Failure {
  std::string_view words;
  Code code;
  std::string_view next_step;
  std::string_view what = "ssh failed";
};
constexpr std::string_view look_at_keys =
    "use --key with the private key that belongs to sshKey in install-config.yaml; the machine accepts that key and the key of "
    "this asset directory";
constexpr std::string_view look_at_machine =
    "check that the machine is running and that its port 22 is reachable from this host; use --bootstrap with a reachable "
    "address";
constexpr std::string_view look_at_host_key =
    "another machine has this address, or the connection is intercepted: check which machine has the address. If the machine was "
    "replaced, remove its line from .slipway/known_hosts";
constexpr auto failures = std::to_array<Failure>({
    {"Host key verification failed", Code::denied, look_at_host_key, "the SSH host key differs from the expected one"},
    {"Permission denied", Code::denied, look_at_keys},
    {"Too many authentication failures", Code::denied, look_at_keys},
    {"Could not resolve hostname", Code::unavailable, "use an IP address"},
    {"Connection refused", Code::unavailable, look_at_machine},
    {"timed out", Code::unavailable, look_at_machine},
    {"No route to host", Code::unavailable, look_at_machine},
    {"Network is unreachable", Code::unavailable, look_at_machine},
});

// ssh replaces tokens such as %h in paths.
std::string without_tokens(std::string_view path) {
  std::string made;
  for (const char c : path) made += c == '%' ? "%%" : std::string(1, c);
  return made;
}

std::string last_lines(std::string_view text) {
  text = trim(text);
  constexpr std::size_t most = 1000;
  if (text.size() > most) text.remove_prefix(text.size() - most);
  return std::string(text);
}

}  // namespace

std::vector<std::string> ssh_command(const RemoteMachines& machines, const Access& access, const std::string& id) {
  std::vector<std::string> keys = machines.keys;
  if (!access.own_key.empty()) keys.push_back(access.own_key);
  // setpriv: ssh-agent is a setgid program, and for such a program the kernel clears the parent death signal.
  std::vector<std::string> argv = {"ssh-agent",
                                   "-t",
                                   fmt::format("{}", std::chrono::duration_cast<Seconds>(longest_gathering).count()),
                                   "setpriv",
                                   "--pdeathsig",
                                   "KILL",
                                   "sh",
                                   "-c",
                                   std::string(data::content(data::provider(), "ssh-with-keys")),
                                   "ssh-with-keys",
                                   access.users_agent};
  argv.insert(argv.end(), keys.begin(), keys.end());
  argv.emplace_back("--");
  for (const char* word : {"-l", "core"}) argv.emplace_back(word);
  std::vector<std::string> options = {"BatchMode=yes",
                                      "ConnectTimeout=15",
                                      "ServerAliveInterval=15",
                                      "LogLevel=ERROR",
                                      fmt::format("UserKnownHostsFile=\"{}\"", without_tokens(access.known_hosts)),
                                      "GlobalKnownHostsFile=/dev/null",
                                      "HashKnownHosts=no",
                                      fmt::format("HostKeyAlias={}", access.known_as),
                                      fmt::format("StrictHostKeyChecking={}", access.is_known ? "yes" : "accept-new")};
  for (const std::string& option : options) argv.insert(argv.end(), {"-o", option});
  for (const std::string& key : keys) argv.insert(argv.end(), {"-i", key});
  std::string command = "bash -s -- " + id;
  for (const std::string& master : machines.masters) command += " " + master;
  argv.insert(argv.end(), {"--", machines.bootstrap, command});
  return argv;
}

Error ssh_failure(const std::string& host, const sys::Output& output) {
  const std::string stderr_text = last_lines(output.err);
  if (output.status == no_such_program) {
    return error(Code::not_found,
                 "{}: no gather script found, so it is not a bootstrap machine, or Ignition has not finished on it: {}", host,
                 stderr_text);
  }
  if (output.status != status_of_ssh) {
    return error(Code::unavailable, "{}: the gather script returned no data, exit status {}: {}", host, output.status,
                 stderr_text);
  }
  for (const Failure& failure : failures) {
    if (stderr_text.find(failure.words) != std::string::npos)
      return error(failure.code, "{}: {}: {} ({})", host, failure.what, stderr_text, failure.next_step);
  }
  return error(Code::unavailable, "ssh to {}: {}", host, stderr_text.empty() ? "no output" : stderr_text);
}

Result<std::string> fetch_bundle(const Environment& environment, const RemoteMachines& machines, const Access& access,
                                 const std::string& id) {
  TRY(check(environment, machines));
  const sys::Context& context = environment.context;
  Result<sys::Output> output =
      environment.runner.run(context, {.argv = ssh_command(machines, access, id),
                                       .input = std::string(data::content(data::provider(), "gather-by-ssh")),
                                       .limit = longest_gathering,
                                       .output_limit = largest_bundle,
                                       .on_line = [&](sys::Stream stream, std::string_view line) {
                                         if (stream == sys::Stream::err) context.log.debug("{}: {}", machines.bootstrap, line);
                                       }});
  if (!output.ok() && output.error().code() == Code::not_found)
    return error(Code::not_found, "{}; {}", output.error().message(), get_ssh);
  const sys::Output result = TRY(std::move(output));
  if (result.out.empty()) return ssh_failure(machines.bootstrap, result);
  if (result.status != 0)
    context.log.warn("{}: gather script: exit status {}; the data that it returned is kept", machines.bootstrap, result.status);
  return result.out;
}

}  // namespace slipway::cluster
