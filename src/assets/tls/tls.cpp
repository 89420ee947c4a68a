#include "assets/tls/tls.h"

#include "assets/identity/stream.h"
#include "assets/tls/keys.h"
#include "config/platforms.h"

namespace slipway::assets {

namespace {

constexpr std::string_view service_account = "service-account";
constexpr std::string_view ssh = "bootstrap-ssh";
constexpr std::string_view ssh_host = "bootstrap-ssh-host";
constexpr std::string_view signing_key = "bound-service-account-signing-key";
constexpr Seconds clock_tolerance = std::chrono::minutes(5);  // tolerated: certificates that begin so far in the future are kept

Result<bool> is_still_valid(const CertificateRow& row, const net::Certificate& certificate, WallTime now) {
  const net::CertificateInfo info = TRY(net::parse_certificate(certificate.pem));
  const Milliseconds reserve = row.valid_for <= short_life ? row.valid_for / 2 : Seconds(0);
  return info.not_before <= now + clock_tolerance && info.not_after - now > reserve;
}

// The type of the existing keys; for new keys, the requested type or the platform's default.
Result<net::KeyType> choose_type(const config::InstallConfig& config, const Environment& environment, const Tls& previous) {
  const auto root = previous.find("root-ca");
  if (root == previous.end()) {
    return environment.key_type.value_or(config::platform_row(config.platform.type).has_fast_keys ? net::KeyType::p256
                                                                                                  : net::KeyType::rsa2048);
  }
  const bool is_rsa = TRY(net::key_algorithm(root->second.key)) == "RSA";
  const net::KeyType type = is_rsa ? net::KeyType::rsa2048 : net::KeyType::p256;
  if (environment.key_type.value_or(type) != type) {
    return error(
        Code::conflict,
        "--key-type: applies to new keys only, the existing keys are {} (omit --key-type, or copy install-config.yaml to "
        "an empty directory)",
        is_rsa ? "RSA" : "ECDSA");
  }
  return type;
}

class Maker {
 public:
  Maker(const config::InstallConfig& config, const Environment& environment, const Randomness& random,
        const PreviousTls& previous, const UserTls& user, net::KeyType type)
      : config_(config), environment_(environment), random_(random), previous_(previous), user_(user), type_(type) {}

  Result<Tls> make_root() {
    for (const CertificateRow& row : certificate_rows()) {
      if (row.is_root) TRY(take_or_mark_missing(row));
    }
    TRY(make_missing());
    return std::move(made_);
  }

  Result<Tls> make(const Tls& root) {
    made_ = root;
    for (const CertificateRow& row : certificate_rows()) {
      if (!row.is_root && (row.platform.empty() || row.platform == config_.platform.type)) TRY(take_or_mark_missing(row));
    }
    // Older versions generated no SSH host key: a running bootstrap machine may have its own key.
    const bool has_old_machine = previous_.tls.contains(ssh) && !previous_.tls.contains(ssh_host);
    for (const std::string_view name : {service_account, ssh, ssh_host}) {
      const auto old = previous_.tls.find(name);
      if (name == ssh_host && has_old_machine) continue;
      if (old == previous_.tls.end()) {
        missing_keys_.push_back(name);
      } else {
        made_.emplace(name, old->second);
      }
    }
    TRY(make_missing());
    TRY(check_user_certificates());
    bundle();
    if (user_.signing_key) made_.emplace(signing_key, net::Certificate{"", *user_.signing_key});
    if (const auto old = previous_.tls.find(signing_key); old != previous_.tls.end()) made_.emplace(signing_key, old->second);
    return std::move(made_);
  }

 private:
  // Takes the user's or the existing certificate, or marks the certificate as missing.
  Result<> take_or_mark_missing(const CertificateRow& row) {
    const auto given = user_.pairs.find(row.file);
    const auto old = previous_.tls.find(row.file);
    if (given != user_.pairs.end()) {
      made_.emplace(row.file, given->second);
    } else if (old != previous_.tls.end() && TRY(is_kept(row, old->second))) {
      made_.emplace(row.file, old->second);
    } else {
      missing_.push_back(&row);
      missing_keys_.push_back(row.file);
    }
    return Ok{};
  }

  Result<bool> is_kept(const CertificateRow& row, const net::Certificate& certificate) const {
    if (previous_.has_cluster) return true;
    return TRY(is_signed(row, certificate)) && TRY(is_still_valid(row, certificate, environment_.now));
  }

  // Whether the current certificate of the issuer signed it. False if the issuer is not generated yet.
  Result<bool> is_signed(const CertificateRow& row, const net::Certificate& certificate) const {
    if (row.issuer.empty()) return true;
    const auto issuer = made_.find(row.issuer);
    return issuer != made_.end() && TRY(net::is_signed_by(certificate.pem, issuer->second.pem));
  }

  Result<> make_missing() {
    std::vector<Secret> keys = TRY(make_keys(type_, missing_keys_, random_));
    for (std::size_t i = 0; i < missing_.size(); ++i) {
      net::Certificate made =
          TRY(make_row(*missing_[i], std::move(keys[i])).context(fmt::format("generating certificate {}", missing_[i]->file)));
      made_.emplace(missing_[i]->file, std::move(made));
    }
    for (std::size_t i = missing_.size(); i < keys.size(); ++i) {
      made_.emplace(missing_keys_[i], net::Certificate{"", std::move(keys[i])});
    }
    return Ok{};
  }

