// Rotation of certificates in Secrets: authorities, bundles of trusted authorities, and the certificates that they sign. Decides
// from annotations and certificates only, those of openshift/library-go pkg/operator/certrotation; only new keys are random.
#pragma once

#include "components/controller/conditions.h"
#include "components/controller/reconcile.h"
#include "components/render/manifest.h"
#include "net/x509.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::components {

// How long certificates are valid and when the next one is made: at `refresh`, or at 80 % of the validity, whichever is earlier.
struct Lifetime {
  Seconds valid{};
  Seconds refresh{};
};

struct Signer {
  ObjectName secret;  // kubernetes.io/tls
  ObjectName bundle;  // ConfigMap, key ca-bundle.crt: all of its certificates that are still valid, newest first
  std::string component, description;
  Lifetime lifetime;
  Seconds spread{};  // until everyone who reads the bundle has it: roll-outs, files of machines
};

struct Leaf {
  ObjectName secret;
  ObjectName signer;
  net::SubjectName subject;
  bool is_server = false, is_client = false;
  std::vector<std::string> dns_names{}, ip_addresses{};
  std::string component, description;
  Lifetime lifetime;
};

// Shorter lifetimes that an administrator chose, by ConfigMap openshift-config/certificate-lifetimes (docs/lifetimes.md):
// data: {leaf: 168h, authority: 336h, kubelet: 24h}. A certificate is then replaced after half of its lifetime.
struct Lifetimes {
  std::optional<Seconds> leaf{};       // of clients and servers
  std::optional<Seconds> authority{};  // of authorities that only programs of the control plane trust
  std::optional<Seconds> kubelet{};    // of what the controller manager signs: clients and servers that are kubelets
};
inline constexpr std::string_view lifetimes_space = "openshift-config";
inline constexpr std::string_view lifetimes_name = "certificate-lifetimes";
// What has to be watched for it.
Watched watched_lifetimes();
// None without the ConfigMap. errors: invalid: a key that does not exist, a value that is no length of time or out of bounds
Result<Lifetimes> parse_lifetimes(const Snapshot& seen);
// The same with the condition CertificateRotationDegraded, which names the lifetimes in use. After an error there are none.
Lifetimes lifetimes_of(const Snapshot& seen, std::vector<Condition>& conditions);

// What is wished is in `plan`; what is not there yet (a leaf whose signer is made only now) comes with the next plan.
//
// Signers that are there are taken over whoever made them, and replaced when their time has come. A signer that was replaced
// signs nothing for the first tenth of a leaf's refresh after the bundle has it, or for `spread` if that is more and the leaf
// lives twice that long after its refresh, so that the bundle reaches everyone before; where no leaf is trusted it signs at once.
// A leaf is made anew also when its signer is not in the bundle any more or its names changed. It never lives longer than its
// signer. tls.crt is the leaf, followed by its signer when that is not a root. What replaces another is told as an Event
// CertificateRenewed.
//
//   errors  invalid: a leaf whose signer is not in the table, an address that is none; internal
//   time    1 ms a certificate when it is new to this thread, 0.02 ms later
Result<Plan> plan_rotation(const std::vector<Signer>& signers, const std::vector<Leaf>& leaves, const Lifetimes& lifetimes,
                           const Snapshot& seen, WallTime now);

// PEM of several bundles as one, each certificate once, those that are over left out; newest first. Text without a certificate
// adds nothing. errors: invalid: a certificate that cannot be read
Result<std::string> join_bundles(const std::vector<std::string>& pems, WallTime now);

// What a ConfigMap or Secret holds under a key, decoded; nothing when there is no object or no such key.
std::optional<std::string> held(const Json* object, std::string_view key);

}  // namespace slipway::components
