// Runs programs in a machine without ssh.
#pragma once

#include "provider/local/client.h"

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <string>
#include <vector>

namespace slipway::provider::local {

// Runs a command in all namespaces and in cgroups of a machine, as root, with the standard input, output and error of slipway. If
// all three are a terminal, the command gets a terminal of the machine, like over ssh.
//
//   command  empty: a login shell
//   returns  the exit status; 128 + N if signal N killed the command
//   errors   not_found; conflict: the machine does not run
//   time     until the command ends; a stop ends the command
Result<int> run_in_machine(const sys::Context& context, sys::Files& files, const ClusterChoice& choice,
                           const std::string& machine, const std::vector<std::string>& command);

// Like run_in_machine, but without a terminal. Returns the output of the command.
//
//   command  argv, input and limits of the command in the machine
//   errors   those of run_in_machine and of Runner
Result<sys::Output> run_captured(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterChoice& choice,
                                 const std::string& machine, sys::Command command);

// Runs a command from a machine's disk in the machine's network namespace, even before the first boot. The command has neither
// /dev nor /proc, and no other mounts.
//
//   errors  not_found, unavailable: the machine has no disk or no network, or the cluster has no owner; those of Runner
Result<sys::Output> run_on_disk(const sys::Context& context, sys::Files& files, sys::Runner& runner, const ClusterChoice& choice,
                                const std::string& machine, sys::Command command);

// Runs a command of the host in the owner's network namespace. errors: unavailable: the cluster has no owner; those of Runner
Result<sys::Output> run_in_network(const sys::Context& context, sys::Files& files, sys::Runner& runner,
                                   const ClusterChoice& choice, sys::Command command);

// The command that enters the namespaces of a machine. Pure.
//
//   process   /proc folder of the machine's init, "/proc/4711/root/proc/72"
//   settings  environment variables in addition to PATH and HOME, "TERM=xterm"
std::vector<std::string> enter_command(const std::string& process, const std::vector<std::string>& settings,
                                       const std::vector<std::string>& command);

}  // namespace slipway::provider::local
