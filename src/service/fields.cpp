#include "service/fields.h"

#include "base/digest.h"
#include "base/findings.h"
#include "base/text.h"
#include "config/pull_secret.h"
#include "net/ip.h"
#include "net/url.h"
#include "net/x509.h"
#include "service/static_network.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::service {

namespace {

constexpr int deepest_part = max_document_depth - 8;
constexpr std::size_t longest_text = 16 * 1024, longest_document = 512 * 1024, longest_list = 1000;

using enum FieldKind;

constexpr std::array of_cluster = {
    Field{"name", name},
    Field{"openshift_version", text},
    Field{"ocp_release_image", text},
    Field{"base_dns_domain", domain},
    Field{"pull_secret", pull_secret},
    Field{"ssh_public_key", text},
    Field{"control_plane_count", count},
    Field{"high_availability_mode", text},
    Field{"cpu_architecture", constant, "x86_64"},
    Field{"api_vips", addresses},
    Field{"ingress_vips", addresses},
    Field{"machine_networks", networks},
    Field{"cluster_networks", cluster_networks},
    Field{"service_networks", networks},
    Field{"machine_network_cidr", network},
    Field{"cluster_network_cidr", network},
    Field{"cluster_network_host_prefix", prefix},
    Field{"service_network_cidr", network},
    Field{"platform", platform},
    Field{"user_managed_networking", flag},
    Field{"network_type", choice, "OVNKubernetes|OpenShiftSDN|CiscoACI|Cilium|Calico|None"},
    Field{"vip_dhcp_allocation", never},
    Field{"schedulable_masters", never},
    Field{"api_vip_dns_name", host_name},
    Field{"ignition_endpoint", endpoint},
    Field{"http_proxy", proxy_url},
    Field{"https_proxy", proxy_url},
    Field{"no_proxy", text},
    Field{"additional_ntp_source", text},
    Field{"hyperthreading", constant, "all"},
    Field{"tags", text},
};

constexpr std::array of_import = {
    Field{"name", name},
    Field{"api_vip_dnsname", host_name},
    Field{"openshift_cluster_id", id},
    Field{"openshift_version", text},
};

// A name is for display only: clients put together names with other characters.
constexpr std::array of_infra_env = {
    Field{"name", text},
    Field{"cluster_id", id},
    Field{"openshift_version", text},
    Field{"pull_secret", pull_secret},
    Field{"ssh_authorized_key", text},
    Field{"cpu_architecture", constant, "x86_64"},
    Field{"additional_ntp_sources", text},
    Field{"additional_trust_bundle", authorities},
    Field{"ignition_config_override", json_text},
    Field{"image_type", constant, "full-iso"},
    Field{"proxy", proxy},
    Field{"static_network_config", static_networks},
};

constexpr std::array of_host = {
    Field{"host_role", text},
    Field{"host_name", text},
    Field{"disks_selected_config", list},
    Field{"node_labels", labels},
    Field{"ignition_endpoint_token", text},
};

bool is_label(std::string_view label) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' && std::ranges::all_of(label, fits);
}

bool is_domain(std::string_view text) { return text.size() <= 253 && std::ranges::all_of(split(text, '.'), is_label); }

std::string problem_of_network(std::string_view value) {
  const Result<net::Cidr> cidr = net::parse_cidr(value);
  if (!cidr.ok()) return fmt::format("'{}' is no network (like 192.168.126.0/24)", value);
  if (!cidr->has_host_bits()) return "";
  return fmt::format("{} has host bits (use {}/{})", value, net::to_string(cidr->network()), cidr->prefix);
}

// Why the value is not allowed; "" if it is.
std::string problem_of_items(const Json& value, FieldKind kind) {
  if (!value.is_array()) return fmt::format("must be a list, is {}", kind_name(value));
  if (value.get_array().size() > longest_list)
    return fmt::format("has {} items, at most {} are allowed", value.get_array().size(), longest_list);
  if (kind == list) return "";
  for (const Json& item : value.get_array()) {
    if (kind == labels) {
      if (!find_string(item, {"key"}) || !find_string(item, {"value"})) return "items must be objects with a key and a value";
    } else if (kind == addresses) {
      const std::string ip = text_of(item, {"ip"});
      if (!net::parse_ip(ip).ok()) return fmt::format("'{}' is no IP address", to_utf8(ip));
    } else {
      const std::string text = to_utf8(text_of(item, {"cidr"}));
      if (std::string problem = problem_of_network(text); !problem.empty()) return problem;
      const net::Cidr cidr = net::parse_cidr(text).value();
      const int host_prefix = integer_of(item, {"host_prefix"});
      if (kind == cluster_networks && (host_prefix < cidr.prefix || host_prefix > cidr.bits() - 2)) {
        return fmt::format("host_prefix must be between {} and {}, is {}", cidr.prefix, cidr.bits() - 2, host_prefix);
      }
    }
  }
  return "";
}

