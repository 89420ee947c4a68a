// Certificates and keys of a cluster: one table, those of openshift/installer pkg/asset/tls, and one function that makes them.
#pragma once

#include "assets/assets.h"

#include <span>
#include <string_view>
#include <vector>

namespace slipway::assets {

enum class Usage { authority, server, client, server_and_client };

// Which halves lie under /opt/openshift/tls on the bootstrap machine.
enum class OnMachine { pair, certificate, nothing };

struct Names {
  std::vector<std::string> dns{};
  std::vector<std::string> ip{};
};

struct CertificateRow {
  std::string_view file;  // base name, "root-ca"
  net::SubjectName subject;
  std::string_view issuer{};  // file of its issuer; empty: signed by itself
  Usage usage = Usage::authority;
  Seconds valid_for{0};
  OnMachine on_machine = OnMachine::pair;
  bool with_issuer = false;                                        // the issuer's certificate follows its own
  Result<Names> (*names)(const config::InstallConfig&) = nullptr;  // subject alternative names; none when null
  bool has_key_usage = true;
  bool is_root = false;         // of RootTls
  std::string_view platform{};  // the only one that has it; empty: all
};

// Rows of one day in OpenShift's installer live for so long, and are made anew when half of it is over.
inline constexpr Seconds short_life = std::chrono::hours(24 * 30);

// Issuers stand before those they sign.
std::span<const CertificateRow> certificate_rows();

struct BundleRow {
  std::string_view file;
  std::vector<std::string_view> certificates;  // files of the rows above, in the order of the bundle
};
std::span<const BundleRow> bundle_rows();

// Makes the two rows that manifests carry, so that a target that needs no more is quick. errors: as make_tls
Result<RootTls> make_root_tls(const config::InstallConfig& config, const Environment& environment, const Randomness& random,
                              const PreviousTls& kept);

// Makes all other rows, bundles and keys.
//
//   kept    certificates to use again: all of them when a cluster has them; else those of the same issuer whose time is not
//           half over (short-lived ones) or not over (others); all bundles are made anew of what there is then
//   errors  invalid: a certificate of the user's that the authority it needs has not signed; conflict: another type of keys is
//           asked for than what is kept has; internal
//   time    milliseconds with P-256, with RSA 26 keys on all cores: a second on two
Result<Tls> make_tls(const config::InstallConfig& config, const Environment& environment, const Randomness& random,
                     const PreviousTls& kept, const RootTls& root, const UserTls& user);

// What lies in /opt/openshift/tls: "root-ca.crt", "service-account.pub", and the machine-config-server's token.
Result<AssetFiles> machine_tls_files(const Tls& tls, const ServerToken& token);

// The line for authorized_keys that lets `gather bootstrap` in.
Result<std::string> bootstrap_ssh_key(const Tls& tls);

// The key by which the SSH server of the bootstrap machine proves to be that machine's.
struct HostKey {
  std::string path;  // where the server looks for it; ".pub" beside it
  Secret key;
  std::string public_line;  // "ecdsa-sha2-nistp256 AAAA... bootstrap"
};

// None in directories of versions that let the machine make its own.
Result<std::optional<HostKey>> bootstrap_host_key(const Tls& tls);

}  // namespace slipway::assets
