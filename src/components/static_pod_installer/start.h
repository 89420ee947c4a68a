// static-pod-installer start: installs revisions of static pods on its node and keeps their certificates up to date. One resident
// pod per node (docs/decisions/0008-one-installer-a-node.md).
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

// The watches: settings of the four operands, and all objects that may become files.
std::vector<Watched> watched();

// Decides what to write to the disk. Remembers what it has written, so that it does not read the disk after each change of the
// cluster, and the last failure. Threads: one; the thread of plan() also runs the tasks.
class Installer {
 public:
  // `files` and `view` must outlive it.
  Installer(sys::Files& files, View& view, Place place) : files_(files), view_(view), place_(std::move(place)) {}

  // Files are written by tasks. A failure is written once into the node's entry of nodeStatuses, for the operator to decide about
  // it. The task is retried.
  Plan plan(const Snapshot& seen, WallTime now);

 private:
  struct Failure {
    int revision = 0;
    std::string text;
    WallTime time{};
    bool is_reported = false;
  };
  struct OperandState {
    std::optional<Layout> written;  // state of the disk at `checked`
    WallTime checked{};
    std::optional<int> completed;  // revision whose pod the kubelet got
    std::optional<Failure> failure;
    std::optional<WallTime> waiting;  // since when an object is missing
  };

  Plan plan_operand(const Operand& operand, const Json& settings, const Snapshot& seen, WallTime now);
  Plan plan_failure(const Operand& operand, const Json& settings, Failure& failure) const;
  Plan plan_waiting(const Operand& operand, const Json& settings, const Layout& layout, WallTime now);
  Result<> install(const sys::Context& context, const Operand& operand, const Layout& layout);

  sys::Files& files_;
  View& view_;
  Place place_;
  std::map<std::string, OperandState> states_;  // by operand
};

// Runs until a stop. If permissions are missing, it waits for them: the release creates them together with the installer.
//
//   connect  creates a client; called again when the server denies access, because the token may have been replaced
//   errors   those of `connect`, and of reconcile except denied
using Connect = std::function<Result<std::shared_ptr<kube::Api>>()>;
Result<> keep_installed(const sys::Context& context, const Connect& connect, sys::Files& files, const Place& place);

// The command `start [--kubeconfig=FILE] [--root=FOLDER]`. NODE_NAME has the node's name.
Result<> run_start(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::static_pod_installer
