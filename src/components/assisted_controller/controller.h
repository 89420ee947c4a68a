// assisted-installer-controller: reports the cluster to the service that installs it, until the installation is over. Then it
// sends its log and removes its namespace. If the service does not answer, it asks again until its credential ends, and writes
// what it knows to a ConfigMap of its namespace. If it ends without the service, the namespace stays, with this report.
//
// It reports within a second after a Node or an operator changes; it looks at the service every ten seconds, and after each
// report. If the service does not answer, it looks again after 1, 2, 4, 8, and then every 10 seconds. Everything that it knows
// is in the cluster and in the service, so it can be killed at any time.
#pragma once

#include "base/time.h"
#include "components/assisted_controller/service_access.h"
#include "components/program/program.h"
#include "kube/client.h"

namespace slipway::components::assisted_controller {

struct ControllerOptions {
  WallTime until{};                    // the end of its credential
  std::string pod{};                   // its own, whose log it sends; empty: none
  Milliseconds between_looks{10'000};  // at the service, if nothing changes
  Milliseconds patience{300'000};      // with a service that does not answer, until the report is written
  std::string service_host{};          // name of the host of the cluster that carries the service; empty: another machine
};

// errors  denied: the cluster refuses a watch; cancelled
// time    until a stop: after the removal of the namespace, the kubelet stops it
Result<> run_controller(const Environment& environment, kube::Api& api, const ServiceAccess& service,
                        const ControllerOptions& options);

// assisted-installer-controller start --url=URL --cluster-id=ID --until=TIME [--token-file=FILE] [--cacert=FILE]
// [--service-host=NAME] [--kubeconfig=FILE] [--patience=DURATION]
//
// TIME is as in "2026-11-27T12:00:00Z", DURATION as in "5m". errors: also invalid: arguments
Result<> run_start(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::assisted_controller
