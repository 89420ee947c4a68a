// `gather bootstrap`: collects diagnostic data of a cluster that does not come up in one archive without secrets, and runs the
// rules of diagnosis/ on it. Works at any time of an installation.
#pragma once

#include "base/secret.h"
#include "cluster/environment.h"
#include "cluster/remote_machines.h"
#include "config/install_config.h"
#include "diagnosis/finding.h"
#include "kube/client.h"
#include "provider/provider.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::cluster {

// A cluster, and what is known about it.
struct Subject {
  provider::Provider* machines = nullptr;         // null: the machines were not created by a provider
  const config::InstallConfig* config = nullptr;  // null: the expected addresses are unknown
  kube::Api* api = nullptr;                       // used for objects that no machine gathered; null: no kubeconfig
  const RemoteMachines* remote = nullptr;         // machines reached by SSH; null: their addresses are unknown
  Access access{};                                // to `remote`
  std::vector<Secret> secrets{};                  // values that are redacted from the archive
};

// Runs the gather scripts on the running machines, and adds the data of the host: consoles, events, the state of the machines,
// and probes between machines. For remote machines, adds the archive of their bootstrap machine and objects of the API. All data
// is redacted (diagnosis/redact.h) before it is analysed or written.
//
//   folder   where log-bundle-ID.tar.gz is written; ID is the time
//   returns  the path of the archive. Machines that could not be asked are listed in it (gather-errors.txt)
//   errors   not_found: the cluster does not exist; those of files and of tar; when a remote cluster returned no data at all:
//            those of fetch_bundle (remote_machines.h) and of the API
//   time     less than a minute: a script that takes longer is killed; minutes for remote machines
Result<std::string> gather(const Environment& environment, const Subject& subject, const std::string& folder);

// The result of an examination.
struct Examination {
  std::vector<diagnosis::Finding> findings;
  std::string bundle;  // path of the archive; empty when it was not kept
};

enum class KeepBundle { never, if_final, always };  // if_final: when there is a final finding, one that does not heal by itself

// Gathers the same data and runs the rules on it. `keep` says when the archive is written to `folder`. Errors and time as for
// gather().
Result<Examination> examine(const Environment& environment, const Subject& subject, const std::string& folder, KeepBundle keep);

// The content of host/expected.json: addresses and domain in the install-config. Pure.
std::string expected_text(const config::InstallConfig& config);

// Adds an examination to the error of a wait. A final finding replaces the error; other findings and the path of the archive are
// appended to it.
Error explain(const Error& failure, const Examination& examination);

}  // namespace slipway::cluster
