// Certificates and keys of a cluster: a table of them, as in openshift/installer pkg/asset/tls, and functions that generate them.
#pragma once

#include "assets/assets.h"

#include <span>
#include <string_view>
#include <vector>

namespace slipway::assets {

enum class Usage { authority, server, client, server_and_client };

// Which files of a certificate are copied to /opt/openshift/tls on the bootstrap machine.
enum class OnMachine { pair, certificate, nothing };

struct Names {
  std::vector<std::string> dns{};
  std::vector<std::string> ip{};
};

struct CertificateRow {
  std::string_view file;  // base name, "root-ca"
  net::SubjectName subject;
  std::string_view issuer{};  // file of the issuer; empty: self-signed
  Usage usage = Usage::authority;
  Seconds valid_for{0};
  OnMachine on_machine = OnMachine::pair;
  bool with_issuer = false;                                        // the file also contains the issuer's certificate
  Result<Names> (*names)(const config::InstallConfig&) = nullptr;  // subject alternative names; null: none
  bool has_key_usage = true;
  bool is_root = false;         // part of RootTls
  std::string_view platform{};  // generated only on this platform; empty: on all
};

// Validity of certificates that are valid for one day in OpenShift's installer. They are renewed when half of this time is over.
inline constexpr Seconds short_life = std::chrono::hours(24 * 30);

// Issuers come before the certificates that they sign.
std::span<const CertificateRow> certificate_rows();

struct BundleRow {
  std::string_view file;
  std::vector<std::string_view> certificates;  // files of the rows above, in the order of the bundle
};
std::span<const BundleRow> bundle_rows();

// Generates the two certificates that manifests contain, so that target `manifests` is fast. errors: as make_tls
Result<RootTls> make_root_tls(const config::InstallConfig& config, const Environment& environment, const Randomness& random,
                              const PreviousTls& previous);

// Generates all other certificates, bundles and keys.
//
//   previous  certificates to use again. If a cluster uses them, all are kept. Else a certificate is kept if its issuer is the
//   same
//             and it has not expired (short-lived ones: less than half of the validity is over). Bundles are always regenerated
//   errors    invalid: the wrong authority signed a certificate of the user; conflict: the requested key type differs from that
//             of the existing keys; internal
//   time      milliseconds with P-256; with RSA the time for 26 keys on all cores, one second on two cores
Result<Tls> make_tls(const config::InstallConfig& config, const Environment& environment, const Randomness& random,
                     const PreviousTls& previous, const RootTls& root, const UserTls& user);

// The files in /opt/openshift/tls: "root-ca.crt", "service-account.pub", and the token of the machine-config-server.
Result<AssetFiles> machine_tls_files(const Tls& tls, const ServerToken& token);

// The line for authorized_keys that permits `gather bootstrap` to log in.
Result<std::string> bootstrap_ssh_key(const Tls& tls);

// The SSH host key of the bootstrap machine.
struct HostKey {
  std::string path;  // of the private key on the machine; the public key has ".pub" appended
  Secret key;
  std::string public_line;  // "ecdsa-sha2-nistp256 AAAA... bootstrap"
};

// Empty in directories of older versions, where the machine generates its own key.
Result<std::optional<HostKey>> bootstrap_host_key(const Tls& tls);

}  // namespace slipway::assets
