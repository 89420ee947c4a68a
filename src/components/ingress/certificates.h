// The certificates of routers: an authority, one wildcard certificate for each domain, and the bundle that clients have to trust.
#pragma once

#include "components/controller/certificate_rotation.h"
#include "components/controller/reconcile.h"
#include "components/ingress/settings.h"

#include <string>
#include <vector>

namespace slipway::components::ingress {

// Plans the authority (Secret router-ca), its bundle (ConfigMap router-ca) and a Secret router-certs-NAME for each controller.
// Secrets of deleted controllers are removed.
//
//   names      names of all controllers, including refused ones: their certificates stay
//   lifetimes  only `leaf` applies: clients outside of the cluster trust the authority
//   errors     those of plan_rotation
Result<Plan> plan_certificates(const std::vector<Settings>& settings, const std::vector<std::string>& names,
                               const Lifetimes& lifetimes, const Snapshot& seen, WallTime now);

// The certificate that a router serves for hosts whose Routes have none.
struct ServedCertificate {
  std::string secret;     // name of a Secret in the routers' namespace; empty: it does not exist yet
  std::string problem{};  // why it is not the certificate of spec.defaultCertificate; empty: no problem
};
ServedCertificate served_certificate(const Settings& settings, const Snapshot& seen);

// The bundle that clients of the routers have to trust, PEM: the operator's bundle, or the certificates in the administrator's
// Secret. Empty while it does not exist.
std::string trusted_by_clients(const Settings& settings, const Snapshot& seen);

}  // namespace slipway::components::ingress
