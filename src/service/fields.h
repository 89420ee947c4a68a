// Fields of request bodies: which there are, and what their values may be. Pure.
#pragma once

#include "base/json.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace slipway::service {

enum class FieldKind : std::uint8_t {
  text,         // at most 16 KiB, as all kinds but json_text and authorities, which have 512 KiB
  pull_secret,  // logins of registries; never shown
  name,         // of a cluster or an environment
  domain,       // "example.com"
  host_name,    // "api.demo.example.com", or an address
  flag,
  count,  // of masters: 1 or 3
  id,     // a UUID; "" removes
  object,
  list,
  json_text,         // a JSON object in a string
  addresses,         // [{"ip": "192.168.126.100"}]
  networks,          // [{"cidr": "192.168.126.0/24"}]
  cluster_networks,  // [{"cidr": "10.128.0.0/14", "host_prefix": 23}]
  labels,            // [{"key": "a", "value": "b"}]
  constant,          // only the value that `only` names
  choice,            // one of the values that `only` names, separated by '|'
  never,             // a flag that clients send and that cannot be true
  prefix,            // length of a network's prefix
  network,           // "10.128.0.0/14"; "" for none
  platform,          // {"type": "baremetal"} or {"type": "none"}
  endpoint,          // {"url": URL, "ca_certificate": PEM in base64}
  authorities,       // certificates, PEM
  static_networks,   // static_network.h
  proxy_url,         // of a proxy; it may have a login, which is never shown
  proxy,             // {"http_proxy": URL, "https_proxy": URL, "no_proxy": "a,b"}
};

struct Field {
  std::string_view name;
  FieldKind kind;
  std::string_view only{};
};

// A document that becomes a part of a record: parse_json, with less nesting, because the record around it is read by parse_json,
// too, when the service starts again.
Result<Json> parse_part(std::string_view text, std::string_view name);

// The fields of the body that are not null. `what` names the body in messages: "cluster".
//
//   errors  invalid, with all problems: no object, unknown fields, values that are not allowed
Result<JsonObject> read_fields(std::string_view body, std::span<const Field> fields, std::string_view what);

std::span<const Field> cluster_fields();
std::span<const Field> import_fields();  // of a cluster that exists
std::span<const Field> infra_env_fields();
std::span<const Field> host_fields();

// Whether the service shows the field again.
bool is_secret(std::span<const Field> fields, std::string_view name);

// A URL without user and password, which the service does not show.
std::string without_login(std::string_view url);

// The value of a field as the service shows it: URLs of proxies have no login.
Json shown_value(std::span<const Field> fields, std::string_view name, const Json& value);

// Proxies that are as the service shows those of `known` get the logins of those: a client may send back what it has read.
void keep_logins(JsonObject& given, const JsonObject& known, std::span<const Field> fields);

bool is_uuid(std::string_view text);

}  // namespace slipway::service
