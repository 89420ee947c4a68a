#include "cluster/remote_machines.h"

#include "base/text.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

// Without what is in it but words.
std::string shown(const RemoteMachines& machines, const std::string& own_key, bool has_own_agent) {
  std::vector<std::string> words = ssh_command(machines, own_key, "20261122061000", has_own_agent);
  if (has_own_agent) words.at(3) = "SCRIPT";
  return join(words, " ");
}

constexpr const char* ssh =
    "ssh -A -l core -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o "
    "GlobalKnownHostsFile=/dev/null -o ConnectTimeout=15 -o ServerAliveInterval=15 -o LogLevel=ERROR ";

TEST(SshCommand, LendsAnAgentToTheBootstrapMachine) {
  EXPECT_EQ(shown({"b", {}, {}}, "", false), std::string(ssh) + "-- b bash -s -- 20261122061000");
  EXPECT_EQ(shown({"b", {"10.0.0.1", "fd00::1"}, {}}, "/t/own", false),
            std::string(ssh) + "-i /t/own -- b bash -s -- 20261122061000 10.0.0.1 fd00::1");
  EXPECT_EQ(shown({"b", {}, {"/k"}}, "/t/own", true), "ssh-agent sh -c SCRIPT with-ssh-keys /k /t/own -- " + std::string(ssh) +
                                                          "-i /k -i /t/own -- b bash -s -- 20261122061000");
}

TEST(SshFailure, SaysWhoseFaultItIsAndWhatToDo) {
  const struct {
    int status;
    std::string said;
    Code code;
    std::string words;
  } rows[] = {
      {255, "core@b: Permission denied (publickey).\r\n", Code::denied, "b does not let ssh in: core@b: Permission denied"},
      {255, "ssh: Could not resolve hostname b: Name or service not known", Code::unavailable, "name it by an address"},
      {255, "ssh: connect to host b port 22: Connection refused", Code::unavailable, "see whether the machine is on"},
      {255, "ssh: connect to host b port 22: Connection timed out", Code::unavailable, "see whether the machine is on"},
      {255, "client_loop: send disconnect: Broken pipe", Code::unavailable, "ssh to b: client_loop"},
      {255, "", Code::unavailable, "it ended without a word"},
      {127, "there is no /usr/local/bin/installer-gather.sh", Code::not_found, "b has no gather script"},
      {1, "tar: No space left on device", Code::unavailable, "brought nothing and ended with status 1: tar: No space left"},
  };
  for (const auto& row : rows) {
    const Error failure = ssh_failure("b", {.status = row.status, .out = "", .err = row.said});
    EXPECT_EQ(failure.code(), row.code) << row.said;
    EXPECT_NE(failure.message().find(row.words), std::string::npos) << failure.message();
  }
}

}  // namespace
}  // namespace slipway::cluster
