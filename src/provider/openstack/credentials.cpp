#include "provider/openstack/credentials.h"

#include "base/text.h"
#include "base/yaml.h"

#include <fmt/core.h>

#include <optional>
#include <vector>

namespace slipway::provider::openstack {

namespace {

// What slipway reads of an entry: the members of `auth`, and of the entry itself.
struct Entry {
  std::map<std::string, std::string> auth{};
  std::map<std::string, std::string> own{};
  std::string source{};

  std::string of(const std::map<std::string, std::string>& members, const std::string& name) const {
    const auto found = members.find(name);
    return found == members.end() ? "" : found->second;
  }
  std::string in_auth(const std::string& name) const { return of(auth, name); }
  std::string in_own(const std::string& name) const { return of(own, name); }
};

std::string scalar(const Json& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_bool()) return value.get_bool() ? "true" : "false";
  return value.is_null() ? "" : emit_json(value, JsonStyle::compact);  // numbers
}

void add_members(const Json& entry, Entry& made) {
  if (!entry.is_object()) return;
  for (const auto& member : entry.get_object()) {
    if (member.key() == "auth" && member.value().is_object()) {
      for (const auto& each : member.value().get_object()) made.auth[std::string(each.key())] = scalar(each.value());
    } else if (!member.value().is_object() && !member.value().is_array()) {
      made.own[std::string(member.key())] = scalar(member.value());
    }
  }
  const JsonArray& regions = find_array(entry, {"regions"});
  if (!regions.empty() && !made.own.contains("region_name")) {
    made.own["region_name"] = regions.front().is_object() ? text_of(regions.front(), {"name"}) : scalar(regions.front());
  }
}

std::string home_path(std::string path, const Variables& variables) {
  return path.starts_with("~/") ? variables("HOME") + path.substr(1) : path;
}

// The files of a name, in the order in which they are looked at.
std::vector<std::string> places_of(const Variables& variables, const std::string& variable, std::string_view file) {
  const std::string given = variables(variable);
  return {given.empty() ? std::string(file) : given, fmt::format("{}/.config/openstack/{}", variables("HOME"), file),
          fmt::format("/etc/openstack/{}", file)};
}

// The first file that has the entry of the cloud.
struct FoundEntry {
  Json entry{};
  std::string path{};
};
Result<std::optional<FoundEntry>> find_entry(sys::Files& files, const std::vector<std::string>& places,
                                             const std::string& cloud) {
  for (const std::string& path : places) {
    const std::optional<std::string> text = TRY(files.read_if_exists(path));
    if (!text) continue;
    const YamlDocument document = TRY(parse_yaml(*text, path));
    if (const Json* entry = find(document.value, {"clouds", cloud})) return std::optional(FoundEntry{*entry, path});
  }
  return std::optional<FoundEntry>();
}

// The variables with the members of an entry, as OpenStack's tools name them.
Entry entry_of_variables(const Variables& variables) {
  Entry made{.source = "OS_AUTH_URL and further variables"};
  constexpr std::string_view of_auth[] = {"auth_url",
                                          "username",
                                          "user_id",
                                          "password",
                                          "user_domain_name",
                                          "user_domain_id",
                                          "project_name",
                                          "project_id",
                                          "project_domain_name",
                                          "project_domain_id",
                                          "domain_name",
                                          "application_credential_id",
                                          "application_credential_name",
                                          "application_credential_secret",
                                          "token"};
  constexpr std::string_view own[] = {"auth_type", "region_name", "interface", "cacert", "cert", "key"};
  const auto value_of = [&](std::string_view name) {
    std::string variable = fmt::format("OS_{}", name);
    for (char& c : variable) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return variables(variable);
  };
  for (const std::string_view name : of_auth) {
    if (std::string value = value_of(name); !value.empty()) made.auth[std::string(name)] = std::move(value);
  }
  for (const std::string_view name : own) {
    if (std::string value = value_of(name); !value.empty()) made.own[std::string(name)] = std::move(value);
  }
  // Older names.
  for (const auto& [variable, name] : {std::pair{"OS_TENANT_NAME", "project_name"}, {"OS_TENANT_ID", "project_id"}}) {
    if (const std::string value = variables(variable); !value.empty()) made.auth.try_emplace(name, value);
  }
  if (const std::string value = variables("OS_ENDPOINT_TYPE"); !value.empty()) made.own.try_emplace("interface", value);
  if (const std::string value = to_lower(variables("OS_INSECURE")); value == "true" || value == "1") made.own["verify"] = "false";
  return made;
}

// "https://cloud.example.com:5000", ".../v3/" and ".../v2.0" become ".../v3".
std::string versioned(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  const std::string last = url.substr(url.rfind('/') + 1);
  if (last == "v3") return url;
  if (last == "v2.0") url.resize(url.size() - last.size() - 1);
  return url + "/v3";
}

Result<Login::Method> method_of(const Entry& entry) {
  std::string type = entry.in_own("auth_type");
  if (type.starts_with("v3")) type.erase(0, 2);
  if (type.empty()) {
    const bool has_credential =
        !entry.in_auth("application_credential_id").empty() || !entry.in_auth("application_credential_name").empty();
    if (has_credential) return Login::Method::application_credential;
    return entry.in_auth("token").empty() || !entry.in_auth("password").empty() ? Login::Method::password : Login::Method::token;
  }
  if (type == "password") return Login::Method::password;
  if (type == "applicationcredential") return Login::Method::application_credential;
  if (type == "token") return Login::Method::token;
  return error(Code::denied, "{}: auth_type '{}' is not supported (use password, v3applicationcredential or token)", entry.source,
               entry.in_own("auth_type"));
}

Named named(const Entry& entry, const std::string& id, const std::string& name, const std::string& domain) {
  Named made{.id = entry.in_auth(id),
             .name = entry.in_auth(name),
             .domain_id = entry.in_auth(domain + "_id"),
             .domain_name = entry.in_auth(domain + "_name")};
  if (made.domain_id.empty() && made.domain_name.empty()) made.domain_name = entry.in_auth("domain_name");
  if (made.domain_id.empty() && made.domain_name.empty()) made.domain_id = "default";
  return made;
}

Result<> add_tls(sys::Files& files, const Variables& variables, const Entry& entry, Login& login) {
  const auto read = [&](const std::string& name) -> Result<std::string> {
    const std::string path = home_path(entry.in_own(name), variables);
    if (path.empty()) return std::string();
    return files.read(path).context(fmt::format("{}: {}", entry.source, name));
  };
  if (const std::string verify = to_lower(entry.in_own("verify")); verify == "false" || verify == "no" || verify == "0") {
    return error(Code::denied, "{}: verify: false is not supported (name the authority of the cloud in cacert)", entry.source);
  }
  login.tls.ca_pem = TRY(read("cacert"));
  login.tls.client_pem = TRY(read("cert"));
  login.tls.client_key = Secret(TRY(read("key")));
  if (login.tls.client_pem.empty() != login.tls.client_key.empty()) {
    return error(Code::denied, "{}: cert and key: both are needed", entry.source);
  }
  login.tls.plain_http = login.auth_url.starts_with("http://");
  return Ok{};
}

Result<Login> login_of(sys::Files& files, const Variables& variables, const Entry& entry) {
  Login login{.source = entry.source};
  const auto missing = [&](std::string_view what) {
    return error(Code::denied, "{}: {} is missing (the file `clouds.yaml` that the cloud's web page offers has it)", entry.source,
                 what);
  };
  if (entry.in_auth("auth_url").empty()) return missing("auth_url");
  login.auth_url = versioned(entry.in_auth("auth_url"));
  login.method = TRY(method_of(entry));
  login.user = named(entry, "user_id", "username", "user_domain");
  login.project = named(entry, "project_id", "project_name", "project_domain");
  login.credential = named(entry, "application_credential_id", "application_credential_name", "user_domain");
  switch (login.method) {
    case Login::Method::password: login.secret = Secret(entry.in_auth("password")); break;
    case Login::Method::application_credential: login.secret = Secret(entry.in_auth("application_credential_secret")); break;
    case Login::Method::token: login.secret = Secret(entry.in_auth("token")); break;
  }
  if (login.method == Login::Method::application_credential) {
    if (login.credential.empty()) return missing("application_credential_id");
    if (login.credential.id.empty() && login.user.empty()) return missing("username");
    if (login.secret.empty()) return missing("application_credential_secret");
  } else {
    if (login.method == Login::Method::password && login.user.empty()) return missing("username");
    if (login.secret.empty()) return missing(login.method == Login::Method::token ? "token" : "password");
    if (login.project.empty()) return missing("project_name");
  }
  login.region = entry.in_own("region_name");
  std::string interface = entry.in_own("interface");
  if (interface.empty()) interface = entry.in_own("endpoint_type");
  if (interface.ends_with("URL")) interface.resize(interface.size() - 3);
  if (!interface.empty()) login.interface = interface;
  constexpr std::string_view ending = "_endpoint_override";
  for (const auto& [name, value] : entry.own) {
    if (name.ends_with(ending)) login.endpoints[name.substr(0, name.size() - ending.size())] = value;
  }
  TRY(add_tls(files, variables, entry, login));
  return login;
}

}  // namespace

