// Machines of clusters that are not local: ssh reaches them (installer 7.15).
#pragma once

#include "cluster/create.h"
#include "sys/runner.h"

#include <string>
#include <vector>

namespace slipway::cluster {

struct RemoteMachines {
  std::string bootstrap;               // name or address
  std::vector<std::string> masters{};  // none: those that the cluster's API knows
  std::vector<std::string> keys{};     // files with private keys of the user's
};

// Runs the gather script of the bootstrap machine, which gathers the masters, as the user core, by the system's ssh and its
// config. Whose agent has keys is let in by that one, which is lent to the machine for its way to the masters; with keys of their
// own, or without such an agent, by one that lives as long as this, with keys of ~/.ssh, too. Host keys are not checked: nobody
// could know them. Nobody is asked for anything.
//
//   own_key  file with the key that Ignition gave the bootstrap machine; empty: there is none
//   id       of the bundle: letters and digits
//   returns  the archive, log-bundle-ID.tar.gz
//   errors   invalid: what is no name of a machine; not_found: no ssh here, no such file of a key, no gather script there;
//            denied: no key is taken; unavailable: it does not answer, its script fails
//   time     minutes
Result<std::string> fetch_bundle(const Environment& environment, const RemoteMachines& machines, const std::string& own_key,
                                 const std::string& id);

// What is run for that; with an agent of its own where that is wanted. Pure.
std::vector<std::string> ssh_command(const RemoteMachines& machines, const std::string& own_key, const std::string& id,
                                     bool has_own_agent);

// Why it brought nothing. Pure.
Error ssh_failure(const std::string& host, const sys::Output& output);

}  // namespace slipway::cluster
