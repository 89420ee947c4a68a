#include "service/server_certificate.h"

#include "net/ip.h"

#include <algorithm>

namespace slipway::service {

namespace {

using std::chrono::hours;

constexpr Seconds life_of_authority = hours(24 * 3650), life_of_certificate = hours(24 * 365);

Result<net::Certificate> ensure_authority(const net::Environment& environment, const std::string& folder) {
  const std::optional<std::string> pem = TRY(environment.files.read_if_exists(folder + "/ca.crt"));
  const std::optional<std::string> key = TRY(environment.files.read_if_exists(folder + "/ca.key"));
  if (pem && key) return net::Certificate{*pem, Secret(*key)};
  const net::Certificate made = TRY(make_authority(environment.random, environment.context.clock.now()));
  // The key first: a certificate without its key would be kept for ever.
  TRY(environment.files.write(folder + "/ca.key", made.key.reveal(), 0600));
  TRY(environment.files.write(folder + "/ca.crt", made.pem, 0644));
  return made;
}

bool has_names(const net::CertificateInfo& info, const std::vector<std::string>& names) {
  return std::ranges::all_of(names, [&](const std::string& name) {
    const std::vector<std::string>& all = net::is_ip(name) ? info.ip_addresses : info.dns_names;
    return std::ranges::find(all, name) != all.end();
  });
}

}  // namespace

Result<ServerCertificate> ensure_certificate(const net::Environment& environment, const std::string& folder,
                                             const std::vector<std::string>& names) {
  TRY(environment.files.make_directories(folder, 0700));
  const net::Certificate authority = TRY(ensure_authority(environment, folder));
  const WallTime now = environment.context.clock.now();
  const std::optional<std::string> pem = TRY(environment.files.read_if_exists(folder + "/server.crt"));
  const std::optional<std::string> key = TRY(environment.files.read_if_exists(folder + "/server.key"));
  if (pem && key) {
    const Result<net::CertificateInfo> info = net::parse_certificate(*pem);
    const Result<bool> fits = net::key_fits(*pem, Secret(*key));
    const Result<bool> is_signed = net::is_signed_by(*pem, authority.pem);
    const bool is_good = info.ok() && fits.ok() && fits.value() && is_signed.ok() && is_signed.value() &&
                         has_names(info.value(), names) && info->not_after - now > life_of_certificate / 2;
    if (is_good) return ServerCertificate{authority.pem, {*pem, Secret(*key)}};
  }
  const net::Certificate made = TRY(make_server_certificate(authority, names, environment.random, now));
  TRY(environment.files.write(folder + "/server.key", made.key.reveal(), 0600));
  TRY(environment.files.write(folder + "/server.crt", made.pem, 0644));
  return ServerCertificate{authority.pem, {made.pem, made.key}};
}

Result<net::Certificate> make_authority(sys::Random& random, WallTime now) {
  return net::make_certificate({.subject = {.common_name = "slipway-assist authority"},
                                .is_ca = true,
                                .valid_from = now - hours(24),  // for hosts whose clock is behind
                                .valid_for = life_of_authority,
                                .random = &random},
                               nullptr);
}

Result<net::Certificate> make_server_certificate(const net::Certificate& authority, const std::vector<std::string>& names,
                                                 sys::Random& random, WallTime now) {
  net::CertificateSpec spec{.subject = {.common_name = "slipway-assist"},
                            .server_auth = true,
                            .valid_from = now - hours(24),
                            .valid_for = life_of_certificate,
                            .random = &random};
  for (const std::string& name : names) (net::is_ip(name) ? spec.ip_addresses : spec.dns_names).push_back(name);
  return net::make_certificate(spec, &authority).context("the certificate of the service");
}

}  // namespace slipway::service
