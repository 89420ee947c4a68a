// cluster-kube-apiserver-operator render: the temporary API server, and the keys that the API servers of the cluster continue to
// use.
#pragma once

#include "base/template.h"
#include "components/program/program.h"
#include "components/render/api_server_pace.h"
#include "components/render/inputs.h"
#include "components/render/manifest.h"

#include <map>

namespace slipway::components::kube_apiserver {

// Files of the TLS folder that go into manifests.
struct TlsInput {
  std::map<std::string, net::Certificate, std::less<>> signers;  // by base name: "aggregator-signer"
  std::string admin_ca;                                          // admin-kubeconfig-ca-bundle.crt
  std::string kubelet_bootstrap_ca;                              // kubelet-bootstrap-kubeconfig-ca-bundle.crt
  std::string service_account_public;                            // service-account.pub
  Secret bound_key;                                              // bound-service-account-signing-key
  std::string bound_public;
};

struct RenderInput {
  TemplateValues values;  // of the shared flags (components/render/flags.h)
  Network network;
  Infrastructure infrastructure;
  FeatureGates gates;
  std::string issuer = "https://kubernetes.default.svc";
  std::vector<std::string> etcd_urls;
  std::string etcd_ca;        // name of a file in the TLS folder
  bool is_temporary = false;  // the server of the bootstrap machine
};

Result<Json> make_config(const RenderInput& input);
Result<RenderedFile> make_pod(const RenderInput& input);
Result<RenderedFiles> make_manifests(const TemplateValues& values, const TlsInput& tls);

// The command. If the input folder has no bound-service-account-signing-key.{key,pub}, it generates both files there.
Result<> run_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::kube_apiserver
