// `gather bootstrap`: everything that tells why a cluster does not come up, in one archive without secrets; and what the rules of
// diagnosis/ find in it. Works at any moment.
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

// Which cluster, and what is known of it besides its machines.
struct Subject {
  provider::Provider* machines = nullptr;         // null: machines that no provider of ours created
  const config::InstallConfig* config = nullptr;  // null: nobody knows which addresses it should have
  kube::Api* api = nullptr;                       // asked for objects when no machine did it; null: no kubeconfig
  const RemoteMachines* remote = nullptr;         // machines that are not ours, by ssh; null: nobody said where they are
  Access access{};                                // to these
  std::vector<Secret> secrets{};                  // values that no archive may have
};

// Runs the gather scripts on the machines that run, and adds what the host knows: consoles, events, the state of machines, and
// what each machine sees of the others. Of machines elsewhere what their bootstrap machine gathers, and objects of the API.
// All of it goes through diagnosis/redact.h before it is looked at or kept.
//
//   folder   where log-bundle-ID.tar.gz is put; ID is the time
//   returns  the path of the archive, also when machines could not be asked: the archive then says why (gather-errors.txt)
//   errors   not_found: there is no such cluster; those of files and tar; of machines elsewhere, when nothing at all was brought:
//            those of fetch_bundle (remote_machines.h) and of the API
//   time     below a minute: a script that takes longer is ended; minutes of machines elsewhere
Result<std::string> gather(const Environment& environment, const Subject& subject, const std::string& folder);

// What was found by looking at everything.
struct Examination {
  std::vector<diagnosis::Finding> findings;
  std::string bundle;  // the archive, where it was kept
};

enum class KeepBundle { never, if_final, always };  // if_final: where there is a finding that will not heal by itself

// Collects the same, and lets the rules look at it; the archive stays in the folder as `keep` says. Errors and time as gather().
Result<Examination> examine(const Environment& environment, const Subject& subject, const std::string& folder, KeepBundle keep);

// The failure of a wait with what an examination found: a finding that is final takes its place, others stand behind it, and
// where the archive is.
Error explain(const Error& failure, const Examination& seen);

}  // namespace slipway::cluster
