#include "cluster/state_copy.h"

#include "assets/store.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/yaml.h"

#include <fmt/core.h>

#include <array>

namespace slipway::cluster {

namespace {

constexpr std::string_view manager = "slipway";

struct Row {
  std::string_view key;  // of the Secret
  std::string_view path;
  const char* password = nullptr;  // what is written in place of passwords; null: there are none
};
constexpr std::array rows = {
    Row{"metadata.json", "metadata.json", ""},                              // empty: the environment has it
    Row{"install-config.yaml", assets::install_config_file, "not-copied"},  // where the field is required
    Row{"resources.jsonl", assets::resources_file},
    Row{"machines", assets::machines_file},
};

std::string path_in(const std::string& folder, std::string_view path) { return fmt::format("{}/{}", folder, path); }

// The install-config may have been consumed.
Result<std::optional<std::string>> content_of(sys::Files& files, const std::string& folder, std::string_view path) {
  std::optional<std::string> text = TRY(files.read_if_exists(path_in(folder, path)));
  if (text || path != assets::install_config_file) return text;
  const Result<config::InstallConfig> config = assets::read_config(files, folder);
  if (!config.ok()) return std::optional<std::string>();
  return std::optional(emit_yaml(config->effective));
}

// Returns whether there is any.
bool replace_passwords(Json& value, const char* replacement) {
  bool has_any = false;
  if (value.is_array()) {
    for (Json& each : value.get_array()) has_any = replace_passwords(each, replacement) || has_any;
  }
  if (!value.is_object()) return has_any;
  for (auto& member : value.get_object()) {
    const bool is_password = member.key() == "password" && member.value().is_string();
    if (is_password) member.value() = replacement;
    has_any = is_password || replace_passwords(member.value(), replacement) || has_any;
  }
  return has_any;
}

// The login of a platform may be one that the cluster must not have (credentialsMode: Manual).
Result<std::string> without_passwords(std::string text, const Row& row) {
  if (!row.password || text.find("password") == std::string::npos) return text;
  Json value = TRY(parse_yaml(text, row.path)).value;
  if (!replace_passwords(value, row.password)) return text;
  return row.path.ends_with(".json") ? emit_json(value, JsonStyle::pretty) : emit_yaml(value);
}

Result<std::string> infra_id(std::string_view metadata, const std::string& where) {
  return require_string(TRY(parse_json(metadata, where)), {"infraID"}).context(where);
}

}  // namespace

Result<> write_state_copy(const sys::Context& context, sys::Files& files, kube::Api& api, const std::string& folder) {
  JsonObject data;
  for (const Row& row : rows) {
    std::optional<std::string> text = TRY(content_of(files, folder, row.path));
    if (text) data[row.key] = base64_encode(TRY(without_passwords(*std::move(text), row)));
  }
  if (!data.contains("metadata.json")) return error(Code::not_found, "{}/metadata.json: not found", folder);
  TRY(kube::apply(context, api, kube::types::namespaces,
                  {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", state_space}}}}, manager));
  TRY(kube::apply(context, api, kube::types::secrets,
                  {{"apiVersion", "v1"},
                   {"kind", "Secret"},
                   {"metadata", {{"namespace", state_space}, {"name", state_secret}}},
                   {"type", "Opaque"},
                   {"data", std::move(data)}},
                  manager));
  return Ok{};
}

Result<std::vector<std::string>> restore_state_copy(const sys::Context& context, sys::Files& files, kube::Api& api,
                                                    const std::string& folder) {
  const auto secret = TRY(kube::find(context, api, kube::types::secrets, state_space, state_secret));
  if (!secret)
    return error(Code::not_found, "Secret {}/{}: not found, so the cluster has no copy of its state", state_space, state_secret);
  std::map<std::string_view, std::string> contents;
  for (const Row& row : rows) {
    const auto encoded = find_string(*secret, {"data", row.key});
    if (encoded) contents[row.path] = TRY(base64_decode(*encoded).context(fmt::format("Secret {}: {}", state_secret, row.key)));
  }
  const std::string of_cluster = TRY(infra_id(contents["metadata.json"], fmt::format("Secret {}: metadata.json", state_secret)));
  const std::string path = path_in(folder, "metadata.json");
  if (const std::optional<std::string> known = TRY(files.read_if_exists(path))) {
    const std::string own = TRY(infra_id(*known, path));
    if (own != of_cluster) {
      return error(Code::conflict, "{}: belongs to cluster {}, but the kubeconfig to {} (name another directory with --dir)",
                   folder, own, of_cluster);
    }
  }
  std::vector<std::string> written;
  for (const auto& [name, content] : contents) {
    if (TRY(files.info(path_in(folder, name)))) continue;
    TRY(files.write(path_in(folder, name), content, 0600));
    written.emplace_back(name);
  }
  return written;
}

}  // namespace slipway::cluster
