// Rotation of certificates in Secrets: authorities, bundles of trusted authorities, and the certificates that the authorities
// sign. Decisions depend only on certificates and on the annotations of openshift/library-go pkg/operator/certrotation. Only new
// keys are random.
#pragma once

#include "components/controller/conditions.h"
#include "components/controller/reconcile.h"
#include "components/render/manifest.h"
#include "net/x509.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::components {

// How long a certificate is valid and when it is replaced: at `refresh` or at 80 % of its validity, whichever is earlier.
struct Lifetime {
  Seconds valid{};
  Seconds refresh{};
};

struct Signer {
  ObjectName secret;  // kubernetes.io/tls
  ObjectName bundle;  // ConfigMap, key ca-bundle.crt: all certificates of the signer that are still valid, newest first
  std::string component, description;
  Lifetime lifetime;
  Seconds spread{};  // how long a new bundle takes to reach every reader: rollouts, files on machines
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

// Shorter lifetimes that an administrator sets in ConfigMap openshift-config/certificate-lifetimes (docs/lifetimes.md), for
// example data: {leaf: 168h, authority: 336h, kubelet: 24h, etcd: 8760h}. A certificate with such a lifetime is replaced after
// half of it.
struct Lifetimes {
  std::optional<Seconds> leaf{};       // certificates of clients and servers, except those of etcd
  std::optional<Seconds> authority{};  // authorities that only programs of the control plane trust
  std::optional<Seconds> kubelet{};    // certificates that the controller manager signs for kubelets, as clients and servers
  std::optional<Seconds> etcd{};       // certificates of etcd: a cluster that is off beyond their end cannot start
};
inline constexpr std::string_view lifetimes_space = "openshift-config";
inline constexpr std::string_view lifetimes_name = "certificate-lifetimes";
// The watch that parse_lifetimes needs.
Watched watched_lifetimes();
// Empty without the ConfigMap. errors: invalid: an unknown key, a value that is not a duration or is out of bounds
Result<Lifetimes> parse_lifetimes(const Snapshot& seen);
// Like parse_lifetimes, and adds the condition CertificateRotationDegraded, which lists the lifetimes in use. Empty after an
// error.
Lifetimes lifetimes_of(const Snapshot& seen, std::vector<Condition>& conditions);

// Returns the missing and changed objects. A leaf of a new signer follows in a later plan.
//
// An existing signer is adopted, whoever created it, and replaced when it is due. A new signer waits before it signs, so that the
// bundle reaches all readers: a tenth of the leaf's refresh after the bundle contains the signer, or `spread` if that is longer
// (at most half of the time from the leaf's refresh to its end). If no trusted leaf exists, the new signer signs immediately.
// A leaf is also replaced if its signer is no longer in the bundle or its names changed. A leaf never outlives its signer.
// tls.crt contains the leaf, followed by its signer if that is not a root. A replacement is reported as an Event
// CertificateRenewed.
//
//   errors  invalid: a leaf whose signer is not in the table, an invalid address; internal
//   time    1 ms per certificate that this thread has not read before, 0.02 ms otherwise
Result<Plan> plan_rotation(const std::vector<Signer>& signers, const std::vector<Leaf>& leaves, const Lifetimes& lifetimes,
                           const Snapshot& seen, WallTime now);

// Joins several bundles into one PEM text, newest certificate first. Duplicates, expired certificates and text without a
// certificate are left out. errors: invalid: a certificate that cannot be read
Result<std::string> join_bundles(const std::vector<std::string>& pems, WallTime now);

// The decoded value of a key in a ConfigMap or Secret. Empty if the object or the key is missing.
std::optional<std::string> data_of(const Json* object, std::string_view key);

}  // namespace slipway::components