// The value is not shown: it may contain a password.
std::string problem_of_proxy_text(std::string_view text, bool is_url) {
  if (text.empty()) return "";
  const bool is_plain = std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127 && c != '"' && c != '\\' && c != '$'; });
  if (!is_plain || text.size() > longest_text) return "must be text without blanks and quotes";
  return is_url && !net::parse_url(without_login(text)).ok() ? "is no URL like http://proxy.example.com:3128" : "";
}

std::string problem_of_proxy(const Json& value) {
  if (!value.is_object()) return fmt::format("must be an object, is {}", kind_name(value));
  for (const auto& member : value.get_object()) {
    const std::string_view key = member.key();
    if (key != "http_proxy" && key != "https_proxy" && key != "no_proxy")
      return fmt::format("{} is not supported (use http_proxy, https_proxy and no_proxy)", to_utf8(key));
    const auto* text = member.value().if_string();
    if (!text) return fmt::format("{} must be a string, is {}", key, kind_name(member.value()));
    const std::string problem = problem_of_proxy_text(*text, key != "no_proxy");
    if (!problem.empty()) return fmt::format("{} {}", key, problem);
  }
  return "";
}

std::string problem_of_platform(const Json& value) {
  if (!value.is_object()) return fmt::format("must be an object, is {}", kind_name(value));
  for (const auto& member : value.get_object()) {
    if (member.key() != "type" && !member.value().is_null())
      return fmt::format("{} is not supported", to_utf8(std::string_view(member.key())));
  }
  const std::string type = text_of(value, {"type"});
  return type == "baremetal" || type == "none" ? ""
                                               : fmt::format("type '{}' is not supported (use baremetal or none)", to_utf8(type));
}

std::string problem_of_endpoint(const Json& value) {
  if (!value.is_object()) return fmt::format("must be an object, is {}", kind_name(value));
  for (const auto& member : value.get_object()) {
    if (member.value().is_null()) continue;
    const std::string_view key = member.key();
    const auto* text = member.value().if_string();
    if (!text) return fmt::format("{} must be a string, is {}", to_utf8(key), kind_name(member.value()));
    if (key == "url") {
      const bool is_https = text->starts_with("https://") && text->size() <= longest_text && net::parse_url(*text).ok();
      if (!text->empty() && !is_https) return "url must be like https://api-int.demo.example.com:22623/config/worker";
    } else if (key == "ca_certificate") {
      const Result<std::string> pem = base64_decode(*text);
      if (!text->empty() && !(pem.ok() && net::parse_certificates(pem.value()).ok()))
        return "ca_certificate must have certificates in PEM, in base64";
    } else {
      return fmt::format("{} is not supported (use url and ca_certificate)", to_utf8(key));
    }
  }
  return "";
}

