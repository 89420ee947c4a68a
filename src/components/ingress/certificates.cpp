#include "components/ingress/certificates.h"

#include "components/controller/certificate_rotation.h"
#include "components/controller/operand.h"

#include <algorithm>

namespace slipway::components::ingress {

namespace {

constexpr std::string_view component = "Networking / router";
constexpr std::string_view secret_prefix = "router-certs-";
constexpr Seconds day = std::chrono::hours(24);

const Signer authority = {.secret = {std::string(operator_space), "router-ca"},
                          .bundle = {std::string(managed_space), "router-ca"},
                          .component = std::string(component),
                          .description = "Signs the certificates that routers have by themselves.",
                          .lifetime = {.valid = 730 * day, .refresh = 548 * day}};

std::string generated_secret(std::string_view controller) { return fmt::format("{}{}", secret_prefix, controller); }

Leaf leaf_of(const Settings& settings) {
  const std::string names = "*." + settings.domain;
  return {.secret = {std::string(router_space), generated_secret(settings.name)},
          .signer = authority.secret,
          .subject = {.common_name = names},
          .is_server = true,
          .dns_names = {names},
          .component = std::string(component),
          .description = fmt::format("What routers of IngressController {} serve to names without a certificate.", settings.name),
          .lifetime = {.valid = 730 * day, .refresh = 365 * day}};
}

bool is_ours(const Json& secret) {
  return find_string(secret, {"metadata", "annotations", "openshift.io/owning-component"}) == component;
}

// Why the Secret cannot be used; empty when it can.
std::string problem_of(const Json* secret, const std::string& name) {
  const std::optional<std::string> certificate = data_of(secret, "tls.crt"), key = data_of(secret, "tls.key");
  if (!certificate || !key) {
    return fmt::format("Secret {}/{} does not exist or has no tls.crt or tls.key", router_space, name);
  }
  const Result<bool> fits = net::key_fits(*certificate, Secret(*key));
  if (!fits.ok()) return fmt::format("Secret {}/{}: {}", router_space, name, fits.error().message());
  if (!fits.value()) return fmt::format("Secret {}/{}: tls.key is not the key of tls.crt", router_space, name);
  return "";
}

}  // namespace

Result<Plan> plan_certificates(const std::vector<Settings>& settings, const std::vector<std::string>& names,
                               const Lifetimes& lifetimes, const Snapshot& seen, WallTime now) {
  std::vector<Leaf> leaves;
  for (const Settings& each : settings) leaves.push_back(leaf_of(each));
  Plan plan = TRY(plan_rotation({authority}, leaves, {.leaf = lifetimes.leaf}, seen, now));
  for (const Json* secret : seen.list(kube::types::secrets, router_space)) {
    const std::string_view name = kube::name_of(*secret);
    if (!name.starts_with(secret_prefix) || !is_ours(*secret)) continue;
    if (std::ranges::find(names, name.substr(secret_prefix.size())) != names.end()) continue;
    plan.desired_objects.push_back({kube::types::secrets, *secret, DesiredObject::How::remove});
  }
  return plan;
}

ServedCertificate served_certificate(const Settings& settings, const Snapshot& seen) {
  ServedCertificate served;
  if (!settings.certificate.empty()) {
    served.problem = problem_of(seen.find(kube::types::secrets, router_space, settings.certificate), settings.certificate);
    if (served.problem.empty()) return {settings.certificate};
    served.problem = fmt::format("spec.defaultCertificate: {}; routers serve the generated certificate instead", served.problem);
  }
  const std::string ours = generated_secret(settings.name);
  if (data_of(seen.find(kube::types::secrets, router_space, ours), "tls.crt")) served.secret = ours;
  return served;
}

std::string trusted_by_clients(const Settings& settings, const Snapshot& seen) {
  const ServedCertificate served = served_certificate(settings, seen);
  if (served.secret.empty()) return "";
  if (served.secret == settings.certificate) {
    return data_of(seen.find(kube::types::secrets, router_space, served.secret), "tls.crt").value_or("");
  }
  const Json* bundle = seen.find(kube::types::config_maps, authority.bundle.space, authority.bundle.name);
  return data_of(bundle, "ca-bundle.crt").value_or("");
}

}  // namespace slipway::components::ingress
