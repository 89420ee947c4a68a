// slipway-node kubelet-certificate: gets the kubelet's first client certificate as soon as the cluster gives it, so that the
// kubelet is started once, with everything in place: one that is refused first waits for seconds.
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
  std::string kubeconfig;  // to be written
  std::string cert_dir;    // where the kubelet's own certificate manager goes on with what is here
};

// kubelet-certificate --bootstrap-kubeconfig=FILE --kubeconfig=FILE --cert-dir=FOLDER --node-name=NAME
//                     [--config-server=/etc/kubernetes/config-server.json]
//
// Does nothing when the certificate is there, valid and in use. Else: waits until the cluster lets this machine ask, asks, waits
// for the approval, writes certificate and kubeconfig, restarts the kubelet. Where there is a certificate of this node that is
// over, it asks with that one's key, by which the approver knows it again. kubelet-client.key.tmp is there from the first of
// these steps to the last, so that the same command after a kill asks with the same key, finds its own request, and misses no
// step.
//
// The credential to join with lasts a day. When the API server refuses it for a quarter of a minute, a new one comes from the
// machine-config-server, as at the first boot, and replaces --bootstrap-kubeconfig. A machine without the file of --config-server
// keeps the one that it has.
//
//   errors  invalid: arguments, the kubeconfig; denied: the request was denied; not_found: it was removed; conflict: it is
//           somebody else's
//   time    until the certificate is there; without an end while the cluster cannot be reached
Result<> run_kubelet_certificate(const Environment& environment, const Arguments& arguments);

// The same with an API of the caller's; `bootstrap` says what the kubeconfig is to say of the server.
//
//   renew  gives `api`, and `bootstrap`, a new credential after the one before was refused; empty: there is no way to one
Result<> get_kubelet_certificate(const Environment& environment, kube::Api& api, const kube::Access& bootstrap,
                                 const KubeletIdentity& identity, const std::function<Result<>()>& renew = {});

// Asks the machine-config-server for this machine's config; the kubeconfig to join with that is in it.
//
//   errors  those of Http; denied, unavailable, invalid: the server's answer, which is no config with a kubeconfig
Result<Secret> fetch_join_kubeconfig(const sys::Context& context, net::Http& http,
                                     const machineconfig::ConfigServerAccess& server);

// The kubeconfig of a kubelet: the server of `bootstrap`, the certificate in a file that is replaced at each renewal.
Json kubelet_kubeconfig(const kube::Access& bootstrap, const std::string& certificate_file);

// Whether a text with certificate and key is this node's, and whether it is also valid now.
bool is_certificate_of(const std::string& pem, const std::string& node_name);
bool is_valid_certificate(const std::string& pem, const std::string& node_name, WallTime now);

}  // namespace slipway::node
