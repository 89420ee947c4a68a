#include "cli/cloud_credentials.h"

#include "base/text.h"
#include "base/yaml.h"

#include <algorithm>
#include <vector>

namespace slipway::cli {

namespace {

// Of a file: whether the entry is in it that is asked for.
using Has = bool (*)(const std::string& text, const std::string& entry);

// One way to have credentials: variables that are all set, or a file.
struct Way {
  std::vector<std::string> variables{};
  std::string file{};     // ~ is the home directory; a relative path counts from the current folder
  std::string instead{};  // a variable that names another file
};

struct Cloud {
  std::string platform;
  ExitStatus status;
  std::vector<Way> ways;
  Has has = nullptr;       // in files; any content when null
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
       .ways = {{.variables = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}},
                {.variables = {"AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"}},
                {.file = "~/.aws/credentials", .instead = "AWS_SHARED_CREDENTIALS_FILE"},
                {.file = "~/.aws/config", .instead = "AWS_CONFIG_FILE"}},
       .has = has_profile,
       .entry_is = "profile"},
      {.platform = "gcp",
       .status = ExitStatus::install_config,
       .ways = {{.variables = {"GOOGLE_CREDENTIALS"}},
                {.variables = {"GOOGLE_CLOUD_KEYFILE_JSON"}},
                {.variables = {"GCLOUD_KEYFILE_JSON"}},
                {.file = "~/.gcp/osServiceAccount.json"},
                {.file = "~/.config/gcloud/application_default_credentials.json", .instead = "GOOGLE_APPLICATION_CREDENTIALS"}}},
      {.platform = "openstack",
       .status = ExitStatus::install_config,
       .ways = {{.file = "clouds.yaml", .instead = "OS_CLIENT_CONFIG_FILE"},
                {.file = "~/.config/openstack/clouds.yaml"},
                {.file = "/etc/openstack/clouds.yaml"}},
       .has = has_cloud,
       .entry_is = "cloud"},
  };
  return table;
}

// Which entry of a cloud's files is meant; empty where they have none.
std::string entry_of(const config::InstallConfig& config, const Variables& variables) {
  if (config.platform.type == "openstack") {
    return std::string(find_string(config.platform.section, {"cloud"}).value_or("openstack"));
  }
  if (config.platform.type != "aws") return "";
  const std::string profile = variables("AWS_PROFILE");
  return profile.empty() ? "default" : profile;
}

std::string path_of(const Way& way, const Variables& variables) {
  const std::string named = way.instead.empty() ? "" : variables(way.instead);
  if (!named.empty()) return named;
  return way.file.starts_with("~") ? variables("HOME") + way.file.substr(1) : way.file;
}

}  // namespace

Result<> check_cloud_credentials(const Environment& environment, const config::InstallConfig& config,
                                 const Variables& variables) {
  const auto cloud = std::ranges::find(clouds(), config.platform.type, &Cloud::platform);
  if (cloud == clouds().end()) return Ok{};
  const std::string entry = entry_of(config, variables);
  std::vector<std::string> tried;
  for (const Way& way : cloud->ways) {
    if (!way.variables.empty()) {
      const bool are_set = std::ranges::all_of(way.variables, [&](const auto& name) { return !variables(name).empty(); });
      if (are_set) return Ok{};
      tried.push_back(join(way.variables, " with "));
      continue;
    }
    const std::string path = path_of(way, variables);
    const auto text = environment.files.read_if_exists(path);
    if (text.ok() && text.value() && (!cloud->has || cloud->has(*text.value(), entry))) return Ok{};
    const std::string which = cloud->has ? fmt::format(", {} {}", cloud->entry_is, entry) : "";
    tried.push_back(
        fmt::format("the file {}{}{}", path, which, way.instead.empty() ? "" : fmt::format(" (or ${})", way.instead)));
  }
  return or_end_with<Ok>(
      cloud->status, environment,
      error(Code::denied, "platform {}: no credentials found (looked in: {})", config.platform.type, join(tried, "; ")));
}

}  // namespace slipway::cli
