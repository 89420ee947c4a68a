// Certificates of the API servers and of those who talk to them, as the operator keeps them (operators 4.3).
#pragma once

#include "operators/lib/certificate_rotation.h"

#include <string>
#include <vector>

namespace slipway::operators::apiserver {

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

// Authorities whose bundles are read by files only that servers read anew: these rotate in the lifetimes of a test too. The
// others are trusted by kubeconfigs and kubelets outside of the cluster, which nobody renews in minutes.
std::vector<Signer> client_signers();
std::vector<Signer> lasting_signers();
// Of both.
std::vector<Leaf> leaves(const ServerNames& names);

// All of them, with the lifetimes of a test where they may apply. errors: as the common plan_rotation
Result<Plan> plan_certificates(const ServerNames& names, const Lifetimes& lifetimes, const Snapshot& seen, WallTime now);

}  // namespace slipway::operators::apiserver
