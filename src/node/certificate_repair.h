// slipway-node repair-certificates: renews the certificates of a master that was off until they expired
// (docs/decisions/0011-certificates-that-slept.md).
#pragma once

#include "node/program.h"

#include <map>
#include <string>

namespace slipway::node {

// repair-certificates [--kubernetes=/etc/kubernetes] [--cert-dir=/var/lib/kubelet/pki]
//
// Checks the certificates of the API server, the controller manager, the scheduler and the kubelet on the disk of this master. If
// one has expired or is about to expire, starts the static pod certificate-recovery, whose manifest is next to that of the API
// server, and waits until all of these certificates are replaced. Restarts API clients that started with an expired certificate.
// Removes the pod afterwards, also a pod of a run that was killed. Does nothing on machines without a control plane.
//
//   errors  invalid: arguments; not_found: no manifest of the pod next to that of the API server; those of the files
//   time    returns at once if all certificates are valid; otherwise waits without a limit, because a person may have to help
Result<> run_repair_certificates(const Environment& environment, const Arguments& arguments);

struct CertificatePlaces {
  std::string kubernetes = "/etc/kubernetes";
  std::string kubelet = "/var/lib/kubelet/pki";
};

// The ends of the certificates that this master uses, by their paths. Files without a certificate are left out.
Result<std::map<std::string, WallTime>> ends_of_certificates(sys::Files& files, const CertificatePlaces& places);

}  // namespace slipway::node
