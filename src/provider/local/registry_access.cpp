#include "provider/local/registry_access.h"

#include <fmt/core.h>

namespace slipway::provider::local {

namespace {

constexpr const char* user = "slipway";
constexpr std::size_t password_digits = 32;
constexpr std::size_t salt_size = 16;
constexpr int bcrypt_cost = 8;  // checked with each request of a push; the password is random
// It ends with the authority.
constexpr Seconds lifetime = std::chrono::hours(24 * 365 * 10);

}  // namespace

Result<> keep_registry_access(sys::Files& files, sys::Random& random, WallTime now, const ClusterPaths& paths,
                              const std::string& host_address, const ClusterRequest& request) {
  const RegistryFiles access(paths);
  const std::string& pull_secret = request.config.pull_secret.reveal();
  TRY(files.write(access.upstream_logins(), pull_secret.empty() ? "{}" : pull_secret, 0600));
  TRY(files.write(access.upstream_authorities(), request.config.additional_trust_bundle, 0600));
  if (TRY(has_registry_access(files, paths))) return Ok{};

  const net::Certificate server = TRY(net::make_certificate({.subject = {.common_name = "image-registry"},
                                                             .server_auth = true,
                                                             .ip_addresses = {host_address},
                                                             .valid_from = now,
                                                             .valid_for = lifetime,
                                                             .random = &random},
                                                            request.authority));
  const Secret password(TRY(sys::random_hex(random, password_digits)));
  const std::string hash = TRY(net::bcrypt(password, bcrypt_cost, TRY(random.bytes(salt_size))));
  TRY(files.write(access.authority(), request.authority ? request.authority->pem : server.pem, 0600));
  TRY(files.write(access.key(), server.key.reveal(), 0600));
  TRY(files.write(access.password(), password.reveal(), 0600));
  TRY(files.write(access.logins(), fmt::format("{}:{}\n", user, hash), 0600));
  return files.write(access.certificate(), server.pem, 0600);  // last: it says that all are there
}

Result<bool> has_registry_access(sys::Files& files, const ClusterPaths& paths) {
  return TRY(files.info(RegistryFiles(paths).certificate())).has_value();
}

Result<std::optional<ImageRegistry>> registry_access(sys::Files& files, const ClusterPaths& paths, const ClusterConfig& config) {
  if (!TRY(has_registry_access(files, paths))) return std::optional<ImageRegistry>();
  const RegistryFiles access(paths);
  std::string authority = TRY(files.read(access.authority()));
  Secret password(TRY(files.read(access.password())));
  return std::optional(ImageRegistry{.address = fmt::format("{}:{}", config.host_address, config.push_port),
                                     .authority = std::move(authority),
                                     .user = user,
                                     .password = std::move(password)});
}

}  // namespace slipway::provider::local
