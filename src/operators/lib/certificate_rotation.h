// Rotation of certificates that live in Secrets (operators 4.3): authorities, the bundles of those that are trusted, and what
// they sign. Decides from annotations and certificates only; new keys are all that is random.
#pragma once

#include "net/x509.h"
#include "operators/lib/manifest.h"
#include "operators/lib/reconcile.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::operators {

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

// Lifetimes of a test, put over those of the tables: the settings' spec.unsupportedConfigOverrides.certificates =
// {"signer": "20m", "leaf": "4m"} (hours, minutes, seconds: "1h30m") is the validity; the refresh is then half of it.
struct Lifetimes {
  std::optional<Seconds> signer{}, leaf{};
};
// errors: invalid: no such length of time
Result<Lifetimes> lifetimes_of(const Json& settings);

// What is wished is in `plan`; what is not there yet (a leaf whose signer is made only now) comes with the next plan.
//
// Signers that are there are taken over whoever made them, and replaced when their time has come. A signer that was replaced
// signs nothing for the first tenth of a leaf's refresh after the bundle has it, so that the bundle reaches everybody before;
// where there is no leaf that anybody trusts it signs at once. A leaf is made anew also when its signer is not in the bundle any
// more or its names changed. It never lives longer than its signer. tls.crt is the leaf, followed by its signer when that is not
// a root. What replaces another is told as an Event CertificateRenewed.
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

}  // namespace slipway::operators
