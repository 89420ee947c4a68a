// The certificates of API servers and their clients that the operator manages. The names of Secrets equal those of
// openshift/cluster-kube-apiserver-operator.
#pragma once

#include "components/controller/certificate_rotation.h"

#include <string>
#include <vector>

namespace slipway::components::kube_apiserver {

inline constexpr std::string_view operator_space = "openshift-kube-apiserver-operator";
inline constexpr std::string_view target_space = "openshift-kube-apiserver";
inline constexpr std::string_view config_space = "openshift-config";
inline constexpr std::string_view managed_space = "openshift-config-managed";

// Host names and addresses of the serving certificates.
struct ServerNames {
  std::string load_balancer;           // host of Infrastructure's apiServerURL
  std::string internal_load_balancer;  // of its apiServerInternalURI
  std::string service_address;         // first address of the first service network

  bool operator==(const ServerNames&) const = default;
};

// Authorities whose bundles are read only by servers of the control plane, which read these files again. The setting `authority`
// applies to them.
std::vector<Signer> client_signers();
// Authorities that kubeconfigs outside of the cluster trust, or kubelets, which get a new authority late.
std::vector<Signer> lasting_signers();
// Authorities for repairs after all others have expired (docs/decisions/0011-certificates-that-slept.md).
std::vector<Signer> recovery_signers();
// The certificates of all these authorities.
std::vector<Leaf> leaves(const ServerNames& names);

// Plans the rotation of all authorities and certificates. `lifetimes` apply only where that is possible.
// errors: those of plan_rotation
Result<Plan> plan_certificates(const ServerNames& names, const Lifetimes& lifetimes, const Snapshot& seen, WallTime now);

}  // namespace slipway::components::kube_apiserver