std::string problem_of_text(std::string_view value, const Field& field) {
  const std::size_t longest = field.kind == json_text || field.kind == authorities ? longest_document : longest_text;
  if (value.size() > longest) return fmt::format("has {} bytes, at most {} are allowed", value.size(), longest);
  const bool has_control =
      std::ranges::any_of(value, [](char c) { return (c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t') || c == 127; });
  if (!is_utf8(value) || has_control) return "must be printable UTF-8 text";
  switch (field.kind) {
    case name: return is_label(value) && value.size() <= 54 ? "" : "must have at most 54 lower-case letters, digits and '-'";
    case domain: return value.empty() || is_domain(value) ? "" : fmt::format("'{}' is no domain", value);
    case pull_secret: return value.empty() ? "" : join(config::problems_of_pull_secret(value, config::Registries::some), "; ");
    case id: return value.empty() || is_uuid(value) ? "" : fmt::format("'{}' is no UUID", value);
    case proxy_url: return problem_of_proxy_text(value, true);
    case constant: return value == field.only ? "" : fmt::format("'{}' is not supported (use {})", value, field.only);
    case choice: {
      const auto choices = split(field.only, '|');
      if (std::ranges::find(choices, value) != choices.end()) return "";
      return fmt::format("'{}' is not one of {}", value, join({choices.begin(), choices.end()}, ", "));
    }
    case network: return value.empty() ? "" : problem_of_network(value);
    case host_name:
      return value.empty() || is_domain(value) || net::parse_ip(value).ok()
                 ? ""
                 : fmt::format("'{}' is no host name or address", value);
    case authorities: {
      if (value.empty()) return "";
      const Result<std::vector<net::CertificateInfo>> read = net::parse_certificates(value);
      return read.ok() ? "" : read.error().message();
    }
    case json_text: {
      if (value.empty()) return "";
      const Result<Json> parsed = parse_json(value, "value");
      if (!parsed.ok()) return parsed.error().message();
      return parsed->is_object() ? "" : "must be a JSON object in a string";
    }
    default: return "";
  }
}

std::string problem_of(const Json& value, const Field& field) {
  switch (field.kind) {
    case flag: return value.is_bool() ? "" : fmt::format("must be a boolean, is {}", kind_name(value));
    case never:
      if (!value.is_bool()) return fmt::format("must be a boolean, is {}", kind_name(value));
      return value.get_bool() ? "true is not supported" : "";
    case prefix: {
      const std::int64_t* number = value.if_int64();
      return number && *number >= 0 && *number <= 128 ? "" : "must be a number from 0 to 128";
    }
    case platform: return problem_of_platform(value);
    case endpoint: return problem_of_endpoint(value);
    case count: {
      const std::int64_t* number = value.if_int64();
      if (!number) return fmt::format("must be a number, is {}", kind_name(value));
      return *number == 1 || *number == 3 ? "" : fmt::format("{} masters are not supported (use 1 or 3)", *number);
    }
    case proxy: return problem_of_proxy(value);
    case static_networks: {
      const Result<std::vector<HostNetwork>> read = parse_static_networks(value);
      return read.ok() ? "" : read.error().message();
    }
    case object: return value.is_object() ? "" : fmt::format("must be an object, is {}", kind_name(value));
    case list:
    case labels:
    case addresses:
    case networks:
    case cluster_networks: return problem_of_items(value, field.kind);
    default: break;
  }
  const auto* text = value.if_string();
  return text ? problem_of_text(*text, field) : fmt::format("must be a string, is {}", kind_name(value));
}

}  // namespace

namespace {

bool is_deeper(const Json& value, int levels) {
  if (value.is_array()) {
    return levels == 0 ||
           std::ranges::any_of(value.get_array(), [&](const Json& each) { return is_deeper(each, levels - 1); });
  }
  if (!value.is_object()) return false;
  return levels == 0 ||
         std::ranges::any_of(value.get_object(), [&](const auto& member) { return is_deeper(member.value(), levels - 1); });
}

}  // namespace

Result<Json> parse_part(std::string_view text, std::string_view name) {
  Json value = TRY(parse_json(text, name));
  if (is_deeper(value, deepest_part)) return error(Code::invalid, "{}: nested deeper than {} levels", name, deepest_part);
  return value;
}

std::string without_login(std::string_view url) {
  const std::size_t begin = url.find("://"), host = url.rfind('@');
  if (begin == std::string_view::npos || host == std::string_view::npos || host < begin) return std::string(url);
  return fmt::format("{}://{}", url.substr(0, begin), url.substr(host + 1));
}

namespace {

FieldKind kind_of(std::span<const Field> fields, std::string_view name) {
  const auto field = std::ranges::find(fields, name, &Field::name);
  return field == fields.end() ? FieldKind::text : field->kind;
}

// Calls `change` for the URLs of proxies in a value.
template <class Change>
void each_proxy(FieldKind kind, Json& value, const Change& change) {
  if (kind == FieldKind::proxy_url) change("", value);
  if (kind != FieldKind::proxy || !value.is_object()) return;
  for (auto& member : value.get_object()) change(std::string(member.key()), member.value());
}

}  // namespace

Json shown_value(std::span<const Field> fields, std::string_view name, const Json& value) {
  Json shown = value;
  each_proxy(kind_of(fields, name), shown, [](const std::string&, Json& url) { url = without_login(text_of(url, {})); });
  return shown;
}

void keep_logins(JsonObject& given, const JsonObject& known, std::span<const Field> fields) {
  for (auto& member : given) {
    const Json* old = known.if_contains(member.key());
    if (!old) continue;
    each_proxy(kind_of(fields, member.key()), member.value(), [&](const std::string& part, Json& url) {
      const Json* before = part.empty() ? old : find(*old, {part});
      const std::string text = before ? text_of(*before, {}) : "";
      if (text_of(url, {}) == without_login(text)) url = text;
    });
  }
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = text[i];
    const bool is_hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (is_dash ? c != '-' : !is_hex) return false;
  }
  return true;
}

Result<JsonObject> read_fields(std::string_view body, std::span<const Field> fields, std::string_view what) {
  const Json value = TRY(parse_part(body, what));
  if (!value.is_object()) return error(Code::invalid, "{}: must be an object, is {}", what, kind_name(value));
  Findings findings;
  JsonObject found;
  for (const auto& member : value.get_object()) {
    if (member.value().is_null()) continue;
    const std::string_view key = member.key();
    const auto field = std::ranges::find(fields, key, &Field::name);
    if (field == fields.end()) {
      findings.error({}, to_utf8(key), "this field is not supported");
      continue;
    }
    if (std::string problem = problem_of(member.value(), *field); !problem.empty()) {
      findings.error({}, std::string(key), "{}", problem);
      continue;
    }
    found[key] = member.value();
  }
  TRY(findings.to_result().context(what));
  return found;
}

std::span<const Field> cluster_fields() { return of_cluster; }
std::span<const Field> import_fields() { return of_import; }
std::span<const Field> infra_env_fields() { return of_infra_env; }
std::span<const Field> host_fields() { return of_host; }

bool is_secret(std::span<const Field> fields, std::string_view name) {
  const auto field = std::ranges::find(fields, name, &Field::name);
  return field != fields.end() && field->kind == pull_secret;
}

}  // namespace slipway::service
