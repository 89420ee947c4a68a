// The keys with which the controller managers sign certificates (CertificateSigningRequests) and tokens of service accounts.
// Pure, except for new keys.
#pragma once

#include "components/controller/certificate_rotation.h"
#include "components/static_pod/static_pod_operator.h"

#include <string_view>

namespace slipway::components::kube_controller_manager {

inline constexpr std::string_view operator_space = "openshift-kube-controller-manager-operator";
inline constexpr std::string_view space = "openshift-kube-controller-manager";
inline constexpr std::string_view managed_space = "openshift-config-managed";

// The authority that signs certificate requests, Secret csr-signer. The first one is the installer's csr-signer-signer, so that
// trust does not change during the installation. A new authority is published in ConfigMap csr-controller-ca of the managed
// namespace five minutes before the controller managers use it (a tenth of the setting `authority`, if that is less).
//
//   errors  internal: a key could not be generated
Result<> plan_csr_signer(const Snapshot& seen, const Lifetimes& lifetimes, WallTime now, Target& target);

// The key that signs tokens of service accounts. The installer's key was on the bootstrap machine, so the operator replaces it
// one
// hour after the installation (a tenth of the setting `authority`, if that is less). The new key is used when its public key has
// been in sa-token-signing-certs for five minutes and every API server runs the newest revision.
//
//   errors  internal: a key could not be generated
Result<> plan_account_key(const Snapshot& seen, const Lifetimes& lifetimes, WallTime now, Target& target);

}  // namespace slipway::components::kube_controller_manager
