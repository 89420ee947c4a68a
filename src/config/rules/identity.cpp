#include "base/json.h"
#include "config/document.h"
#include "config/names.h"
#include "config/platforms.h"
#include "config/pull_secret.h"
#include "net/x509.h"

#include <algorithm>

namespace slipway::config {

namespace {

constexpr std::string_view skip_variable = "OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION";

constexpr std::string_view name_rule =
    "lower-case letters, digits, dashes and dots, beginning and ending with a letter or a digit";

// Certificates and DNS records for "*.apps.NAME" have at most 63 characters.
constexpr std::size_t longest_cluster_name = 54;

// Some platforms allow fewer characters in names that are derived from the cluster name.
void validate_platform_name(Document& document, std::string_view name) {
  const std::string platform = platform_type(document);
  if (platform == "gcp" && (name.front() < 'a' || name.front() > 'z')) {
    document.error("metadata.name", "must begin with a letter on platform gcp, got '{}'", name);
  }
  if (const PlatformRow* row = find_platform_row(platform);
      row && row->has_dotless_names && name.find('.') != std::string_view::npos) {
    document.error("metadata.name", "must have no dot on platform {}, got '{}'", platform, name);
  }
}

void validate_names(Document& document) {
  const std::string_view name = document.text({"metadata", "name"});
  if (name.empty()) {
    if (!document.was_given("metadata.name") || find_string(document.value, {"metadata", "name"})) {
      document.error("metadata.name", "missing").hint("the cluster's name, the first part of its domain");
    }
  } else if (!is_dns_subdomain(name)) {
    document.error("metadata.name", "'{}' is not a DNS name", name).hint(std::string(name_rule));
  } else if (name.size() > longest_cluster_name) {
    document.error("metadata.name", "has {} characters, must have at most {}", name.size(), longest_cluster_name);
  } else {
    validate_platform_name(document, name);
  }

  std::string_view domain = document.text({"baseDomain"});
  if (domain.ends_with('.')) domain.remove_suffix(1);
  if (domain.empty()) {
    if (!document.was_given("baseDomain") || find_string(document.value, {"baseDomain"})) {
      document.error("baseDomain", "missing").hint("the domain in which the cluster gets its own, 'example.com'");
    }
  } else if (!is_dns_subdomain(domain)) {
    document.error("baseDomain", "'{}' is not a DNS name", domain).hint(std::string(name_rule));
  } else if (name.size() + 1 + domain.size() > 253) {
    document.error("baseDomain", "cluster domain has {} characters, must have at most 253", name.size() + 1 + domain.size());
  }
}

// Messages never quote the secret, not even broken parts.
void validate_pull_secret(Document& document) {
  const std::string path = "pullSecret";
  const std::optional<std::string_view> text = find_string(document.value, {path});
  if (!text || text->empty()) {
    if (!document.was_given(path) || text) document.error(path, "missing").hint("JSON with 'auths' in single quotes");
    return;
  }
  const Registries needed = platform_type(document) == "local" ? Registries::none_is_fine : Registries::some;
  for (const std::string& problem : problems_of_pull_secret(*text, needed)) {
    auto said = document.error(path, "{}", problem);
    if (problem == "is not a JSON object") said.hint("enclose the text in single quotes");
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
    if (!net::parse_certificate(block).ok()) document.error(path, "PEM block {} is not a certificate", number);
  }
  if (number == 0 && !text.empty()) document.error(path, "has no certificate").hint("PEM, '-----BEGIN CERTIFICATE-----'");
  // OpenShift's installer and operators read the bundle with Go's PEM decoder, which rejects text after the last block.
  if (text.starts_with('\n')) text.remove_prefix(1);
  if (number > 0 && !text.empty()) {
    document.error(path, "has text after the last certificate").hint("use a YAML block that begins with | instead of |+");
  }
}

// OpenShift's installer generates keys for a FIPS cluster only on a host in FIPS mode. slipway uses no FIPS-validated module.
void validate_fips_host(Document& document) {
  if (!document.host || document.host->has_fips) {
    document.warning("fips", "machines run in FIPS mode, but this program is not validated for FIPS");
  } else if (document.host->skips_fips_check) {
    document.warning("fips", "this host is not in FIPS mode; keys are generated on it because of {}", skip_variable);
  } else {
    document.error("fips", "requires a host in FIPS mode, but this host is not")
        .hint(fmt::format("or set {}=true to generate the keys of the cluster on this host", skip_variable));
  }
}

void validate_fips(Document& document, std::string_view kind) {
  const Json* fips = find(document.value, {"fips"});
  if (!fips || *fips != Json(true)) return;
  if (platform_type(document) == "local") {
    document.error("fips", "must be false on platform local").hint("its machines share this host's kernel");
    return;
  }
  validate_fips_host(document);
  if (!kind.empty() && kind != "ssh-rsa" && !kind.starts_with("ecdsa-sha2-nistp")) {
    document.error("sshKey", "key type {} is not allowed with fips", kind).hint("use ssh-rsa or ecdsa-sha2-nistp256");
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
    document.error("sshKey", "has no line that is a public key").hint("for example ~/.ssh/id_ed25519.pub");
  }
  validate_fips(document, kind);
}

}  // namespace slipway::config
