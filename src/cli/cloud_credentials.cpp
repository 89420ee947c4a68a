#include "cli/cloud_credentials.h"

#include "base/text.h"
#include "base/yaml.h"

#include <algorithm>
#include <vector>

namespace slipway::cli {

namespace {

// Whether a file has the entry.
using Has = bool (*)(const std::string& text, const std::string& entry);

// One source of credentials: variables that are all set, or a file.
struct Source {
  std::vector<std::string> variables{};
  std::string file{};               // ~ is the home directory; relative to the current folder
  std::string override_variable{};  // a variable with the path of another file
};

struct Cloud {
  std::string platform;
  ExitStatus status;
  std::vector<Source> sources;
  Has has = nullptr;       // checks files; null: any content will do
  std::string entry_is{};  // "profile"
};

// [default] or [profile default]
bool has_profile(const std::string& text, const std::string& profile) {
  return std::ranges::any_of(split(text, '\n'), [&](std::string_view line) {
    return trim(line) == fmt::format("[{}]", profile) || trim(line) == fmt::format("[profile {}]", profile);
  });
}

bool has_cloud(const std::string& text, const std::string& cloud) {
  const auto yaml = parse_yaml(text, "clouds.yaml");
  return yaml.ok() && find(yaml->value, {"clouds", cloud}) != nullptr;
}

const std::vector<Cloud>& clouds() {
  static const std::vector<Cloud> table = {
      {.platform = "aws",
       .status = ExitStatus::failure,
       .sources = {{.variables = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}},
                   {.variables = {"AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"}},
                   {.file = "~/.aws/credentials", .override_variable = "AWS_SHARED_CREDENTIALS_FILE"},
                   {.file = "~/.aws/config", .override_variable = "AWS_CONFIG_FILE"}},
       .has = has_profile,
       .entry_is = "profile"},
      {.platform = "gcp",
       .status = ExitStatus::install_config,
       .sources = {{.variables = {"GOOGLE_CREDENTIALS"}},
                   {.variables = {"GOOGLE_CLOUD_KEYFILE_JSON"}},
                   {.variables = {"GCLOUD_KEYFILE_JSON"}},
                   {.file = "~/.gcp/osServiceAccount.json"},
                   {.file = "~/.config/gcloud/application_default_credentials.json",
                    .override_variable = "GOOGLE_APPLICATION_CREDENTIALS"}}},
      {.platform = "openstack",
       .status = ExitStatus::install_config,
       .sources = {{.file = "clouds.yaml", .override_variable = "OS_CLIENT_CONFIG_FILE"},
                   {.file = "~/.config/openstack/clouds.yaml"},
                   {.file = "/etc/openstack/clouds.yaml"},
                   {.variables = {"OS_AUTH_URL"}}},
       .has = has_cloud,
       .entry_is = "cloud"},
  };
  return table;
}

// The entry that is used in the files of a cloud; empty for clouds whose files have no entries.
std::string entry_of(const config::InstallConfig& config, const Variables& variables) {
  if (config.platform.type == "openstack") {
    return std::string(find_string(config.platform.section, {"cloud"}).value_or("openstack"));
  }
  if (config.platform.type != "aws") return "";
  const std::string profile = variables("AWS_PROFILE");
  return profile.empty() ? "default" : profile;
}

std::string path_of(const Source& source, const Variables& variables) {
  const std::string named = source.override_variable.empty() ? "" : variables(source.override_variable);
  if (!named.empty()) return named;
  return source.file.starts_with("~") ? variables("HOME") + source.file.substr(1) : source.file;
}

}  // namespace

Result<> check_cloud_credentials(const Environment& environment, const config::InstallConfig& config,
                                 const Variables& variables) {
  const auto cloud = std::ranges::find(clouds(), config.platform.type, &Cloud::platform);
  if (cloud == clouds().end()) return Ok{};
  const std::string entry = entry_of(config, variables);
  std::vector<std::string> tried;
  for (const Source& source : cloud->sources) {
    if (!source.variables.empty()) {
      const bool are_set = std::ranges::all_of(source.variables, [&](const auto& name) { return !variables(name).empty(); });
      if (are_set) return Ok{};
      tried.push_back(join(source.variables, " with "));
      continue;
    }
    const std::string path = path_of(source, variables);
    const auto text = environment.files.read_if_exists(path);
    if (text.ok() && text.value() && (!cloud->has || cloud->has(*text.value(), entry))) return Ok{};
    const std::string which = cloud->has ? fmt::format(", {} {}", cloud->entry_is, entry) : "";
    tried.push_back(fmt::format("the file {}{}{}", path, which,
                                source.override_variable.empty() ? "" : fmt::format(" (or ${})", source.override_variable)));
  }
  return or_exit_with<Ok>(
      cloud->status, environment,
      error(Code::denied, "platform {}: no credentials found (looked in: {})", config.platform.type, join(tried, "; ")));
}

}  // namespace slipway::cli
