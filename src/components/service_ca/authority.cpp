#include "components/service_ca/authority.h"

#include "base/digest.h"
#include "components/controller/certificate_rotation.h"
#include "components/render/manifest.h"

#include <algorithm>

namespace slipway::components::service_ca {

namespace {

constexpr std::string_view forced_annotation = "service-ca.operators.openshift.io/forced-rotation-reason";
constexpr std::string_view own_bundle = "ca-bundle.crt", own_bridge = "intermediate-ca.crt";
constexpr Seconds day = std::chrono::hours(24);
// As in OpenShift: a cluster that is updated once a year restarts each pod while both authorities are valid.
constexpr Seconds valid = 790 * day, needed = 395 * day;

const ObjectName key_secret = object_name(authority_space, key_name);

const Json* find_secret(const Snapshot& seen) { return seen.find(kube::types::secrets, authority_space, key_name); }

bool is_valid_certificate(const std::string& pem, WallTime now) {
  const Result<net::CertificateInfo> info = net::parse_certificate(pem);
  return info.ok() && now < info->not_after;
}

// `known`: the authority that it replaces; its key signs the bridge. trusted: bundles that clients may have.
Result<Json> make_secret(const std::optional<Authority>& known, const std::string& forced_reason,
                         std::vector<std::string> trusted, WallTime now) {
  const WallTime from = std::chrono::floor<Seconds>(now) - Seconds(1);
  net::CertificateSpec spec{.subject = {.common_name = fmt::format("openshift-service-serving-signer@{}",
                                                                   std::chrono::floor<Seconds>(now).time_since_epoch().count())},
                            .is_ca = true,
                            .valid_from = from,
                            .valid_for = valid};
  const net::Certificate made = TRY(net::make_certificate(spec, nullptr));
  Json object = TRY(
      tls_secret(key_secret, made,
                 {.component = "service-ca", .description = "Signs the certificates of Services.", .managed_type = "signer"}));
  JsonObject& data = object.as_object()["data"].as_object();
  trusted.push_back(made.pem);
  data[own_bundle] = base64_encode(TRY(join_bundles(trusted, now)));
  if (known) {
    spec.key = made.key;
    spec.valid_for = std::chrono::floor<Seconds>(known->info.not_after - from);
    data[own_bridge] = base64_encode(TRY(net::make_certificate(spec, &known->certificate)).pem);
  }
  if (!forced_reason.empty()) {
    object.as_object()["metadata"].as_object()["annotations"].as_object()[forced_annotation] = forced_reason;
  }
  return object;
}

}  // namespace

std::optional<Authority> find_authority(const Snapshot& seen, WallTime now) {
  const Json* secret = find_secret(seen);
  const std::optional<std::string> pem = data_of(secret, "tls.crt"), key = data_of(secret, "tls.key");
  if (!pem || !key) return {};
  Authority authority{{*pem, Secret(*key)}, {}};
  Result<net::CertificateInfo> info = net::parse_certificate(*pem);
  const Result<bool> fits = net::key_fits(*pem, authority.certificate.key);
  if (!info.ok() || !info->is_ca || now >= info->not_after || !fits.ok() || !fits.value()) return {};
  authority.info = std::move(info).value();
  const std::string bridge = data_of(secret, own_bridge).value_or("");
  if (is_valid_certificate(bridge, now)) authority.bridge = bridge;
  return authority;
}

std::string find_bundle(const Snapshot& seen) {
  return data_of(seen.find(kube::types::config_maps, authority_space, bundle_name), own_bundle).value_or("");
}

Result<Plan> plan_authority(const std::string& forced_reason, const Snapshot& seen, WallTime now) {
  Plan plan;
  const Json* secret = find_secret(seen);
  const std::optional<Authority> known = find_authority(seen, now);
  const bool is_forced =
      !forced_reason.empty() &&
      (!secret || find_string(*secret, {"metadata", "annotations", forced_annotation}) != std::string_view(forced_reason));
  // The ConfigMap matters only if the Secret is lost: an administrator removes an authority from the Secret.
  std::vector<std::string> trusted = {data_of(secret, own_bundle).value_or("")};
  if (!net::parse_certificates(trusted[0]).ok()) trusted[0] = find_bundle(seen);
  if (!net::parse_certificates(trusted[0]).ok()) trusted.clear();
  if (!known || is_forced || now >= known->info.not_after - needed) {
    Json made = TRY(make_secret(known, forced_reason, trusted, now));
    if (secret) {
      plan.notices.push_back({.regarding = *secret,
                              .reason = "ServiceCARotated",
                              .message = known ? "a new authority signs the certificates of Services; clients that have the "
                                                 "bundle of before trust them until the old authority expires"
                                               : "a new authority signs the certificates of Services; clients have to read the "
                                                 "bundle again"});
    }
    plan.desired_objects.push_back({kube::types::secrets, std::move(made)});
  } else {
    plan.replan_by(known->info.not_after - needed);
  }
  // The next plan, which sees the new Secret, publishes a new authority.
  if (!known) return plan;
  trusted.push_back(known->certificate.pem);
  const std::string bundle = TRY(join_bundles(trusted, now));
  for (const net::CertificateInfo& info : TRY(net::parse_certificates(bundle))) plan.replan_by(info.not_after);
  plan.desired_objects.push_back(
      {kube::types::config_maps,
       config_map(object_name(authority_space, bundle_name), {{std::string(own_bundle), bundle}},
                  {{"kubernetes.io/description", "Authorities that sign the certificates of Services, the newest one first."}})});
  return plan;
}

}  // namespace slipway::components::service_ca
