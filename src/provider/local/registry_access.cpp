#include "provider/local/registry_access.h"

#include "base/digest.h"
#include "release/credentials.h"

#include <fmt/core.h>

#include <string_view>
#include <vector>

namespace slipway::provider::local {

namespace {

constexpr const char* user = "slipway";
constexpr const char* os_user = "os-builder";
constexpr std::size_t password_digits = 32;
constexpr std::size_t salt_size = 16;
constexpr int bcrypt_cost = 8;  // of people; checked with each request of a push; the password is random
// It ends with the authority.
constexpr Seconds lifetime = std::chrono::hours(24 * 365 * 10);

Result<release::Login> new_login(sys::Random& random, std::string_view name) {
  Secret password(TRY(sys::random_hex(random, password_digits)));
  return release::Login{std::string(name), std::move(password)};
}

// The login of machines: the one of the request, or a new one.
Result<release::Login> os_login(sys::Random& random, const std::string& registry, const Secret& wanted) {
  if (wanted.empty()) return new_login(random, os_user);
  constexpr std::string_view file = "auth/os-registry.json";
  const release::Credentials logins = TRY(release::Credentials::parse(wanted.reveal(), file));
  std::optional<release::Login> login = logins.find({registry, "os"});
  if (!login || login->user.empty() || login->user.find_first_of("#\n") != std::string::npos || login->password.empty())
    return error(Code::invalid, "{}: has no login for {} (correct the file, or remove it to get a new login)", file, registry);
  return *std::move(login);
}

// The password for slipway, and its hash for the registry. All pods reach the port of machines: its hash costs nothing to check.
Result<> keep_os_login(sys::Files& files, const release::Login& login, const RegistryFiles& access) {
  const std::string hash = sha256_hex(fmt::format("{}:{}", login.user, login.password.reveal()));
  TRY(files.write(access.os_password(), login.password.reveal(), 0600));
  return files.write(access.os_logins(), fmt::format("{}:{{SHA256}}{}\n", login.user, hash), 0600);
}

// The same for people, in the form of htpasswd.
Result<> keep_login(sys::Files& files, sys::Random& random, const release::Login& login, const std::string& password_file,
                    const std::string& logins_file) {
  const std::string hash = TRY(net::bcrypt(login.password, bcrypt_cost, TRY(random.bytes(salt_size))));
  TRY(files.write(password_file, login.password.reveal(), 0600));
  return files.write(logins_file, fmt::format("{}:{}\n", login.user, hash), 0600);
}

}  // namespace

Result<> keep_registry_access(sys::Files& files, sys::Random& random, WallTime now, const ClusterPaths& paths,
                              const ClusterConfig& config, const ClusterRequest& request) {
  const RegistryFiles access(paths);
  const std::string& pull_secret = request.config.pull_secret.reveal();
  TRY(files.write(access.upstream_logins(), pull_secret.empty() ? "{}" : pull_secret, 0600));
  TRY(files.write(access.upstream_authorities(), request.config.additional_trust_bundle, 0600));
  if (TRY(has_registry_access(files, paths))) return Ok{};

  std::vector<std::string> names;
  if (!config.os_registry.empty()) names.push_back(config.os_registry.substr(0, config.os_registry.rfind(':')));
  const net::Certificate server = TRY(net::make_certificate({.subject = {.common_name = "image-registry"},
                                                             .server_auth = true,
                                                             .dns_names = std::move(names),
                                                             .ip_addresses = {config.host_address},
                                                             .valid_from = now,
                                                             .valid_for = lifetime,
                                                             .random = &random},
                                                            request.authority));
  TRY(files.write(access.authority(), request.authority ? request.authority->pem : server.pem, 0600));
  TRY(files.write(access.key(), server.key.reveal(), 0600));
  TRY(keep_login(files, random, TRY(new_login(random, user)), access.password(), access.logins()));
  if (!config.os_registry.empty()) {
    const release::Login login = TRY(os_login(random, config.os_registry, request.os_registry_login));
    TRY(keep_os_login(files, login, access));
  }
  return files.write(access.certificate(), server.pem, 0600);  // last: it says that all are there
}

Result<bool> has_registry_access(sys::Files& files, const ClusterPaths& paths) {
  return TRY(files.info(RegistryFiles(paths).certificate())).has_value();
}

Result<std::string> push_authority(sys::Files& files, const ClusterPaths& paths, const ClusterConfig& config) {
  if (config.os_registry.empty() || !TRY(has_registry_access(files, paths))) return std::string();
  return files.read(RegistryFiles(paths).authority());
}

Result<std::optional<ImageRegistry>> registry_access(sys::Files& files, const ClusterPaths& paths, const ClusterConfig& config) {
  if (!TRY(has_registry_access(files, paths))) return std::optional<ImageRegistry>();
  const RegistryFiles access(paths);
  std::string authority = TRY(files.read(access.authority()));
  Secret password(TRY(files.read(access.password())));
  ImageRegistry registry{.people = {.address = fmt::format("{}:{}", config.host_address, config.push_port),
                                    .user = user,
                                    .password = std::move(password)},
                         .machines = std::nullopt,
                         .authority = std::move(authority)};
  if (!config.os_registry.empty()) {
    Secret of_machines(TRY(files.read(access.os_password())));
    const std::string logins = TRY(files.read(access.os_logins()));
    registry.machines = RegistryLogin{
        .address = config.os_registry, .user = logins.substr(0, logins.find(':')), .password = std::move(of_machines)};
  }
  return std::optional(std::move(registry));
}

}  // namespace slipway::provider::local
