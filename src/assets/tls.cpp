#include "assets/tls.h"

#include <algorithm>
#include <set>

namespace slipway::assets {

namespace {

constexpr std::string_view service_account = "service-account";
constexpr std::string_view ssh = "bootstrap-ssh";
constexpr std::string_view signing_key = "bound-service-account-signing-key";
constexpr Seconds short_life = std::chrono::hours(24);

Result<bool> still_good(const CertificateRow& row, const net::Certificate& certificate, WallTime now) {
  const net::CertificateInfo info = TRY(net::parse_certificate(certificate.pem));
  const Milliseconds reserve = row.valid_for <= short_life ? row.valid_for / 2 : Seconds(0);
  return info.not_after - now > reserve;
}

Result<net::Certificate> make_row(const CertificateRow& row, const config::InstallConfig& config, WallTime now,
                                  const net::Certificate* issuer) {
  const bool both = row.usage == Usage::server_and_client;
  net::CertificateSpec spec{.subject = row.subject,
                            .is_ca = row.usage == Usage::authority,
                            .server_auth = row.usage == Usage::server || both,
                            .client_auth = row.usage == Usage::client || both,
                            .valid_from = now,
                            .valid_for = row.valid_for};
  if (row.names) {
    Names names = TRY(row.names(config));
    spec.dns_names = std::move(names.dns);
    spec.ip_addresses = std::move(names.ip);
  }
  net::Certificate certificate = TRY(net::make_certificate(spec, issuer));
  if (row.with_issuer) certificate.pem += "\n" + issuer->pem;
  return certificate;
}

Result<net::Certificate> key_only(std::string_view name, const Tls& kept) {
  const auto found = kept.find(name);
  if (found != kept.end()) return found->second;
  Secret key = TRY(net::make_key());
  return net::Certificate{"", std::move(key)};
}

}  // namespace

Result<Tls> make_tls(const config::InstallConfig& config, const Environment& environment, const KeptTls& kept,
                     const UserSigningKey& user_key) {
  Tls tls;
  std::set<std::string_view> renewed;
  for (const CertificateRow& row : certificate_rows()) {
    const auto old = kept.tls.find(row.file);
    if (old != kept.tls.end() && !renewed.contains(row.issuer) && TRY(still_good(row, old->second, environment.now))) {
      tls.emplace(row.file, old->second);
      continue;
    }
    const net::Certificate* issuer = row.issuer.empty() ? nullptr : &tls.find(row.issuer)->second;
    net::Certificate made =
        TRY(make_row(row, config, environment.now, issuer).context(fmt::format("making the certificate {}", row.file)));
    tls.emplace(row.file, std::move(made));
    renewed.insert(row.file);
  }
  for (const BundleRow& row : bundle_rows()) {
    std::string bundle;
    for (const std::string_view certificate : row.certificates) bundle += tls.find(certificate)->second.pem;
    tls.emplace(row.file, net::Certificate{std::move(bundle), {}});
  }
  for (const std::string_view name : {service_account, ssh}) tls.emplace(name, TRY(key_only(name, kept.tls)));
  if (user_key.key) {
    TRY(net::public_key(*user_key.key).context("tls/bound-service-account-signing-key.key"));
    tls.emplace(signing_key, net::Certificate{"", *user_key.key});
  }
  return tls;
}

Result<AssetFiles> machine_tls_files(const Tls& tls, const ServerToken& token) {
  AssetFiles files;
  for (const CertificateRow& row : certificate_rows()) {
    if (row.on_machine == OnMachine::nothing) continue;
    const net::Certificate& certificate = tls.find(row.file)->second;
    files.push_back({fmt::format("{}.crt", row.file), certificate.pem});
    if (row.on_machine == OnMachine::pair) files.push_back({fmt::format("{}.key", row.file), certificate.key.reveal()});
  }
  for (const BundleRow& row : bundle_rows()) files.push_back({fmt::format("{}.crt", row.file), tls.find(row.file)->second.pem});
  for (const std::string_view name : {service_account, signing_key}) {
    const auto found = tls.find(name);
    if (found == tls.end()) continue;  // the second one is the user's and may well not be there
    std::string public_half = TRY(net::public_key(found->second.key));
    files.push_back({fmt::format("{}.key", name), found->second.key.reveal()});
    files.push_back({fmt::format("{}.pub", name), std::move(public_half)});
  }
  files.push_back({"machine-config-server-token", token.text.reveal()});
  return files;
}

Result<std::string> bootstrap_ssh_key(const Tls& tls) { return net::authorized_key(tls.find(ssh)->second.key, "core"); }

}  // namespace slipway::assets
