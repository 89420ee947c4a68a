#include "components/service_ca/serving.h"

#include "base/digest.h"
#include "base/number.h"
#include "components/controller/object_parts.h"
#include "components/render/manifest.h"

#include <algorithm>
#include <array>

namespace slipway::components::service_ca {

namespace {

// Each annotation exists with both prefixes: users of earlier versions of OpenShift wrote the first one.
constexpr std::array<std::string_view, 2> prefixes = {"service.alpha.openshift.io/", "service.beta.openshift.io/"};
constexpr std::string_view wanted_name = "serving-cert-secret-name", signed_by = "serving-cert-signed-by",
                           failure = "serving-cert-generation-error", failures = "serving-cert-generation-error-num",
                           origin_uid = "originating-service-uid", origin_name = "originating-service-name", expiry = "expiry";
// The certificate in a reduced Secret.
constexpr std::string_view served = "served";
constexpr Seconds day = std::chrono::hours(24);
constexpr Lifetime usual = {.valid = 365 * day, .refresh = 292 * day};

std::string annotation(std::string_view prefix, std::string_view name) { return fmt::format("{}{}", prefix, name); }

std::string find_annotation(const Json& object, std::string_view name) {
  for (auto prefix = prefixes.rbegin(); prefix != prefixes.rend(); ++prefix) {
    const auto text = find_string(object, {"metadata", "annotations", annotation(*prefix, name)});
    if (text && !text->empty()) return std::string(*text);
  }
  return "";
}

void put(JsonObject& annotations, std::string_view name, const Json& value) {
  for (const std::string_view prefix : prefixes) annotations[annotation(prefix, name)] = value;
}

std::vector<std::string> names_of(const Json& service) {
  const std::string name = fmt::format("{}.{}.svc", kube::name_of(service), kube::namespace_of(service));
  std::vector<std::string> names = {name, name + ".cluster.local"};
  // Each pod of a headless Service has a name of its own.
  if (find_string(service, {"spec", "clusterIP"}) == "None") names.insert(names.end(), {"*." + names[0], "*." + names[1]});
  std::ranges::sort(names);
  return names;
}

// The certificate of a Secret as this operator needs it. It replaces the data, so that the memory of the operator has no keys.
JsonObject describe_certificate(const Json& secret) {
  const std::string pem = data_of(&secret, "tls.crt").value_or("");
  const std::string key = data_of(&secret, "tls.key").value_or("");
  const Result<std::vector<net::CertificateInfo>> read = net::parse_certificates(pem);
  if (!read.ok()) return {{"problem", "tls.crt has no certificate"}};
  const Result<bool> fits = net::key_fits(pem, Secret(key));
  if (!fits.ok() || !fits.value()) return {{"problem", "tls.key is not the key of tls.crt"}};
  const net::CertificateInfo& leaf = read->front();
  std::vector<std::string> names = leaf.dns_names;
  std::ranges::sort(names);
  JsonArray listed;
  for (const std::string& name : names) listed.emplace_back(name);
  JsonObject description{
      {"names", std::move(listed)}, {"notBefore", to_rfc3339(leaf.not_before)}, {"notAfter", to_rfc3339(leaf.not_after)}};
  if (read->size() < 2) return description;
  const std::vector<std::string> all = net::split_certificates(pem).value();
  const Result<bool> is_signed = net::is_signed_by(pem, all[1]);
  if (is_signed.ok() && is_signed.value()) description["signer"] = sha256_hex(read.value()[1].public_key);
  return description;
}

WallTime time_of(const Json& secret, std::string_view member) {
  const Result<WallTime> time = parse_rfc3339(find_string(secret, {served, member}).value_or(""));
  return time.ok() ? time.value() : WallTime();
}

WallTime renewal_time(const Json& secret, const Lifetime& lifetime) {
  const WallTime from = time_of(secret, "notBefore"), end = time_of(secret, "notAfter");
  return from + std::min<Milliseconds>(lifetime.refresh, (end - from) * 4 / 5);
}

bool has_names(const Json& secret, const std::vector<std::string>& names) {
  return std::ranges::equal(find_array(secret, {served, "names"}), names,
                            [](const Json& known, const std::string& wanted) { return known == Json(wanted); });
}

bool is_owner(const Json& reference, const Json& service) {
  return find_string(reference, {"kind"}) == "Service" && find_string(reference, {"name"}) == kube::name_of(service);
}

bool is_owned(const Json& secret, const Json& service) {
  return std::ranges::any_of(find_array(secret, {"metadata", "ownerReferences"}), [&](const Json& reference) {
    return is_owner(reference, service) && find_string(reference, {"uid"}) == find_string(service, {"metadata", "uid"});
  });
}

}  // namespace

Json reduce_service(const Json& service) {
  if (secret_name(service).empty()) return nullptr;
  JsonObject kept = reduced(service, {"name", "namespace", "uid", "resourceVersion", "annotations"});
  kept["spec"] = part_of(find_object(service, {"spec"}), {"clusterIP"});
  return kept;
}

Json reduce_secret(const Json& secret) {
  if (kube::namespace_of(secret) == authority_space) return secret;
  if (find_annotation(secret, origin_uid).empty()) return reduced(secret, {"name", "namespace", "uid"});
  JsonObject kept = reduced(secret, {"name", "namespace", "uid", "resourceVersion", "annotations", "labels", "ownerReferences",
                                     "deletionTimestamp"});
  kept[served] = describe_certificate(secret);
  return kept;
}

std::string secret_name(const Json& service) { return find_annotation(service, wanted_name); }

std::string secret_text(const Json& service) {
  return fmt::format("Secret {}/{}", kube::namespace_of(service), secret_name(service));
}

Verdict judge(const Json& service, const Snapshot& seen, const Authority& authority, const Lifetime& lifetime, WallTime now) {
  using Step = Verdict::Step;
  const std::string name = secret_name(service);
  const std::string_view space = kube::namespace_of(service);
  const Json* secret = seen.find(kube::types::secrets, space, name);
  if (!secret) return {Step::issue, "it does not exist"};
  if (is_terminating(*secret)) return {Step::wait};
  const std::string owner = find_annotation(*secret, origin_name);
  // A Service that was deleted and created again takes over the Secret of the earlier one.
  if (owner != kube::name_of(service)) {
    return {Step::refuse, fmt::format("{} {} (delete the Secret, or name another one in annotation {})", secret_text(service),
                                      owner.empty() ? "exists and was not created for a Service"
                                                    : fmt::format("was created for Service {}", owner),
                                      annotation(prefixes.back(), wanted_name))};
  }
  if (find_annotation(*secret, origin_uid) != text_of(service, {"metadata", "uid"}) || !is_owned(*secret, service)) {
    return {Step::issue, "the Service was created again"};
  }
  if (const std::string problem = text_of(*secret, {served, "problem"}); !problem.empty()) return {Step::issue, problem};
  if (find_string(*secret, {served, "signer"}) != std::string_view(sha256_hex(authority.info.public_key))) {
    return {Step::issue, "the authority changed"};
  }
  if (!has_names(*secret, names_of(service))) return {Step::issue, "the names of the Service changed"};
  const WallTime until = renewal_time(*secret, lifetime);
  if (now >= until) return {Step::issue, "its certificate is about to expire"};
  return {Step::keep, "", until};
}

Lifetime serving_lifetime(const Lifetimes& lifetimes) {
  return lifetimes.leaf && *lifetimes.leaf < usual.valid ? Lifetime{*lifetimes.leaf, *lifetimes.leaf / 2} : usual;
}

Result<Json> make_serving_secret(const Json& service, const Json* known, const Authority& authority, const Lifetime& lifetime,
                                 WallTime now) {
  const std::string space(kube::namespace_of(service)), name = secret_name(service);
  const std::vector<std::string> names = names_of(service);
  const WallTime from = std::chrono::floor<Seconds>(now) - Seconds(1);
  const Seconds left = std::chrono::floor<Seconds>(authority.info.not_after - from);
  const Seconds valid_for = std::min(lifetime.valid, left);
  net::Certificate made =
      TRY(net::make_certificate({.subject = {.common_name = fmt::format("{}.{}.svc", kube::name_of(service), space)},
                                 .server_auth = true,
                                 .dns_names = names,
                                 .valid_from = from,
                                 .valid_for = valid_for},
                                &authority.certificate)
              .context(fmt::format("issuing the certificate of Service {}/{}", space, kube::name_of(service))));
  made.pem += authority.chain();
  Json object = TRY(tls_secret({space, name}, made,
                               {.component = "service-ca",
                                .description = fmt::format("Certificate of Service {}.", kube::name_of(service)),
                                .managed_type = "target",
                                .host_names = names}));
  JsonObject& metadata = object.as_object()["metadata"].as_object();
  JsonObject annotations = known ? find_object(*known, {"metadata", "annotations"}) : JsonObject();
  for (const auto& each : metadata["annotations"].as_object()) annotations[each.key()] = each.value();
  put(annotations, origin_uid, Json(text_of(service, {"metadata", "uid"})));
  put(annotations, origin_name, Json(kube::name_of(service)));
  put(annotations, expiry, Json(to_rfc3339(from + valid_for)));
  metadata["annotations"] = std::move(annotations);
  JsonArray owners;
  if (known) {
    metadata["resourceVersion"] = text_of(*known, {"metadata", "resourceVersion"});
    JsonObject labels = find_object(*known, {"metadata", "labels"});
    for (const auto& each : metadata["labels"].as_object()) labels[each.key()] = each.value();
    metadata["labels"] = std::move(labels);
    for (const Json& reference : find_array(*known, {"metadata", "ownerReferences"})) {
      if (!is_owner(reference, service)) owners.push_back(reference);
    }
  }
  owners.push_back(JsonObject{{"apiVersion", "v1"},
                              {"kind", "Service"},
                              {"name", kube::name_of(service)},
                              {"uid", text_of(service, {"metadata", "uid"})}});
  metadata["ownerReferences"] = std::move(owners);
  return object;
}

JsonObject success_annotations(const Authority& authority) {
  JsonObject annotations;
  put(annotations, signed_by, Json(authority.info.subject.common_name));
  put(annotations, failure, nullptr);
  put(annotations, failures, nullptr);
  return annotations;
}

JsonObject failure_annotations(const std::string& problem, int attempts) {
  JsonObject annotations;
  put(annotations, failure, Json(problem));
  put(annotations, failures, Json(std::to_string(attempts)));
  return annotations;
}

int reported_attempts(const Json& service) {
  return reported_problem(service).empty() ? 0 : parse_number<int>(find_annotation(service, failures)).value_or(0);
}

std::string reported_problem(const Json& service) {
  std::string problem = find_annotation(service, failure);
  const std::string secret = secret_text(service);
  return problem.starts_with(secret + ":") || problem.starts_with(secret + " ") ? problem : "";
}

}  // namespace slipway::components::service_ca
