#include "cluster/remote_machines.h"

#include "base/characters.h"
#include "base/text.h"
#include "data/data.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::cluster {

namespace {

constexpr Milliseconds longest_gathering = Seconds(15 * 60);  // each master may take two minutes
constexpr std::uint64_t largest_bundle = 512u << 20;
constexpr int status_of_ssh = 255;  // it has not come to run anything
constexpr int no_such_program = 127;
constexpr std::string_view get_ssh = "`apt-get install openssh-client` gets it";

// Names and addresses also stand in a command line of the other side.
Result<> check_host(std::string_view option, std::string_view host) {
  const auto is_fine = [](char c) { return is_letter_or_digit(c) || c == '.' || c == '-' || c == ':' || c == '_'; };
  if (!host.empty() && host.front() != '-' && std::ranges::all_of(host, is_fine)) return Ok{};
  return error(Code::invalid, "{}: '{}' is neither the name nor the address of a machine", option, host);
}

Result<> check(const Environment& environment, const RemoteMachines& machines) {
  TRY(check_host("--bootstrap", machines.bootstrap));
  for (const std::string& master : machines.masters) TRY(check_host("--master", master));
  for (const std::string& key : machines.keys) {
    if (!TRY(environment.files.info(key))) return error(Code::not_found, "--key: there is no file {}", key);
  }
  return Ok{};
}

// Whether the user's agent has any key.
Result<bool> has_agent(const Environment& environment) {
  const Result<sys::Output> listed =
      environment.runner.run(environment.context, {.argv = {"ssh-add", "-l"}, .limit = Seconds(10)});
  if (!listed.ok() && listed.error().code() == Code::not_found)
    return error(Code::not_found, "there is no program ssh-add on this host, nor ssh; {}", get_ssh);
  return TRY(listed).status == 0;
}

// What ssh says of each way to fail, and what to do.
struct Failure {
  std::string_view words;
  Code code;
  std::string_view next_step;
};
constexpr std::string_view look_at_keys =
    "it takes the key of sshKey in install-config.yaml, and the one that this directory remembers: name the private half with "
    "--key";
constexpr std::string_view look_at_machine =
    "see whether the machine is on, and whether its port 22 can be reached from here; --bootstrap wants an address that can";
constexpr auto failures = std::to_array<Failure>({
    {"Permission denied", Code::denied, look_at_keys},
    {"Too many authentication failures", Code::denied, look_at_keys},
    {"Could not resolve hostname", Code::unavailable, "name it by an address"},
    {"Connection refused", Code::unavailable, look_at_machine},
    {"timed out", Code::unavailable, look_at_machine},
    {"No route to host", Code::unavailable, look_at_machine},
    {"Network is unreachable", Code::unavailable, look_at_machine},
});

std::string last_lines(std::string_view text) {
  text = trim(text);
  constexpr std::size_t most = 1000;
  if (text.size() > most) text.remove_prefix(text.size() - most);
  return std::string(text);
}

}  // namespace

std::vector<std::string> ssh_command(const RemoteMachines& machines, const std::string& own_key, const std::string& id,
                                     bool has_own_agent) {
  std::vector<std::string> keys = machines.keys;
  if (!own_key.empty()) keys.push_back(own_key);
  std::vector<std::string> argv;
  if (has_own_agent) {
    argv = {"ssh-agent", "sh", "-c", std::string(data::content(data::provider(), "with-ssh-keys")), "with-ssh-keys"};
    argv.insert(argv.end(), keys.begin(), keys.end());
    argv.emplace_back("--");
  }
  for (const char* word : {"ssh", "-A", "-l", "core"}) argv.emplace_back(word);
  for (const char* option : {"BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null",
                             "GlobalKnownHostsFile=/dev/null", "ConnectTimeout=15", "ServerAliveInterval=15", "LogLevel=ERROR"}) {
    argv.insert(argv.end(), {"-o", option});
  }
  for (const std::string& key : keys) argv.insert(argv.end(), {"-i", key});
  std::string command = "bash -s -- " + id;
  for (const std::string& master : machines.masters) command += " " + master;
  argv.insert(argv.end(), {"--", machines.bootstrap, command});
  return argv;
}

Error ssh_failure(const std::string& host, const sys::Output& output) {
  const std::string said = last_lines(output.err);
  if (output.status == no_such_program) {
    return error(Code::not_found,
                 "{} has no gather script: it is no bootstrap machine, or has not carried out its Ignition config yet: {}", host,
                 said);
  }
  if (output.status != status_of_ssh) {
    return error(Code::unavailable, "the gather script of {} brought nothing and ended with status {}: {}", host, output.status,
                 said);
  }
  for (const Failure& failure : failures) {
    if (said.find(failure.words) != std::string::npos)
      return error(failure.code, "{} does not let ssh in: {}; {}", host, said, failure.next_step);
  }
  return error(Code::unavailable, "ssh to {}: {}", host, said.empty() ? "it ended without a word" : said);
}

Result<std::string> fetch_bundle(const Environment& environment, const RemoteMachines& machines, const std::string& own_key,
                                 const std::string& id) {
  TRY(check(environment, machines));
  const bool has_own_agent = !machines.keys.empty() || !TRY(has_agent(environment));
  const sys::Context& context = environment.context;
  Result<sys::Output> output =
      environment.runner.run(context, {.argv = ssh_command(machines, own_key, id, has_own_agent),
                                       .input = std::string(data::content(data::provider(), "gather-by-ssh")),
                                       .limit = longest_gathering,
                                       .output_limit = largest_bundle,
                                       .on_line = [&](sys::Stream stream, std::string_view line) {
                                         if (stream == sys::Stream::err) context.log.debug("{}: {}", machines.bootstrap, line);
                                       }});
  if (!output.ok() && output.error().code() == Code::not_found)
    return error(Code::not_found, "{}; {}", output.error().message(), get_ssh);
  const sys::Output said = TRY(std::move(output));
  if (said.out.empty()) return ssh_failure(machines.bootstrap, said);
  if (said.status != 0)
    context.log.warn("the gather script of {} ended with status {}; what it brought is kept", machines.bootstrap, said.status);
  return said.out;
}

}  // namespace slipway::cluster
