// Machines of clusters that are not local, reached by ssh.
#pragma once

#include "cluster/environment.h"
#include "sys/runner.h"

#include <string>
#include <vector>

namespace slipway::cluster {

struct RemoteMachines {
  std::string bootstrap;               // name or address
  std::vector<std::string> masters{};  // none: those that the cluster's API knows
  std::vector<std::string> keys{};     // files with private keys of the user's
};

// How to get into the bootstrap machine.
struct Access {
  std::string own_key{};      // file with the key that Ignition gave the bootstrap machine; empty: there is none
  std::string known_hosts{};  // file with host keys
  // What the file calls the machine: `pinned_host` when it has the key that the machine got from its Ignition config.
  std::string known_as{};
  bool is_known = false;  // the file has a key of it, and no other is taken; else the first one that is seen is added to the file
  std::string users_agent{};  // socket of the user's SSH agent; may be empty
};

inline constexpr std::string_view pinned_host = "slipway-bootstrap";

// Runs the gather script of the bootstrap machine, which gathers the masters, as the user core, by the system's ssh and its
// config. Keys of the user's agent and of ~/.ssh may open the bootstrap machine, but a machine that is not what it should be
// cannot use them: what is forwarded for the way to the masters is an agent of its own, which has `own_key` and the keys named in
// `machines`, and ends with this, also when this process is killed. Nothing asks for a passphrase.
//
//   id       of the bundle: letters and digits
//   returns  the archive, log-bundle-ID.tar.gz
//   errors   invalid: what is no name of a machine; not_found: no ssh here, no such file of a key, no gather script there;
//            denied: no key is taken, or the host key is another; unavailable: it does not answer, its script fails
//   time     minutes
Result<std::string> fetch_bundle(const Environment& environment, const RemoteMachines& machines, const Access& access,
                                 const std::string& id);

// What is run for that. Pure.
std::vector<std::string> ssh_command(const RemoteMachines& machines, const Access& access, const std::string& id);

// Why it brought nothing. Pure.
Error ssh_failure(const std::string& host, const sys::Output& output);

}  // namespace slipway::cluster