  // Checks that the right authority signed each of the user's certificates.
  Result<> check_user_certificates() const {
    for (const CertificateRow& row : certificate_rows()) {
      const auto given = user_.pairs.find(row.file);
      if (given == user_.pairs.end() || row.issuer.empty()) continue;
      if (!TRY(is_signed(row, given->second))) {
        return error(Code::invalid, "tls/{0}.crt: not signed by {1} (add tls/{1}.crt and tls/{1}.key, the pair that signed it)",
                     row.file, row.issuer);
      }
    }
    return Ok{};
  }

  Result<net::Certificate> make_row(const CertificateRow& row, Secret key) const {
    const net::Certificate* issuer = row.issuer.empty() ? nullptr : &made_.find(row.issuer)->second;
    const WallTime now = std::chrono::floor<Seconds>(environment_.now);
    // A signed certificate is valid from the same time as its issuer.
    const WallTime from = issuer == nullptr ? now : TRY(net::parse_certificate(issuer->pem)).not_before;
    const bool both = row.usage == Usage::server_and_client;
    Stream stream(random_, fmt::format("certificate {}", row.file));
    net::CertificateSpec spec{.subject = row.subject,
                              .is_ca = row.usage == Usage::authority,
                              .has_key_usage = row.has_key_usage,
                              .server_auth = row.usage == Usage::server || both,
                              .client_auth = row.usage == Usage::client || both,
                              .valid_from = from,
                              .valid_for = std::chrono::floor<Seconds>(now + row.valid_for - from),
                              .key = std::move(key),
                              .random = stream.if_seeded()};
    if (row.names) {
      Names names = TRY(row.names(config_));
      spec.dns_names = std::move(names.dns);
      spec.ip_addresses = std::move(names.ip);
    }
    net::Certificate certificate = TRY(net::make_certificate(spec, issuer));
    if (row.with_issuer) certificate.pem += "\n" + issuer->pem;
    return certificate;
  }

  void bundle() {
    for (const BundleRow& row : bundle_rows()) {
      std::string bundle;
      for (const std::string_view certificate : row.certificates) bundle += made_.find(certificate)->second.pem;
      made_.emplace(row.file, net::Certificate{std::move(bundle), {}});
    }
  }

  const config::InstallConfig& config_;
  const Environment& environment_;
  const Randomness& random_;
  const PreviousTls& previous_;
  const UserTls& user_;
  const net::KeyType type_;
  Tls made_;
  std::vector<const CertificateRow*> missing_;
  std::vector<std::string_view> missing_keys_;  // names of the keys of missing_, then of keys without a certificate
};

// The PEM type of an RSA key is "RSA PUBLIC KEY", as in OpenShift, although the content is a SubjectPublicKeyInfo. Readers check
// the content, not the PEM type.
Result<std::string> public_key_file(const Secret& key) {
  std::string pem = TRY(net::public_key(key));
  if (TRY(net::key_algorithm(key)) != "RSA") return pem;
  constexpr std::string_view name = "PUBLIC KEY";
  for (std::size_t at = pem.find(name); at != std::string::npos; at = pem.find(name, at + name.size() + 4))
    pem.insert(at, "RSA ");
  return pem;
}

}  // namespace

Result<RootTls> make_root_tls(const config::InstallConfig& config, const Environment& environment, const Randomness& random,
                              const PreviousTls& previous) {
  const net::KeyType type = TRY(choose_type(config, environment, previous.tls));
  return RootTls{TRY(Maker(config, environment, random, previous, {}, type).make_root())};
}

Result<Tls> make_tls(const config::InstallConfig& config, const Environment& environment, const Randomness& random,
                     const PreviousTls& previous, const RootTls& root, const UserTls& user) {
  const net::KeyType type = TRY(choose_type(config, environment, root.tls));
  return Maker(config, environment, random, previous, user, type).make(root.tls);
}

Result<AssetFiles> machine_tls_files(const Tls& tls, const ServerToken& token) {
  AssetFiles files;
  for (const CertificateRow& row : certificate_rows()) {
    const auto found = tls.find(row.file);
    if (row.on_machine == OnMachine::nothing || found == tls.end()) continue;  // of another platform
    files.push_back({fmt::format("{}.crt", row.file), found->second.pem});
    if (row.on_machine == OnMachine::pair) files.push_back({fmt::format("{}.key", row.file), found->second.key.reveal()});
  }
  for (const BundleRow& row : bundle_rows()) files.push_back({fmt::format("{}.crt", row.file), tls.find(row.file)->second.pem});
  for (const std::string_view name : {service_account, signing_key}) {
    const auto found = tls.find(name);
    if (found == tls.end()) continue;  // signing_key is optional
    std::string public_half = TRY(public_key_file(found->second.key));
    files.push_back({fmt::format("{}.key", name), found->second.key.reveal()});
    files.push_back({fmt::format("{}.pub", name), std::move(public_half)});
  }
  files.push_back({"machine-config-server-token", token.text.reveal()});
  return files;
}

Result<std::string> bootstrap_ssh_key(const Tls& tls) { return net::authorized_key(tls.find(ssh)->second.key, ""); }

Result<std::optional<HostKey>> bootstrap_host_key(const Tls& tls) {
  const auto found = tls.find(ssh_host);
  if (found == tls.end()) return std::optional<HostKey>();
  const Secret& key = found->second.key;
  std::string line = TRY(net::authorized_key(key, "bootstrap"));
  const bool is_rsa = TRY(net::key_algorithm(key)) == "RSA";
  return std::optional(HostKey{is_rsa ? "/etc/ssh/ssh_host_rsa_key" : "/etc/ssh/ssh_host_ecdsa_key", key, std::move(line)});
}

}  // namespace slipway::assets
