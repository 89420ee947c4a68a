// The certificates of routers: an authority of our own, one certificate for the names of each domain, and what clients have to
// trust.
#pragma once

#include "components/controller/certificate_rotation.h"
#include "components/controller/reconcile.h"
#include "components/ingress/settings.h"

#include <string>
#include <vector>

namespace slipway::components::ingress {

// The authority Secret router-ca, its bundle ConfigMap router-ca, a Secret router-certs-NAME for each controller. Those of
// controllers that are gone are removed. errors: as plan_rotation
//
//   names      of all controllers, also those that are refused: what they have stays
//   lifetimes  only `leaf` counts: people trust the authority outside of the cluster
Result<Plan> plan_certificates(const std::vector<Settings>& settings, const std::vector<std::string>& names,
                               const Lifetimes& lifetimes, const Snapshot& seen, WallTime now);

// What a router serves to names that no Route has a certificate for.
struct ServedCertificate {
  std::string secret;     // its name, beside the routers; empty: there is none yet
  std::string problem{};  // why it is not the one that was asked for
};
ServedCertificate served_certificate(const Settings& settings, const Snapshot& seen);

// PEM of what clients trust who trust the router's certificate: our bundle, or the certificates that an administrator gave. Empty
// while there is none.
std::string trusted_by_clients(const Settings& settings, const Snapshot& seen);

}  // namespace slipway::components::ingress
