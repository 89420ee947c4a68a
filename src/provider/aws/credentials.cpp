#include "provider/aws/credentials.h"

#include "base/text.h"

#include <fmt/core.h>

#include <utility>

namespace slipway::provider::aws {

namespace {

constexpr Seconds renewed_before_end(300);
constexpr Milliseconds instance_limit(1000);  // the metadata service is on the same host
constexpr const char* metadata_service = "http://169.254.169.254";

using Settings = std::map<std::string, std::string>;

std::string setting(const Settings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? "" : found->second;
}

// The settings of a profile in both files. Keys in the credentials file count first.
struct ProfileFiles {
  Profiles credentials{};
  Profiles config{};
  std::string credentials_path{};

  std::optional<Settings> find(const std::string& name) const {
    const auto in_config = config.find(name), in_credentials = credentials.find(name);
    if (in_config == config.end() && in_credentials == credentials.end()) return std::nullopt;
    Settings merged = in_credentials == credentials.end() ? Settings() : in_credentials->second;
    if (in_config != config.end()) merged.insert(in_config->second.begin(), in_config->second.end());
    return merged;
  }
};

std::string path_of(const Variables& variables, const std::string& variable, std::string_view file) {
  const std::string given = variables(variable);
  return given.empty() ? fmt::format("{}/.aws/{}", variables("HOME"), file) : given;
}

Result<Profiles> read_profiles(sys::Files& files, const std::string& path) {
  const std::optional<std::string> text = TRY(files.read_if_exists(path));
  return text ? parse_profiles(*text) : Profiles();
}

Credentials keys_of(const Settings& settings, const std::string& source) {
  return {.access_key = setting(settings, "aws_access_key_id"),
          .secret_key = Secret(setting(settings, "aws_secret_access_key")),
          .session_token = Secret(setting(settings, "aws_session_token")),
          .source = source};
}

bool has_keys(const Settings& settings) {
  return !setting(settings, "aws_access_key_id").empty() && !setting(settings, "aws_secret_access_key").empty();
}

// errors: denied: not supported
Result<> check_supported(const Settings& settings, const std::string& name) {
  for (const auto& [key, hint] : {std::pair{"sso_session", "run `aws configure export-credentials --format env`"},
                                  {"sso_start_url", "run `aws configure export-credentials --format env`"},
                                  {"credential_process",
                                   "run that program and set the variables AWS_ACCESS_KEY_ID, "
                                   "AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN"},
                                  {"mfa_serial", "run `aws sts assume-role` and set the variables that it returns"}}) {
    if (!setting(settings, key).empty()) {
      return error(Code::denied, "AWS profile {}: {} is not supported ({})", name, key, hint);
    }
  }
  return Ok{};
}

Result<> use_profile(FoundCredentials& found, const ProfileFiles& files, const std::string& name, const Settings& settings) {
  const std::string source = fmt::format("profile {}", name);
  const std::string role = setting(settings, "role_arn");
  if (role.empty()) {
    if (has_keys(settings)) {
      found.keys = keys_of(settings, source);
      return Ok{};
    }
    return check_supported(settings, name);
  }
  TRY(check_supported(settings, name));
  AssumedRole assumed{.arn = role,
                      .session = setting(settings, "role_session_name"),
                      .external_id = setting(settings, "external_id"),
                      .token_file = setting(settings, "web_identity_token_file"),
                      .base = {}};
  if (assumed.token_file.empty()) {
    const std::string base = setting(settings, "source_profile");
    const std::optional<Settings> of_base = files.find(base);
    if (!of_base || !has_keys(*of_base)) {
      return error(Code::denied, "AWS profile {}: its source_profile '{}' has no access key", name, base);
    }
    assumed.base = keys_of(*of_base, fmt::format("profile {}", base));
  }
  found.role = std::move(assumed);
  return Ok{};
}

}  // namespace

Profiles parse_profiles(std::string_view text) {
  Profiles profiles;
  std::string section;
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view trimmed = trim(line);
    if (trimmed.empty() || trimmed.starts_with('#') || trimmed.starts_with(';')) continue;
    if (trimmed.starts_with('[') && trimmed.ends_with(']')) {
      std::string_view name = trim(trimmed.substr(1, trimmed.size() - 2));
      if (name.starts_with("profile ")) name = trim(name.substr(8));
      section = name;
      profiles[section];
      continue;
    }
    const std::size_t equals = trimmed.find('=');
    if (line.front() == ' ' || line.front() == '\t' || section.empty() || equals == std::string_view::npos) continue;
    profiles[section][to_lower(trim(trimmed.substr(0, equals)))] = trim(trimmed.substr(equals + 1));
  }
  return profiles;
}

