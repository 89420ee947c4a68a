// slipway-node kubelet-certificate: gets the kubelet's first client certificate as soon as the cluster permits, so that the
// kubelet starts once with everything in place. A kubelet that is rejected at first waits for seconds.
#pragma once

#include "base/secret.h"
#include "kube/client.h"
#include "machineconfig/served_config.h"
#include "node/program.h"

#include <functional>
#include <string>

namespace slipway::node {

struct KubeletIdentity {
  std::string node_name;
  std::string kubeconfig;  // path to write
  std::string cert_dir;    // where the certificate manager of the kubelet renews the certificate
};

// kubelet-certificate --bootstrap-kubeconfig=FILE --kubeconfig=FILE --cert-dir=FOLDER --node-name=NAME
//                     [--config-server=/etc/kubernetes/config-server.json]
//
// Does nothing if the certificate exists, is valid and is in use. Otherwise waits until the cluster permits a request, creates
// the request, waits for the approval, writes certificate and kubeconfig, and restarts the kubelet. If this node has an expired
// certificate, the request uses its key, which the approver recognises. kubelet-client.key.tmp exists from the first step to the
// last, so that the same command after a kill uses the same key, finds its own request, and skips no step.
//
// The credential for joining is valid for a day. If the API server rejects it for 15 seconds, a new one is fetched from the
// machine-config-server, as at the first boot, and replaces --bootstrap-kubeconfig. A machine without the file of --config-server
// keeps its credential.
//
//   errors  invalid: arguments, the kubeconfig; denied: the request was denied; not_found: the request was deleted; conflict: the
//           request belongs to another machine
//   time    until the certificate exists; without a limit while the cluster cannot be reached
Result<> run_kubelet_certificate(const Environment& environment, const Arguments& arguments);

// The same with another API. The server of the kubeconfig is that of `bootstrap`.
//
//   renew  replaces the credential of `api` and `bootstrap` after a rejection; empty: the credential cannot be replaced
Result<> get_kubelet_certificate(const Environment& environment, kube::Api& api, const kube::Access& bootstrap,
                                 const KubeletIdentity& identity, const std::function<Result<>()>& renew = {});

// Fetches this machine's Ignition config from the machine-config-server, and returns the kubeconfig for joining in it.
//
//   errors  those of Http; denied, unavailable, invalid: the answer is not a config with a kubeconfig
Result<Secret> fetch_join_kubeconfig(const sys::Context& context, net::Http& http,
                                     const machineconfig::ConfigServerAccess& server);

// The kubeconfig of a kubelet: the server of `bootstrap`, and a certificate file that is replaced at each renewal.
Json kubelet_kubeconfig(const kube::Access& bootstrap, const std::string& certificate_file);

// Whether a text has a certificate and key of this node, and whether the certificate is also valid now.
bool is_certificate_of(const std::string& pem, const std::string& node_name);
bool is_valid_certificate(const std::string& pem, const std::string& node_name, WallTime now);

}  // namespace slipway::node
