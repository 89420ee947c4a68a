// cluster-network-operator policy-agent: enforces NetworkPolicies on its node.
#pragma once

#include "components/network/policy/ruleset.h"
#include "components/program/program.h"
#include "sys/runner.h"

#include <optional>
#include <string>

namespace slipway::components::network {

// The table of the kernel. Threads: one.
class KernelTable {
 public:
  // bridge: the interface of the node that its pods are connected to
  KernelTable(sys::Runner& runner, std::string bridge) : runner_(runner), bridge_(std::move(bridge)) {}

  // Brings the rules of the kernel to these, in one transaction. The first call, and each call after a failure, replaces the
  // whole table, whatever it has; others write what differs.
  //
  //   returns whether anything differed
  //   errors  unavailable: nft refuses the rules, with its message; the rules of before stay. timeout, not_found, cancelled
  //   time    50 ms for a change; 2 s for 1,000 policies and 250 pods of the node
  Result<bool> update(const sys::Context& context, Ruleset wanted);

  // Whether the kernel still has the table. If not, the next update() replaces the whole table.
  Result<bool> is_there(const sys::Context& context);

  // Ends the enforcement.
  Result<> remove(const sys::Context& context);

 private:
  Result<> run(const sys::Context& context, std::string script);

  sys::Runner& runner_;
  const std::string bridge_;
  std::optional<Ruleset> loaded_;  // what the kernel has; nothing: unknown
};

// The command `cluster-network-operator policy-agent --node=NAME [--bridge=cni0] [--port=29103] [--kubeconfig=FILE]`. It watches
// NetworkPolicies, pods and namespaces, writes nothing to the API server, and answers /readyz on PORT of 127.0.0.1: 200 once the
// rules are in force, otherwise 503 with the reason.
//
// The rules stay in the kernel while the program is not running. When it is stopped because its DaemonSet is being removed, it
// removes the rules.
//
//   errors  invalid: flags; conflict: PORT is in use; those of kube_access
Result<> run_policy_agent(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::network
