#include "components/render/manifest.h"

#include "base/digest.h"
#include "base/text.h"
#include "base/yaml.h"

#include <algorithm>

namespace slipway::components {

namespace {

Json object(const Texts& texts) {
  JsonObject members;
  for (const auto& [key, value] : texts) members[key] = value;
  return members;
}

JsonObject head(std::string_view kind, const ObjectName& name, const Texts& annotations, const Texts& labels) {
  JsonObject metadata{{"name", name.name}, {"namespace", name.space}};
  if (!annotations.empty()) metadata["annotations"] = object(annotations);
  if (!labels.empty()) metadata["labels"] = object(labels);
  return {{"apiVersion", "v1"}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

// Without fractions of a second, as other programs expect in these annotations.
std::string in_seconds(WallTime time) { return to_rfc3339(std::chrono::floor<Seconds>(time)); }

}  // namespace

ObjectName object_name(std::string_view space, std::string_view name) { return {std::string(space), std::string(name)}; }

Json config_map(const ObjectName& name, const Texts& data, const Texts& annotations, const Texts& labels) {
  JsonObject result = head("ConfigMap", name, annotations, labels);
  if (!data.empty()) result["data"] = object(data);
  return result;
}

Json secret(const ObjectName& name, std::string_view type, const Texts& data, const Texts& annotations, const Texts& labels) {
  JsonObject result = head("Secret", name, annotations, labels);
  if (!type.empty()) result["type"] = type;
  JsonObject encoded;
  for (const auto& [key, value] : data) encoded[key] = base64_encode(value);
  result["data"] = std::move(encoded);
  return result;
}

Result<Json> tls_secret(const ObjectName& name, const net::Certificate& certificate, const Rotation& rotation) {
  const net::CertificateInfo info = TRY(net::parse_certificate(certificate.pem).context(name.name));
  Texts annotations;
  if (!rotation.host_names.empty()) {
    std::vector<std::string> sorted = rotation.host_names;
    std::ranges::sort(sorted);
    annotations.emplace_back("auth.openshift.io/certificate-hostnames", join(sorted, ","));
  }
  annotations.emplace_back("auth.openshift.io/certificate-issuer", info.issuer.common_name);
  annotations.emplace_back("auth.openshift.io/certificate-not-after", in_seconds(info.not_after));
  annotations.emplace_back("auth.openshift.io/certificate-not-before", in_seconds(info.not_before));
  if (!rotation.refresh_period.empty()) {
    annotations.emplace_back("certificates.openshift.io/refresh-period", rotation.refresh_period);
  }
  annotations.emplace_back("openshift.io/description", rotation.description);
  annotations.emplace_back("openshift.io/owning-component", rotation.component);
  Texts labels;
  if (!rotation.managed_type.empty()) labels.emplace_back("auth.openshift.io/managed-certificate-type", rotation.managed_type);
  return secret(name, "kubernetes.io/tls", {{"tls.crt", certificate.pem}, {"tls.key", certificate.key.reveal()}}, annotations,
                labels);
}

RenderedFile manifest_file(std::string path, const Json& object) {
  const bool is_secret = find_string(object, {"kind"}) == "Secret";
  return {std::move(path), emit_yaml(object), is_secret ? 0600u : 0644u};
}

}  // namespace slipway::components
