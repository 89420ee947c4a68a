// slipway-node repair-certificates: what a master does when it comes on and finds its certificates over, because it was off for
// longer than they last (docs/decisions/0011-certificates-that-slept.md).
#pragma once

#include "node/program.h"

#include <map>
#include <string>

namespace slipway::node {

// repair-certificates [--kubernetes=/etc/kubernetes] [--cert-dir=/var/lib/kubelet/pki]
//
// Looks at the certificates that this master's disk has of the API server, the controller manager, the scheduler and the kubelet.
// When one is over, or nearly, it gives the kubelet the pod certificate-recovery, which lies beside the API server's, until each
// of those was replaced; then takes it away, also one that was left by a kill. Clients of the API that were started with a
// certificate that was over are started again in between. Nothing to do on machines without a control plane.
//
//   errors  invalid: arguments; not_found: there is no such pod beside the API server's; those of the files
//   time    at once when all is well; else until it is, without an end: what is missing may take a person
Result<> run_repair_certificates(const Environment& environment, const Arguments& arguments);

struct CertificatePlaces {
  std::string kubernetes = "/etc/kubernetes";
  std::string kubelet = "/var/lib/kubelet/pki";
};

// When the certificates end that this master works with, by their paths. Files that hold none are left out.
Result<std::map<std::string, WallTime>> ends_of_certificates(sys::Files& files, const CertificatePlaces& places);

}  // namespace slipway::node
