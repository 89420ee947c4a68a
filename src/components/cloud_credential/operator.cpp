#include "components/cloud_credential/operator.h"

#include "base/text.h"
#include "components/render/document.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

namespace slipway::components::cloud_credential {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view space = "openshift-cloud-credential-operator";
constexpr std::string_view definition = "cloud_credential/cco-cloudcredential_v1_credentialsrequest_crd.yaml";
constexpr Milliseconds look_again = 5min;
constexpr Milliseconds look_after_failure = 15s;
constexpr Milliseconds long_time = 1h;
constexpr std::size_t max_listed_secrets = 3;

const kube::ResourceType facts{std::string(kube::private_domain), "v1", "secretfacts", "SecretFact"};

// Platforms that need no cloud credentials.
constexpr std::array<std::string_view, 5> without_cloud = {"", "None", "BareMetal", "External", "KubeVirt"};

Condition mode_condition(std::string_view mode, std::string_view platform) {
  Condition condition{.type = "CredentialsModeDegraded"};
  if (mode == "Manual" || (mode.empty() && std::ranges::find(without_cloud, platform) != without_cloud.end())) return condition;
  condition.is_true = true;
  condition.reason = "ModeNotSupported";
  condition.message = fmt::format(
      "spec.credentialsMode of CloudCredential cluster is {} on platform {}, but this release creates no credentials (set it to "
      "Manual and create the Secrets that CredentialsRequests name)",
      mode.empty() ? "not set" : mode, platform.empty() ? "None" : platform);
  return condition;
}

// Condition Available in mode Manual; the reason equals that of OpenShift.
void report_manual(const Snapshot& seen, Condition& available) {
  available.reason = "OperatorDisabledByAdmin";
  std::vector<std::string> missing;
  std::size_t wanted = 0, hidden = 0;
  for (const ObjectName& name : wanted_secrets(seen)) {
    ++wanted;
    const Json* fact = seen.find(facts, name.space, name.name);
    const Json* exists = fact ? find(*fact, {"exists"}) : nullptr;
    if (exists && *exists == Json(false)) missing.push_back(fmt::format("{}/{}", name.space, name.name));
    if (exists && exists->is_null()) ++hidden;
  }
  available.message = "credentials are managed by the administrator";
  if (hidden > 0) {
    available.message += fmt::format(
        "; {} of {} Secrets that CredentialsRequests ask for cannot be checked (bind ClusterRole {}-secrets in their namespaces)",
        hidden, wanted, space);
  }
  if (missing.empty()) return;
  const std::size_t count = missing.size();
  if (count > max_listed_secrets) {
    missing.resize(max_listed_secrets);
    missing.push_back(fmt::format("and {} more", count - max_listed_secrets));
  }
  available.message += fmt::format("; of {} Secrets that CredentialsRequests ask for, {} {} missing: {}", wanted, count,
                                   count == 1 ? "is" : "are", join(missing, ", "));
}

}  // namespace

std::vector<ObjectName> wanted_secrets(const Snapshot& seen) {
  std::vector<ObjectName> names;
  for (const Json* request : seen.list(kube::types::credentials_requests, space)) {
    ObjectName name{text_of(*request, {"spec", "secretRef", "namespace"}), text_of(*request, {"spec", "secretRef", "name"})};
    const auto same = [&](const ObjectName& each) { return each.space == name.space && each.name == name.name; };
    if (!name.space.empty() && !name.name.empty() && std::ranges::none_of(names, same)) names.push_back(std::move(name));
  }
  return names;
}

Json secret_fact(const ObjectName& name, std::optional<bool> exists) {
  return {{"apiVersion", facts.api_version()},
          {"kind", facts.kind},
          {"metadata", {{"namespace", name.space}, {"name", name.name}}},
          {"exists", exists ? Json(*exists) : Json(nullptr)}};
}

Result<DesiredState> plan_credentials_operator(const Snapshot& seen) {
  DesiredState desired_state;
  Json crd = TRY(fill_document(definition, {}));
  desired_state.plan.desired_objects.push_back(TRY(to_desired_object(std::move(crd))));
  // The render command creates the settings with the mode of the install-config, unless the capability was enabled later.
  Json fresh = TRY(fill_document("cloud_credential/cco-operator-config.yaml", {{"MODE", quoted("")}}));
  desired_state.plan.desired_objects.push_back(TRY(to_desired_object(std::move(fresh), DesiredObject::How::create)));
  const Json* settings = seen.find(kube::types::credential_settings, "", "cluster");
  const Json* infrastructure = seen.find(kube::types::infrastructures, "", "cluster");
  const std::string_view mode = settings ? find_string(*settings, {"spec", "credentialsMode"}).value_or("") : "";
  const std::string_view platform =
      infrastructure ? find_string(*infrastructure, {"status", "platformStatus", "type"}).value_or("") : "";
  Condition available{.type = "CredentialsAvailable", .is_true = true};
  if (mode == "Manual") report_manual(seen, available);
  desired_state.conditions = {std::move(available), {.type = "CredentialsProgressing"}, mode_condition(mode, platform)};
  return desired_state;
}

Result<> observe_secrets(const sys::Context& context, kube::Api& api, View& view) {
  std::vector<std::string> known;
  SteadyTime due{};
  while (!context.stop.stop_requested()) {
    const std::uint64_t changes = view.changed().count();
    const std::vector<ObjectName> wanted = wanted_secrets(view.snapshot());
    std::vector<std::string> names;
    for (const ObjectName& name : wanted) names.push_back(fmt::format("{}/{}", name.space, name.name));
    if (names != known || context.clock.steady() >= due) {
      known = std::move(names);
      due = context.clock.steady() + look_again;
      for (const ObjectName& name : wanted) {
        const Result<std::optional<Json>> found = kube::find(context, api, kube::types::secrets, name.space, name.name);
        if (found.ok()) {
          view.put(secret_fact(name, found.value().has_value()));
        } else if (found.error().code() == Code::denied) {
          view.put(secret_fact(name, std::nullopt));
        } else {
          due = context.clock.steady() + look_after_failure;
        }
      }
    }
    context.clock.wait(wanted.empty() ? context.clock.steady() + long_time : due, context.stop, &view.changed(), changes);
  }
  return error(Code::cancelled, "stopped");
}

WorkloadOperator make_operator() {
  return WorkloadOperator{.name = "cloud-credential",
                          .space = std::string(space),
                          .watched = {{kube::types::credentials_requests, std::string(space)},
                                      {kube::types::credential_settings, "", {.fields = "metadata.name=cluster"}},
                                      {kube::types::infrastructures},
                                      {kube::types::custom_resource_definitions,
                                       "",
                                       {.fields = "metadata.name=credentialsrequests.cloudcredential.openshift.io"}}},
                          .desired_state = [](const Snapshot& seen, WallTime) { return plan_credentials_operator(seen); },
                          .observer = observe_secrets,
                          .settings = kube::types::credential_settings};
}

Result<> run_operator(const Environment& environment, const Arguments& arguments) {
  return run_workload_operator(
      environment, arguments, "cloud-credential-operator",
      [](const Environment&, const ReleaseVersion&) -> Result<WorkloadOperator> { return make_operator(); });
}

}  // namespace slipway::components::cloud_credential
