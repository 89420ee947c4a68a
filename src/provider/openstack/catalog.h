// What Keystone answers to a login: a token, and the catalog with the endpoints of the services. Pure.
#pragma once

#include "base/json.h"
#include "base/time.h"
#include "provider/openstack/credentials.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::openstack {

enum class Service { keystone, nova, neutron, glance, cinder, swift };

// "Nova"
std::string_view to_string(Service service);

struct Token {
  Secret value{};
  WallTime expires{};
  std::string project_id{};
  std::string project_name{};
  std::vector<std::string> roles{};
  std::map<Service, std::string> endpoints{};  // URLs with version and without a slash at the end; only of services that exist
};

// The body of the request for a token.
Json login_body(const Login& login);

// value: of the header X-Subject-Token
//
//   errors  invalid: the answer lacks something; the catalog has several regions and the login names none, or another one;
//           denied: the token is of no project
Result<Token> parse_token(const Json& answer, Secret value, const Login& login);

// What a base URL is in front of the version: "https://nova.example.com/v2.1/PROJECT" becomes "https://nova.example.com/v2.1".
std::string without_project(std::string_view endpoint);

}  // namespace slipway::provider::openstack