Result<Login> find_login(sys::Files& files, const Variables& variables, const std::string& cloud) {
  const std::vector<std::string> places = places_of(variables, "OS_CLIENT_CONFIG_FILE", "clouds.yaml");
  const std::optional<FoundEntry> found = TRY(find_entry(files, places, cloud));
  if (!found && !variables("OS_AUTH_URL").empty()) return login_of(files, variables, entry_of_variables(variables));
  if (!found) {
    return error(Code::denied, "platform openstack: no credentials found (looked in: cloud {} in {}; OS_AUTH_URL)", cloud,
                 join(places, ", "));
  }
  Entry entry{.source = fmt::format("cloud {} in {}", cloud, found->path)};
  add_members(found->entry, entry);
  const std::vector<std::string> secure = places_of(variables, "OS_CLIENT_SECURE_FILE", "secure.yaml");
  if (const std::optional<FoundEntry> more = TRY(find_entry(files, secure, cloud))) add_members(more->entry, entry);
  if (!entry.in_own("profile").empty() && entry.in_auth("auth_url").empty()) {
    return error(Code::denied, "{}: profile '{}' is not supported (write auth_url and region_name)", entry.source,
                 entry.in_own("profile"));
  }
  return login_of(files, variables, entry);
}

}  // namespace slipway::provider::openstack
