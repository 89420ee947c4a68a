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

// The authority that signs certificate requests: csr-signer, at first the installer's csr-signer-signer, so that nothing that
// trusts it changes while the cluster is being installed. A later one is told to everybody by csr-controller-ca of the managed
// namespace five minutes (a tenth of the setting `authority`, if that is less) before the controller managers get it.
//
//   errors  internal: no new key can be made
Result<> plan_csr_signer(const Snapshot& seen, const Lifetimes& lifetimes, WallTime now, Target& target);

// The key of tokens: the installer's until the cluster has been complete for an hour (a tenth of the setting `authority`, if that
// is less), since that one has been on the bootstrap machine; then one of its own. Its public half is among
// sa-token-signing-certs five minutes before it is used, and every API server runs the newest revision by then.
//
//   errors  as above
Result<> plan_account_key(const Snapshot& seen, const Lifetimes& lifetimes, WallTime now, Target& target);

}  // namespace slipway::components::kube_controller_manager
