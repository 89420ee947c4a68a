// Installer: writes the machine OS of the live medium and the host's Ignition config to the disk, and reboots into it. The host
// with role bootstrap also carries the bootstrap of the cluster (bootstrap_host.h) before it reboots.
#pragma once

#include "agent/install_plan.h"
#include "agent/service_client.h"
#include "agent/step.h"
#include "agent/system_tree.h"
#include "net/environment.h"

#include <mutex>
#include <string>
#include <thread>

namespace slipway::agent {

// Runs at most one installation, on a thread of its own. FOLDER/install has the request and a marker for each stage that is done,
// so a new start of the agent continues where the last one ended. The disk is written again from its beginning if the writing was
// cut off.
//
// A stage that fails is reported as stage `Failed` with the reason, after the logs of the host; the host stays in the live
// system. A failure is reported again when the agent starts again. Reports of a new stage wait for a service that is away; the
// service's refusal of a report does not end the installation. Threads: any.
class Installer {
 public:
  // Continues an installation that was cut off.
  Installer(const net::Environment& environment, const SystemTree& tree, const ServiceClient& service, std::string folder);
  Installer(const Installer&) = delete;
  Installer& operator=(const Installer&) = delete;
  ~Installer();  // stops at the end of a piece of work

  // Starts. The same request again changes nothing, also after a failure: only stop() makes another attempt possible.
  // errors: conflict: another installation runs or has run; those of files
  Result<> begin(const InstallRequest& request);

  // Stops the installation, and forgets it. The disk may be incomplete. errors: those of files
  Result<> stop();

 private:
  void start(const InstallRequest& request);

  const net::Environment& environment_;
  const SystemTree& tree_;
  const ServiceClient& service_;
  const std::string folder_;
  std::mutex operation_;  // of begin and stop
  std::jthread thread_;
};

// Step `install`: arguments of parse_install_request; no output.
Result<StepReply> begin_installation(const StepWorld& world, const Json& arguments);
// Step `stop-installation`: no arguments; no output.
Result<StepReply> stop_installation(const StepWorld& world, const Json& arguments);

}  // namespace slipway::agent
