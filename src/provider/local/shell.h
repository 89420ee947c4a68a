// A program in a running machine, without ssh.
#pragma once

#include "provider/local/client.h"

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <string>
#include <vector>

namespace slipway::provider::local {

// Runs a command in all namespaces of a machine, as root, with standard input, output and error of ours. When all three are a
// terminal the command gets one of the machine's own, as it would over ssh.
//
//   command  nothing means a login shell
//   returns  its exit status; 128 + N when it died of signal N
//   errors   not_found, conflict: the machine does not run
//   time     until the command ends; a stop ends it
Result<int> run_in_machine(const sys::Context& context, sys::Files& files, const ClusterChoice& choice,
                           const std::string& machine, const std::vector<std::string>& command);

// The same without a terminal: what the command says is the answer.
//
//   command  argv, input and limits of what runs in the machine
//   errors   those above and those of Runner
Result<sys::Output> run_captured(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterChoice& choice,
                                 const std::string& machine, sys::Command command);

// A command of a machine's disk with the machine's network, also before its first boot; it has no other file systems, and neither
// /dev nor /proc.
//
//   errors  not_found, unavailable: the machine has no disk or no network, or the cluster no owner; those of Runner
Result<sys::Output> run_on_disk(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterChoice& choice,
                                const std::string& machine, sys::Command command);

// A command of the host in the network of a cluster, where its bridge is. errors: unavailable: it has no owner; those of Runner
Result<sys::Output> run_in_network(const sys::Context& context, sys::Files& files, sys::Runner& runner,
                                   const ClusterChoice& choice, sys::Command command);

// The program that enters a machine. Pure.
//
//   process  the machine's init as a path, "/proc/4711/root/proc/72"
//   settings of the environment, "TERM=xterm"; it gets nothing else but a PATH and a HOME
std::vector<std::string> enter_command(const std::string& process, const std::vector<std::string>& settings,
                                       const std::vector<std::string>& command);

}  // namespace slipway::provider::local
