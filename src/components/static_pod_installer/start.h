// static-pod-installer start: brings revisions of static pods onto the node on which it runs, and keeps their certificates up to
// date. One resident pod on each node (docs/decisions/0008-one-installer-a-node.md).
#pragma once

#include "components/controller/reconcile.h"
#include "components/program/program.h"
#include "components/static_pod_installer/disk.h"
#include "kube/client.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace slipway::components::static_pod_installer {

// What it looks at: settings of the four operands, and all that may become files.
std::vector<Watched> watched();

// Decides what is to be done about the disk. It remembers what it looked at, so that the disk is not read at each change of the
// cluster, and what went wrong. Threads: one, that of plan(), runs the tasks too.
class Installer {
 public:
  // `files` and `view` outlive it.
  Installer(sys::Files& files, View& view, Place place) : files_(files), view_(view), place_(std::move(place)) {}

  // Files are tasks. A failure is written into the node's entry of nodeStatuses once, for the operator to decide about it, while
  // the task is tried again.
  Plan plan(const Snapshot& seen, WallTime now);

 private:
  struct Failure {
    int revision = 0;
    std::string text;
    WallTime time{};
    bool is_told = false;
  };
  struct Known {
    std::optional<Layout> done;  // the disk was so at `looked`
    WallTime looked{};
    std::optional<int> completed;  // a revision whose pod was given to the kubelet
    std::optional<Failure> failure;
    std::optional<WallTime> waiting;  // since when something is missing
  };

  Plan plan_operand(const Operand& operand, const Json& settings, const Snapshot& seen, WallTime now);
  Plan plan_failure(const Operand& operand, const Json& settings, Failure& failure) const;
  Plan plan_waiting(const Operand& operand, const Json& settings, const Layout& layout, WallTime now);
  Result<> install(const sys::Context& context, const Operand& operand, const Layout& layout);

  sys::Files& files_;
  View& view_;
  Place place_;
  std::map<std::string, Known> known_;  // by operand
};

// Until a stop. While the permissions are missing it waits for them: they come with the same release as the installer does.
//
//   connect  makes a client; called again when the server refuses us, since a token may have been replaced by a newer one
//   errors   those of `connect`, and of reconcile, but denied
using Connect = std::function<Result<std::shared_ptr<kube::Api>>()>;
Result<> keep_installed(const sys::Context& context, const Connect& connect, sys::Files& files, const Place& place);

// The command `start [--kubeconfig=FILE] [--root=FOLDER]`; the node is in NODE_NAME.
Result<> run_start(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::static_pod_installer
