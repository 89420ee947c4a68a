#include "base/json.h"
#include "config/document.h"
#include "config/names.h"
#include "net/x509.h"

#include <algorithm>

namespace slipway::config {

namespace {

constexpr std::string_view name_rule =
    "lower-case letters, digits, dashes and dots, beginning and ending with a letter or a digit";

// Wildcard certificates and records of "*.apps.NAME" have to stay below 64 characters (installer 2.4).
constexpr std::size_t longest_cluster_name = 54;

// Names of what platforms make from the cluster's have narrower rules.
void validate_platform_name(Document& document, std::string_view name) {
  static constexpr std::string_view without_dots[] = {"baremetal", "openstack", "vsphere"};
  const std::string platform = platform_type(document);
  if (platform == "gcp" && (name.front() < 'a' || name.front() > 'z')) {
    document.error("metadata.name", "must begin with a letter on platform gcp, not '{}'", name);
  }
  if (std::ranges::find(without_dots, platform) != std::end(without_dots) && name.find('.') != std::string_view::npos) {
    document.error("metadata.name", "must have no dot on platform {}, not '{}'", platform, name);
  }
}

void validate_names(Document& document) {
  const std::string_view name = document.text({"metadata", "name"});
  if (name.empty()) {
    if (!document.was_given("metadata.name") || find_string(document.value, {"metadata", "name"})) {
      document.error("metadata.name", "is missing").hint("the cluster's name, the first part of its domain");
    }
  } else if (!is_dns_subdomain(name)) {
    document.error("metadata.name", "'{}' is no DNS name", name).hint(std::string(name_rule));
  } else if (name.size() > longest_cluster_name) {
    document.error("metadata.name", "has {} characters, {} at most", name.size(), longest_cluster_name);
  } else {
    validate_platform_name(document, name);
  }

  std::string_view domain = document.text({"baseDomain"});
  if (domain.ends_with('.')) domain.remove_suffix(1);
  if (domain.empty()) {
    if (!document.was_given("baseDomain") || find_string(document.value, {"baseDomain"})) {
      document.error("baseDomain", "is missing").hint("the domain in which the cluster gets its own, 'example.com'");
    }
  } else if (!is_dns_subdomain(domain)) {
    document.error("baseDomain", "'{}' is no DNS name", domain).hint(std::string(name_rule));
  } else if (name.size() + 1 + domain.size() > 253) {
    document.error("baseDomain", "makes a cluster domain of {} characters, 253 at most", name.size() + 1 + domain.size());
  }
}

// Never quotes the secret, not even where it is broken.
void validate_pull_secret(Document& document) {
  const std::string path = "pullSecret";
  const std::optional<std::string_view> text = find_string(document.value, {path});
  if (!text || text->empty()) {
    if (!document.was_given(path) || text) document.error(path, "is missing").hint("JSON with 'auths' in single quotes");
    return;
  }
  const auto secret = parse_json(*text, path);
  if (!secret.ok() || !secret->is_object()) {
    document.error(path, "is not a JSON object").hint("put the whole text between single quotes");
    return;
  }
  const Json* auths = find(secret.value(), {"auths"});
  if (!auths || !auths->is_object() || (auths->get_object().empty() && platform_type(document) != "local")) {
    document.error(path, "has no registries in 'auths'");
    return;
  }
  for (const auto& entry : auths->get_object()) {
    if (find(entry.value(), {"auth"}) || find(entry.value(), {"credsStore"})) continue;
    document.error(path, "has neither 'auth' nor 'credsStore' for {}", std::string_view(entry.key()));
  }
}

void validate_trust_bundle(Document& document) {
  const std::string path = "additionalTrustBundle";
  std::string_view text = document.text({path});
  constexpr std::string_view begin = "-----BEGIN ";
  constexpr std::string_view end = "-----END ";
  int number = 0;
  for (std::size_t at = text.find(begin); at != std::string_view::npos; at = text.find(begin)) {
    ++number;
    const std::size_t stop = text.find(end, at);
    const std::size_t after = stop == std::string_view::npos ? text.size() : std::min(text.find('\n', stop), text.size());
    const std::string_view block = text.substr(at, after - at);
    text.remove_prefix(after);
    if (!net::parse_certificate(block).ok()) document.error(path, "PEM block {} is no certificate", number);
  }
  if (number == 0 && !text.empty()) document.error(path, "has no certificate").hint("PEM, '-----BEGIN CERTIFICATE-----'");
}

// QUIRK(installer 2.4): the host need not be in this mode itself, and nothing here uses a validated module.
void validate_fips(Document& document, std::string_view kind) {
  const Json* fips = find(document.value, {"fips"});
  if (!fips || *fips != Json(true)) return;
  if (platform_type(document) == "local") {
    document.error("fips", "must be false on platform local").hint("its machines share this host's kernel");
    return;
  }
  document.warning("fips", "machines will be in this mode, this program is not validated for it");
  if (!kind.empty() && kind != "ssh-rsa" && !kind.starts_with("ecdsa-sha2-nistp")) {
    document.error("sshKey", "is a key of kind {}, which fips does not allow", kind).hint("use ssh-rsa or ecdsa-sha2-nistp256");
  }
}

}  // namespace

void validate_identity(Document& document) {
  validate_names(document);
  validate_pull_secret(document);
  validate_trust_bundle(document);
  const std::string_view key = document.text({"sshKey"});
  const std::string_view kind = ssh_key_kind(key);
  if (!key.empty() && kind.empty()) {
    document.error("sshKey", "has no line that is a public key").hint("as in ~/.ssh/id_ed25519.pub");
  }
  validate_fips(document, kind);
}

}  // namespace slipway::config