Result<FoundCredentials> find_credentials(sys::Files& files, const Variables& variables) {
  FoundCredentials found;
  const std::string chosen = variables("AWS_PROFILE");
  const std::string name = chosen.empty() ? "default" : chosen;
  const std::string credentials_path = path_of(variables, "AWS_SHARED_CREDENTIALS_FILE", "credentials");
  const std::string config_path = path_of(variables, "AWS_CONFIG_FILE", "config");
  ProfileFiles profiles;
  profiles.credentials = TRY(read_profiles(files, credentials_path));
  profiles.config = TRY(read_profiles(files, config_path));
  const std::optional<Settings> settings = profiles.find(name);
  found.region = variables("AWS_REGION");
  if (found.region.empty()) found.region = variables("AWS_DEFAULT_REGION");
  if (found.region.empty() && settings) found.region = setting(*settings, "region");
  found.tried = {"AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY", "AWS_ROLE_ARN with AWS_WEB_IDENTITY_TOKEN_FILE",
                 fmt::format("profile {} in {} and {}", name, credentials_path, config_path)};
  const std::string key = variables("AWS_ACCESS_KEY_ID"), secret = variables("AWS_SECRET_ACCESS_KEY");
  if (!key.empty() && !secret.empty()) {
    found.keys = Credentials{.access_key = key,
                             .secret_key = Secret(secret),
                             .session_token = Secret(variables("AWS_SESSION_TOKEN")),
                             .source = "AWS_ACCESS_KEY_ID"};
    return found;
  }
  const std::string role = variables("AWS_ROLE_ARN"), token_file = variables("AWS_WEB_IDENTITY_TOKEN_FILE");
  if (!role.empty() && !token_file.empty()) {
    found.role = AssumedRole{
        .arn = role, .session = variables("AWS_ROLE_SESSION_NAME"), .external_id = {}, .token_file = token_file, .base = {}};
    return found;
  }
  if (settings) TRY(use_profile(found, profiles, name, *settings));
  if (!settings && !chosen.empty()) {
    return error(Code::denied, "AWS profile {}: not found in {} and {}", name, credentials_path, config_path);
  }
  found.asks_instance = !found.keys && !found.role && variables("AWS_EC2_METADATA_DISABLED") != "true";
  return found;
}

CredentialStore::CredentialStore(const net::Environment& environment, Variables variables, Assume assume)
    : environment_(environment), variables_(std::move(variables)), assume_(std::move(assume)) {}

CredentialStore::CredentialStore(const net::Environment& environment, std::function<Result<Credentials>()> fetch)
    : environment_(environment), fetch_(std::move(fetch)), can_renew_(true) {}

Result<Credentials> CredentialStore::get() {
  std::lock_guard lock(mutex_);
  const bool ends_soon =
      known_ && can_renew_ && known_->expires && *known_->expires < environment_.context.clock.now() + renewed_before_end;
  if (!known_ || ends_soon) known_ = TRY(fetch());
  return *known_;
}

bool CredentialStore::renew() {
  std::lock_guard lock(mutex_);
  if (!can_renew_) return false;
  known_.reset();
  return true;
}

Result<Credentials> CredentialStore::fetch() {
  if (fetch_) return fetch_();
  FoundCredentials found = TRY(find_credentials(environment_.files, variables_));
  // Files may have been rewritten since; variables of this process do not change.
  can_renew_ = found.role.has_value() || found.asks_instance;
  if (found.keys) return *std::move(found.keys);
  if (found.role) {
    if (found.role->session.empty()) found.role->session = "slipway";
    return assume_(*found.role);
  }
  if (found.asks_instance) {
    if (std::optional<Credentials> made = TRY(from_instance())) return *std::move(made);
    found.tried.push_back("the role of this instance");
  }
  return error(Code::denied, "platform aws: no credentials found (looked in: {})", join(found.tried, "; "));
}

// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-security-credentials.html, version 2.
Result<std::optional<Credentials>> CredentialStore::from_instance() {
  std::string base = variables_("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (base.empty()) base = metadata_service;
  std::string token;
  const auto ask = [&](std::string method, std::string_view path, net::Header header) -> Result<std::string> {
    net::Url url = TRY(net::parse_url(fmt::format("{}{}", base, path)));
    net::Request request{.method = std::move(method),
                         .url = std::move(url),
                         .headers = {std::move(header)},
                         .tls = {.plain_http = true},
                         .connect_limit = instance_limit,
                         .whole_limit = 5 * instance_limit};
    net::Answer answer = TRY(environment_.http.send(request, environment_.context.stop));
    if (answer.status != 200) return error(Code::not_found, "{}: status {}", path, answer.status);
    return std::move(answer.body);
  };
  const Result<std::string> got = ask("PUT", "/latest/api/token", {"X-aws-ec2-metadata-token-ttl-seconds", "300"});
  if (!got.ok()) return std::optional<Credentials>();  // this host is no instance
  const net::Header proof{"X-aws-ec2-metadata-token", got.value()};
  const std::string roles = "/latest/meta-data/iam/security-credentials/";
  const Result<std::string> role = ask("GET", roles, proof);
  if (!role.ok()) return std::optional<Credentials>();  // the instance has no role
  const std::string name(trim(split(role.value(), '\n').front()));
  const std::string text = TRY(ask("GET", roles + name, proof).context("the role of this instance"));
  const Json about = TRY(parse_json(text, "credentials of the instance"));
  Credentials made{.source = fmt::format("role {} of this instance", name)};
  made.access_key = TRY(require_string(about, {"AccessKeyId"}));
  made.secret_key = Secret(TRY(require_string(about, {"SecretAccessKey"})));
  made.session_token = Secret(TRY(require_string(about, {"Token"})));
  made.expires = TRY(parse_rfc3339(TRY(require_string(about, {"Expiration"}))));
  return std::optional(std::move(made));
}

}  // namespace slipway::provider::aws
