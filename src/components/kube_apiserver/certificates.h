// Certificates of the API servers and of their clients, as the operator keeps them. The names of Secrets are those of
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

// What server certificates are for.
struct ServerNames {
  std::string load_balancer;           // host of Infrastructure's apiServerURL
  std::string internal_load_balancer;  // of its apiServerInternalURI
  std::string service_address;         // first address of the first service network

  bool operator==(const ServerNames&) const = default;
};

// Authorities whose bundles only servers of the control plane read, by files that they read again: the setting `authority` counts
// for these. The others are trusted by kubeconfigs outside of the cluster and by kubelets, which learn of a new one late.
std::vector<Signer> client_signers();
std::vector<Signer> lasting_signers();
// What repairs are made by when all the others are over (docs/decisions/0011-certificates-that-slept.md).
std::vector<Signer> recovery_signers();
// Of all of them.
std::vector<Leaf> leaves(const ServerNames& names);

// All of them, with the chosen lifetimes where they may apply. errors: as the common plan_rotation
Result<Plan> plan_certificates(const ServerNames& names, const Lifetimes& lifetimes, const Snapshot& seen, WallTime now);

}  // namespace slipway::components::kube_apiserver
