#include "kube/kubeconfig.h"

#include "base/digest.h"
#include "base/text.h"
#include "base/yaml.h"

#include <fmt/core.h>

#include <utility>

namespace slipway::kube {

namespace {

using ReadFile = std::function<Result<std::string>(const std::string&)>;

// Users authenticate with a certificate or a token. Helper programs and passwords are not suitable for machines.
constexpr const char* refused_logins[] = {"exec", "auth-provider", "username", "password"};

// The value of a named list entry and its path: {"clusters[0].cluster", {...}}.
struct Section {
  std::string field;
  const Json& value;

  std::string text(std::string_view key) const { return text_of(value, {key}); }
  std::string field_of(std::string_view key) const { return fmt::format("{}.{}", field, key); }
};

class Reader {
 public:
  Reader(const YamlDocument& document, const ReadFile& read_file) : document_(document), read_file_(read_file) {}

  Access read() {
    Access access;
    const std::string current = current_context();
    if (current.empty()) return access;
    const Section context = section("contexts", current, "context");
    if (const std::string name = required(context, "cluster"); !name.empty())
      read_cluster(section("clusters", name, "cluster"), access);
    if (const std::string name = required(context, "user"); !name.empty()) read_user(section("users", name, "user"), access);
    return access;
  }

  Findings take() { return std::move(findings_); }

 private:
  void fail(const std::string& field, const std::string& message) {
    findings_.error(document_.place_of(field), field, "{}", message);
  }

  std::string current_context() {
    const std::string_view current = find_string(document_.value, {"current-context"}).value_or("");
    if (!current.empty()) return std::string(current);
    const JsonArray& contexts = find_array(document_.value, {"contexts"});
    if (contexts.size() == 1) {
      std::string name(find_string(contexts[0], {"name"}).value_or(""));
      if (name.empty()) fail("contexts[0].name", "missing");
      return name;
    }
    fail("current-context", fmt::format("missing, but the file has {} contexts", contexts.size()));
    return "";
  }

  Section section(const std::string& list, const std::string& name, const std::string& member) {
    static const Json none;
    const JsonArray& items = find_array(document_.value, {list});
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (find_string(items[i], {"name"}) != name) continue;
      const Json* value = slipway::find(items[i], {member});
      return {fmt::format("{}[{}].{}", list, i, member), value ? *value : none};
    }
    fail(list, fmt::format("no entry with name '{}'", name));
    return {"", none};
  }

  // If the section itself is missing, that error is already reported; its fields are not reported too.
  std::string required(const Section& section, std::string_view key) {
    std::string value = section.text(key);
    if (value.empty() && !section.field.empty()) fail(section.field_of(key), "missing");
    return value;
  }

  // The content of a pair of fields. Base64 data overrides the file name, as in all clients.
  std::string content(const Section& section, const std::string& file_key, const std::string& data_key) {
    const std::string data = section.text(data_key);
    const std::string file = section.text(file_key);
    if (data.empty() && file.empty()) return "";
    Result<std::string> bytes = data.empty() ? read_file_(path_of(file)) : base64_decode(data);
    if (bytes.ok()) return std::move(bytes).value();
    // The message must not repeat the data, which may be a key.
    fail(section.field_of(data.empty() ? file_key : data_key), data.empty() ? bytes.error().message() : "not base64");
    return "";
  }

  // Relative paths are relative to the folder of the kubeconfig.
  std::string path_of(const std::string& file) const {
    if (file.starts_with('/')) return file;
    return document_.name.substr(0, document_.name.rfind('/') + 1) + file;
  }

  void read_cluster(const Section& cluster, Access& access) {
    access.server = required(cluster, "server");
    access.ca = content(cluster, "certificate-authority", "certificate-authority-data");
    access.tls_server_name = cluster.text("tls-server-name");
    if (is_true(cluster.value, {"insecure-skip-tls-verify"})) {
      fail(cluster.field_of("insecure-skip-tls-verify"), "not allowed (use certificate-authority-data instead)");
    }
    if (!cluster.text("proxy-url").empty()) fail(cluster.field_of("proxy-url"), "not supported");
  }

  void read_user(const Section& user, Access& access) {
    access.client_certificate = content(user, "client-certificate", "client-certificate-data");
    access.client_key = Secret(content(user, "client-key", "client-key-data"));
    access.token = Secret(user.text("token"));
    if (access.token.empty()) access.token = Secret(std::string(trim(content(user, "tokenFile", ""))));
    if (findings_.empty() && access.client_certificate.empty() != access.client_key.empty()) {
      fail(user.field, "a client certificate requires its key, and a key its certificate");
    }
    for (const char* login : refused_logins) {
      if (slipway::find(user.value, {login})) fail(user.field_of(login), "not supported (use a client certificate or a token)");
    }
  }

  const YamlDocument& document_;
  const ReadFile& read_file_;
  Findings findings_;
};

JsonArray list_of(Json entry) {
  JsonArray list;
  list.push_back(std::move(entry));
  return list;
}

}  // namespace

Result<Access> parse_kubeconfig(std::string_view text, std::string_view name, const ReadFile& read_file) {
  const YamlDocument document = TRY(parse_yaml(text, name));
  Reader reader(document, read_file);
  Access access = reader.read();
  TRY(reader.take().to_result());
  return access;
}

Result<Access> read_kubeconfig(sys::Files& files, const std::string& path) {
  const std::string text = TRY(files.read(path));
  return parse_kubeconfig(text, path, [&](const std::string& other) { return files.read(other); });
}

Json make_kubeconfig(const Access& access, std::string_view cluster, std::string_view user) {
  JsonObject cluster_fields;
  if (!access.ca.empty()) cluster_fields["certificate-authority-data"] = base64_encode(access.ca);
  cluster_fields["server"] = access.server;
  if (!access.tls_server_name.empty()) cluster_fields["tls-server-name"] = access.tls_server_name;
  JsonObject user_fields;
  if (!access.client_certificate.empty()) user_fields["client-certificate-data"] = base64_encode(access.client_certificate);
  if (!access.client_key.empty()) user_fields["client-key-data"] = base64_encode(access.client_key.reveal());
  if (!access.token.empty()) user_fields["token"] = access.token.reveal();
  // Sorted and with empty "preferences", as Go programs write it. Some readers require apiVersion and kind; the kubeconfigs of
  // the asset directory have neither, like those of openshift-install (assets/tls/kubeconfigs.cpp).
  JsonObject config;
  config["apiVersion"] = "v1";
  config["clusters"] = list_of({{"cluster", cluster_fields}, {"name", cluster}});
  config["contexts"] = list_of({{"context", {{"cluster", cluster}, {"user", user}}}, {"name", user}});
  config["current-context"] = user;
  config["kind"] = "Config";
  config["preferences"] = JsonObject();
  config["users"] = list_of({{"name", user}, {"user", user_fields}});
  return config;
}

}  // namespace slipway::kube
