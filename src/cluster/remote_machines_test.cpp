#include "cluster/remote_machines.h"

#include "base/text.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

// The command with SCRIPT instead of the script.
std::string shown(const RemoteMachines& machines, const Access& access) {
  std::vector<std::string> words = ssh_command(machines, access, "20261122061000");
  words.at(8) = "SCRIPT";
  return join(words, " ");
}

constexpr const char* agent = "ssh-agent -t 900 setpriv --pdeathsig KILL sh -c SCRIPT ssh-with-keys ";
constexpr const char* options = " -- -l core -o BatchMode=yes -o ConnectTimeout=15 -o ServerAliveInterval=15 -o LogLevel=ERROR ";
constexpr const char* pinned =
    "-o UserKnownHostsFile=\"/t/known\" -o GlobalKnownHostsFile=/dev/null -o HashKnownHosts=no -o HostKeyAlias=slipway-bootstrap "
    "-o "
    "StrictHostKeyChecking=yes ";
constexpr const char* first_seen =
    "-o UserKnownHostsFile=\"/d/%%/known\" -o GlobalKnownHostsFile=/dev/null -o HashKnownHosts=no -o HostKeyAlias=b -o "
    "StrictHostKeyChecking=accept-new ";

TEST(SshCommand, LendsOnlyTheKeysThatAreNamed) {
  const Access by_ignition{
      .own_key = "/t/own", .known_hosts = "/t/known", .known_as = std::string(pinned_host), .is_known = true};
  EXPECT_EQ(
      shown({"b", {"10.0.0.1", "fd00::1"}, {"/k"}}, by_ignition),
      std::string(agent) + " /k /t/own" + options + pinned + "-i /k -i /t/own -- b bash -s -- 20261122061000 10.0.0.1 fd00::1");
  const Access of_stranger{.known_hosts = "/d/%/known", .known_as = "b", .users_agent = "/run/agent"};
  EXPECT_EQ(shown({"b", {}, {}}, of_stranger),
            std::string(agent) + "/run/agent" + options + first_seen + "-- b bash -s -- 20261122061000");
}

TEST(SshFailure, SaysWhoseFaultItIsAndWhatToDo) {
  const struct {
    int status;
    std::string said;
    Code code;
    std::string words;
  } rows[] = {
      {255, "core@b: Permission denied (publickey).\r\n", Code::denied, "b: ssh failed: core@b: Permission denied"},
      {255, "ssh: Could not resolve hostname b: Name or service not known", Code::unavailable, "use an IP address"},
      {255, "ssh: connect to host b port 22: Connection refused", Code::unavailable, "check that the machine is running"},
      {255, "ssh: connect to host b port 22: Connection timed out", Code::unavailable, "check that the machine is running"},
      {255, "Host key verification failed.", Code::denied, "b: the SSH host key differs from the expected one: Host key"},
      {255, "client_loop: send disconnect: Broken pipe", Code::unavailable, "ssh to b: client_loop"},
      {255, "", Code::unavailable, "no output"},
      {127, "there is no /usr/local/bin/installer-gather.sh", Code::not_found, "b: no gather script found"},
      {1, "tar: No space left on device", Code::unavailable, "returned no data, exit status 1: tar: No space left"},
  };
  for (const auto& row : rows) {
    const Error failure = ssh_failure("b", {.status = row.status, .out = "", .err = row.said});
    EXPECT_EQ(failure.code(), row.code) << row.said;
    EXPECT_NE(failure.message().find(row.words), std::string::npos) << failure.message();
  }
}

}  // namespace
}  // namespace slipway::cluster
