// Certificate requests of kubelets without a client certificate.
#pragma once

#include "base/json.h"

#include <string_view>

namespace slipway::testing_support {

// The spec of a CertificateSigningRequest for a client certificate, made with the installer's certificate for masters; `request`
// in base64.
inline Json client_request_spec(std::string_view request) {
  return {
      {"request", request},
      {"signerName", "kubernetes.io/kube-apiserver-client-kubelet"},
      {"username", "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"},
      {"groups", {"system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator", "system:authenticated"}},
      {"extra", {{"authentication.kubernetes.io/credential-id", {"X509SHA256=5f0c6b1e"}}}},
      {"usages", {"digital signature", "client auth"}}};
}

}  // namespace slipway::testing_support
