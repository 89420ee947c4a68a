// The authority that signs the certificates of Services: its key, its bundle and its rotation. Pure except for new keys.
#pragma once

#include "components/controller/reconcile.h"
#include "net/x509.h"

#include <optional>
#include <string>
#include <string_view>

namespace slipway::components::service_ca {

inline constexpr std::string_view authority_space = "openshift-service-ca";
// Secret: tls.crt, tls.key, ca-bundle.crt (the authority and its predecessors that are still valid), and after a rotation
// intermediate-ca.crt (the authority as signed by its predecessor).
inline constexpr std::string_view key_name = "signing-key";
// ConfigMap, key ca-bundle.crt: what clients have to trust.
inline constexpr std::string_view bundle_name = "signing-cabundle";

struct Authority {
  net::Certificate certificate;
  net::CertificateInfo info;
  std::string bridge{};  // PEM: the authority as signed by its predecessor, while that is valid. Empty: no rotation yet

  // What follows a certificate in its file: the bridge, with which clients that only have the bundle of before the rotation trust
  // the certificate; without a rotation the authority itself. Not both, because OpenSSL would stop at the self-signed one.
  const std::string& chain() const { return bridge.empty() ? certificate.pem : bridge; }
};

// The authority in Secret signing-key. Empty if there is none, it has expired, or it cannot be used.
std::optional<Authority> find_authority(const Snapshot& seen, WallTime now);

// The bundle in ConfigMap signing-cabundle, PEM. Empty if there is none.
std::string find_bundle(const Snapshot& seen);

// Plans Secret and ConfigMap. A new authority is created if there is none, if 395 of its 790 days have passed, or if
// `forced_reason` is new. The bundle keeps predecessors until they expire, so that clients also trust certificates that were
// signed before.
//
//   forced_reason  why an administrator wants a new authority; the last one is in an annotation of the Secret. Empty: does not
//   errors         internal
Result<Plan> plan_authority(const std::string& forced_reason, const Snapshot& seen, WallTime now);

}  // namespace slipway::components::service_ca
