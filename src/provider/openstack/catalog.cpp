#include "provider/openstack/catalog.h"

#include "base/characters.h"
#include "base/check.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

namespace slipway::provider::openstack {

namespace {

struct Row {
  Service service;
  std::string_view name;
  std::array<std::string_view, 3> types;  // in the catalog, best first
  std::string_view version;               // appended to an endpoint without a version
};
constexpr std::array rows = {
    Row{Service::keystone, "Keystone", {"identity", "", ""}, "v3"},
    Row{Service::nova, "Nova", {"compute", "", ""}, "v2.1"},
    Row{Service::neutron, "Neutron", {"network", "", ""}, "v2.0"},
    Row{Service::glance, "Glance", {"image", "", ""}, "v2"},
    Row{Service::cinder, "Cinder", {"block-storage", "volumev3", "block-store"}, ""},
    Row{Service::swift, "Swift", {"object-store", "", ""}, ""},
};

Json reference(const Named& named) {
  if (!named.id.empty()) return {{"id", named.id}};
  const JsonObject domain =
      named.domain_id.empty() ? JsonObject{{"name", named.domain_name}} : JsonObject{{"id", named.domain_id}};
  return {{"name", named.name}, {"domain", domain}};
}

// "v3", "v2.1"
bool is_version(std::string_view text) {
  return text.size() > 1 && text.front() == 'v' && is_digit(text[1]) &&
         std::ranges::all_of(text.substr(1), [](char c) { return is_digit(c) || c == '.'; });
}

std::string normalized(std::string url, std::string_view version) {
  while (url.ends_with('/')) url.pop_back();
  if (version.empty()) return url;
  const std::vector<std::string_view> parts = split(url, '/');
  const bool has_version =
      std::ranges::any_of(parts.begin() + std::min<std::ptrdiff_t>(3, std::ssize(parts)), parts.end(), is_version);
  return has_version ? url : fmt::format("{}/{}", url, version);
}

// The regions in which a service of the catalog has an endpoint.
std::set<std::string> regions_of(const Json& token) {
  std::set<std::string> regions;
  for (const Json& service : find_array(token, {"catalog"})) {
    for (const Json& endpoint : find_array(service, {"endpoints"})) {
      std::string region = text_of(endpoint, {"region_id"});
      if (region.empty()) region = text_of(endpoint, {"region"});
      if (!region.empty() && text_of(service, {"type"}) != "identity") regions.insert(std::move(region));
    }
  }
  return regions;
}

std::string find_endpoint(const Json& token, std::string_view type, const Login& login, const std::string& region) {
  if (const auto given = login.endpoints.find(std::string(type)); given != login.endpoints.end()) return given->second;
  for (const Json& service : find_array(token, {"catalog"})) {
    if (text_of(service, {"type"}) != type) continue;
    for (const Json& endpoint : find_array(service, {"endpoints"})) {
      const bool is_there =
          region.empty() || text_of(endpoint, {"region_id"}) == region || text_of(endpoint, {"region"}) == region;
      if (is_there && text_of(endpoint, {"interface"}) == login.interface) return text_of(endpoint, {"url"});
    }
  }
  return "";
}

}  // namespace

std::string_view to_string(Service service) {
  const auto row = std::ranges::find(rows, service, &Row::service);
  CHECK(row != rows.end());
  return row->name;
}

Json login_body(const Login& login) {
  JsonObject identity;
  switch (login.method) {
    case Login::Method::password: {
      Json user = reference(login.user);
      user.get_object()["password"] = login.secret.reveal();
      identity = {{"methods", JsonArray{"password"}}, {"password", {{"user", std::move(user)}}}};
      break;
    }
    case Login::Method::application_credential: {
      JsonObject credential = {{"secret", login.secret.reveal()}};
      if (!login.credential.id.empty()) {
        credential["id"] = login.credential.id;
      } else {
        credential["name"] = login.credential.name;
        credential["user"] = reference(login.user);
      }
      identity = {{"methods", JsonArray{"application_credential"}}, {"application_credential", std::move(credential)}};
      break;
    }
    case Login::Method::token: identity = {{"methods", JsonArray{"token"}}, {"token", {{"id", login.secret.reveal()}}}}; break;
  }
  JsonObject auth = {{"identity", std::move(identity)}};
  // An application credential belongs to a project.
  if (login.method != Login::Method::application_credential) auth["scope"] = {{"project", reference(login.project)}};
  return {{"auth", std::move(auth)}};
}

Result<Token> parse_token(const Json& answer, Secret value, const Login& login) {
  const Json* found = find(answer, {"token"});
  if (!found || value.empty()) return error(Code::invalid, "{}: the answer of Keystone has no token", login.auth_url);
  Token token{.value = std::move(value)};
  token.expires = TRY(parse_rfc3339(TRY(require_string(*found, {"expires_at"}))));
  token.project_id = text_of(*found, {"project", "id"});
  token.project_name = text_of(*found, {"project", "name"});
  if (token.project_id.empty()) return error(Code::denied, "{}: is not a login for a project", login.source);
  for (const Json& role : find_array(*found, {"roles"})) token.roles.push_back(text_of(role, {"name"}));
  const std::set<std::string> regions = regions_of(*found);
  const std::vector<std::string> known(regions.begin(), regions.end());
  if (login.region.empty() && regions.size() > 1) {
    return error(Code::invalid, "{}: region_name is missing (the cloud has {})", login.source, join(known, ", "));
  }
  if (!login.region.empty() && !regions.empty() && !regions.contains(login.region)) {
    return error(Code::invalid, "{}: the cloud has no region {} (it has {})", login.source, login.region, join(known, ", "));
  }
  for (const Row& row : rows) {
    for (const std::string_view type : row.types) {
      if (type.empty() || token.endpoints.contains(row.service)) continue;
      std::string url = find_endpoint(*found, type, login, login.region);
      if (!url.empty()) token.endpoints[row.service] = normalized(std::move(url), row.version);
    }
  }
  token.endpoints[Service::keystone] = login.auth_url;
  return token;
}

std::string without_project(std::string_view endpoint) {
  const std::string_view last = endpoint.substr(endpoint.rfind('/') + 1);
  return std::string(is_version(last) ? endpoint : endpoint.substr(0, endpoint.rfind('/')));
}

}  // namespace slipway::provider::openstack
