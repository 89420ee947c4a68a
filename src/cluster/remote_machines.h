// Machines of clusters that are not local, reached by SSH.
#pragma once

#include "cluster/environment.h"
#include "sys/runner.h"

#include <string>
#include <vector>

namespace slipway::cluster {

struct RemoteMachines {
  std::string bootstrap;               // host name or IP address
  std::vector<std::string> masters{};  // empty: the masters that the API of the cluster lists
  std::vector<std::string> keys{};     // files with private keys of the user
};

// Credentials for the bootstrap machine.
struct Access {
  std::string own_key{};  // file with the private key whose public key Ignition installed on the bootstrap machine; empty: none
  std::string known_hosts{};  // file with host keys
  // The name of the machine in that file. It is `pinned_host` when the host key comes from the Ignition config.
  std::string known_as{};
  bool is_known = false;  // the file has the host key, and another key is refused; otherwise the first key that is seen is added
  std::string users_agent{};  // socket of the user's SSH agent; may be empty
};

inline constexpr std::string_view pinned_host = "slipway-bootstrap";

// Runs the gather script of the bootstrap machine, which also gathers from the masters. Connects as user core, with the system's
// ssh and its configuration. Keys of the user's agent and of ~/.ssh may open the bootstrap machine. A compromised bootstrap
// machine cannot use those keys: the agent that is forwarded for the masters is a separate one. It holds only `own_key` and the
// keys of `machines`, and it ends with this call, also when this process is killed. Nothing asks for a passphrase.
//
//   id       of the bundle: letters and digits
//   returns  the archive, log-bundle-ID.tar.gz
//   errors   invalid: not a host name or address; not_found: no ssh on this host, no such key file, no gather script on the
//            machine; denied: no key is accepted, or the host key differs; unavailable: no connection, or the script fails
//   time     minutes
Result<std::string> fetch_bundle(const Environment& environment, const RemoteMachines& machines, const Access& access,
                                 const std::string& id);

// The command of fetch_bundle. Pure.
std::vector<std::string> ssh_command(const RemoteMachines& machines, const Access& access, const std::string& id);

// The error for an ssh run without data. Pure.
Error ssh_failure(const std::string& host, const sys::Output& output);

}  // namespace slipway::cluster
