// Finds the login of a cloud where OpenStack's own tools look for it:
//
//   1. the cloud's entry in clouds.yaml: in the file of OS_CLIENT_CONFIG_FILE or the current folder, in ~/.config/openstack, in
//      /etc/openstack. The entry in secure.yaml (OS_CLIENT_SECURE_FILE, or the same folders) is merged into it
//   2. if no file has the entry: the variables OS_AUTH_URL, OS_USERNAME and so on
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "net/http.h"
#include "sys/files.h"

#include <functional>
#include <map>
#include <string>

namespace slipway::provider::openstack {

// Environment variables: the value, or empty.
using Variables = std::function<std::string(const std::string& name)>;

// A user, a project or another object, with the domain that its name belongs to.
struct Named {
  std::string id{};
  std::string name{};
  std::string domain_id{};
  std::string domain_name{};

  bool empty() const { return id.empty() && name.empty(); }
};

struct Login {
  enum class Method { password, application_credential, token };

  std::string auth_url{};  // with the version: "https://cloud.example.com:5000/v3"
  Method method = Method::password;
  Named user{};
  Named project{};
  Named credential{};  // an application credential: by ID, or by name and user
  Secret secret{};     // password, secret of the application credential, or token
  std::string region{};
  std::string interface = "public";                           // of the endpoints in the catalog
  std::map<std::string, std::string> endpoints{};             // by type of service, instead of those of the catalog
  net::TlsOptions tls{};                                      // of all endpoints
  std::string source{};                                       // "cloud demo in /home/me/clouds.yaml", for messages
  bool can_renew() const { return method != Method::token; }  // whether it gives a new token when one has ended
};

// errors: denied: no login, with all places that were looked at; the entry lacks something or has something that slipway does not
// support, by name; invalid: not YAML; those of files
Result<Login> find_login(sys::Files& files, const Variables& variables, const std::string& cloud);

}  // namespace slipway::provider::openstack
