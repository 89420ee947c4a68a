#include "components/cluster_version/update.h"

#include "base/digest.h"
#include "base/text.h"
#include "kube/client.h"
#include "kube/conditions.h"
#include "kube/types.h"
#include "release/reference.h"
#include "release/semantic_version.h"

#include <algorithm>

namespace slipway::components::cluster_version {

namespace {

using release::SemanticVersion;

constexpr int kubelet_minors_behind = 3;
constexpr std::string_view image_flag = "--release-image=";
constexpr Milliseconds oldest_backup = std::chrono::hours(24);
const std::string hand_over_annotation = fmt::format("{}/accepted-release", kube::private_domain);

struct Request {
  std::string image;
  std::string version;  // the one that the user expects; empty: any
  bool is_forced = false;
};

Request request_of(const Json& cluster_version) {
  const auto text = [&](std::string_view key) {
    return std::string(find_string(cluster_version, {"spec", "desiredUpdate", key}).value_or(""));
  };
  const Json* force = find(cluster_version, {"spec", "desiredUpdate", "force"});
  return {.image = text("image"), .version = text("version"), .is_forced = force && *force == Json(true)};
}

// Whether the request names the release that runs.
bool names(const Request& request, const OwnRelease& own) {
  return request.image.empty() ? request.version.empty() || request.version == own.version : request.image == own.image;
}

std::string image_of_available(const Json& cluster_version, std::string_view version) {
  for (const Json& update : find_array(cluster_version, {"status", "availableUpdates"})) {
    if (find_string(update, {"version"}) == version) return std::string(find_string(update, {"image"}).value_or(""));
  }
  return "";
}

std::string pod_name(std::string_view image) { return "version-" + sha256_hex(image).substr(0, 12); }

Json payload_pod(const Request& request, std::string_view node) {
  const Json tolerations = JsonArray{{{"operator", "Exists"}}};
  const Json container = {{"name", "payload"},
                          {"image", request.image},
                          {"args", {"payload"}},
                          {"securityContext",
                           {{"allowPrivilegeEscalation", false},
                            {"readOnlyRootFilesystem", true},
                            {"runAsNonRoot", true},
                            {"runAsUser", 65534},
                            {"capabilities", {{"drop", JsonArray{"ALL"}}}},
                            {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
                          {"resources", {{"requests", {{"cpu", "10m"}, {"memory", "50Mi"}}}}}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata",
           {{"name", pod_name(request.image)},
            {"namespace", own_namespace},
            {"labels", {{"k8s-app", "retrieve-openshift-release"}}},
            {"annotations", {{"kubernetes.io/description", "Reads the payload of the release that ClusterVersion asks for."}}}}},
          {"spec",
           {{"nodeName", node},
            {"restartPolicy", "OnFailure"},
            {"automountServiceAccountToken", false},
            {"enableServiceLinks", false},
            {"priorityClassName", "system-cluster-critical"},
            {"tolerations", tolerations},
            {"containers", JsonArray{container}}}}};
}

struct Retrieval {
  std::optional<Payload> payload{};
  std::string failure{};  // what the image or the registry answers; empty while the pod still starts
};

// A pod whose image cannot be pulled waits and tries again; one whose program fails is started again.
Retrieval read_pod(const Json& pod) {
  for (const Json& status : find_array(pod, {"status", "containerStatuses"})) {
    for (const std::string_view state : {"state", "lastState"}) {
      const Json* ended = find(status, {state, "terminated"});
      if (!ended) continue;
      const std::string message = text_of(*ended, {"message"});
      const Json* code = find(*ended, {"exitCode"});
      if (!code || *code != Json(0))
        return {.failure = message.empty() ? "its program cluster-version-operator cannot read it" : message};
      Result<Payload> payload = parse_payload(message);
      if (!payload.ok()) return {.failure = payload.error().message()};
      return {.payload = std::move(payload).value()};
    }
    const std::string reason = text_of(status, {"state", "waiting", "reason"});
    if (!reason.empty() && reason != "ContainerCreating") {
      return {.failure = fmt::format("{}: {}", reason, text_of(status, {"state", "waiting", "message"}))};
    }
  }
  return {};
}

std::string name_of_request(const Request& request) {
  return request.version.empty() ? request.image : fmt::format("{} ({})", request.version, request.image);
}

// The version that the cluster had before the running one; empty if there was none.
std::string previous_version(const Json& cluster_version, const OwnRelease& own) {
  for (const Json& entry : find_array(cluster_version, {"status", "history"})) {
    const std::string version = text_of(entry, {"version"});
    if (version != own.version || text_of(entry, {"image"}) != own.image) return version;
  }
  return "";
}

std::string kubelet_problem(const Payload& payload, const std::vector<const Json*>& nodes) {
  const Result<SemanticVersion> server = release::parse_semantic_version(payload.kubernetes);
  if (!server.ok()) return "";
  std::vector<std::string> outside;
  for (const Json* node : nodes) {
    const std::string text = text_of(*node, {"status", "nodeInfo", "kubeletVersion"});
    const Result<SemanticVersion> kubelet = release::parse_semantic_version(text);
    if (!kubelet.ok()) continue;
    const int behind = server->minor - kubelet->minor;
    if (behind < 0 || behind > kubelet_minors_behind) outside.push_back(fmt::format("{} ({})", kube::name_of(*node), text));
  }
  if (outside.empty()) return "";
  return fmt::format(
      "KubeletVersionSkew: Kubernetes {} supports kubelets of its own and the {} minor versions before. Others: {}",
      payload.kubernetes, kubelet_minors_behind, join(outside, ", "));
}

// Empty if there is a recent one.
std::string backup_problem(const Snapshot& seen, WallTime now) {
  const Json* record = seen.find(kube::types::config_maps, backup_namespace, backup_record);
  const std::string text = record ? text_of(*record, {"data", "completed"}) : "";
  const Result<WallTime> completed = parse_rfc3339(text);
  if (completed.ok() && now - completed.value() < oldest_backup) return "";
  return fmt::format(
      "EtcdRecentBackup: {} (run `slipway backup`; the update then continues)",
      completed.ok() ? fmt::format("the last backup of etcd is older than 24 h: {}", text) : "no backup of etcd is known");
}

// Whether the container runs a release image: it has the flag that names the image.
bool set_release_image(Json& container, std::string_view image) {
  if (find_array(container, {"args"}).empty()) return false;
  JsonArray& arguments = container.at("args").get_array();
  const auto flag = std::ranges::find_if(arguments, [](const Json& argument) {
    return argument.is_string() && std::string_view(argument.get_string()).starts_with(image_flag);
  });
  if (flag == arguments.end()) return false;
  *flag = fmt::format("{}{}", image_flag, image);
  container.as_object()["image"] = image;
  return true;
}

UpdateStep refused(UpdateStep step, std::string reason, std::string message) {
  step.acceptance = {"False", std::move(reason), std::move(message)};
  return step;
}

}  // namespace

std::optional<NotUpgradeable> find_not_upgradeable(const Snapshot& seen) {
  std::vector<std::string> messages;
  std::string reason;
  for (const Json* object : seen.list(kube::types::cluster_operators)) {
    if (kube::condition_status(*object, "Upgradeable") != "False") continue;
    reason = messages.empty() ? kube::condition_text(*object, "Upgradeable", "reason") : "MultipleReasons";
    messages.push_back(fmt::format("Cluster operator {} should not be upgraded between minor versions: {}",
                                   kube::name_of(*object), kube::condition_text(*object, "Upgradeable", "message")));
  }
  if (messages.empty()) return {};
  return NotUpgradeable{.reason = std::move(reason), .message = join(messages, "\n")};
}

std::vector<std::string> failed_preconditions(const Json& cluster_version, const OwnRelease& own, const Payload& payload,
                                              const Snapshot& seen, const UpdateFacts& facts) {
  std::vector<std::string> failed;
  const Result<SemanticVersion> from = release::parse_semantic_version(own.version);
  const Result<SemanticVersion> to = release::parse_semantic_version(payload.version);
  if (!to.ok()) failed.push_back("InvalidVersion: " + to.error().message());
  if (from.ok() && to.ok()) {
    const bool is_same_minor = from->major == to->major && from->minor == to->minor;
    if (to.value() < from.value() && !(is_same_minor && payload.version == previous_version(cluster_version, own))) {
      failed.push_back(
          fmt::format("LowDesiredVersion: {} is older than {}. Only the version before, with the same minor version, "
                      "can be applied again",
                      payload.version, own.version));
    }
    if (to->major > from->major) {
      failed.push_back(fmt::format("MajorVersionUpdate: {} has another major version than {}", payload.version, own.version));
    } else if (to->major == from->major && to->minor > from->minor + 1) {
      failed.push_back(
          fmt::format("MultipleMinorVersionsUpdate: {} is more than one minor version after {}", payload.version, own.version));
    }
    const std::optional<NotUpgradeable> not_upgradeable = find_not_upgradeable(seen);
    if (to.value() > from.value() && !is_same_minor && not_upgradeable) {
      failed.push_back(fmt::format("ClusterVersionUpgradeable: {}", not_upgradeable->message));
    }
    std::string no_backup = to.value() > from.value() && !is_same_minor ? backup_problem(seen, facts.now) : "";
    if (!no_backup.empty()) failed.push_back(std::move(no_backup));
  }
  if (std::string problem = kubelet_problem(payload, facts.nodes); !problem.empty()) failed.push_back(std::move(problem));
  return failed;
}

std::string image_to_verify(const Json& cluster_version, const OwnRelease& own) {
  const Request request = request_of(cluster_version);
  if (names(request, own)) return "";
  std::string image = request.image.empty() ? image_of_available(cluster_version, request.version) : request.image;
  const Result<release::Reference> reference = release::parse_reference(image);
  return reference.ok() && reference->digest ? image : "";
}

UpdateStep next_update_step(const Json& cluster_version, const OwnRelease& own, Mode mode, const Snapshot& seen,
                            const UpdateFacts& facts) {
  Request request = request_of(cluster_version);
  const bool names_own = names(request, own);
  UpdateStep step{
      .acceptance = {"True", "PayloadLoaded", fmt::format("Payload loaded version=\"{}\" image=\"{}\"", own.version, own.image)}};
  if (request.image.empty()) request.image = image_of_available(cluster_version, request.version);
  const std::string pod = pod_name(request.image);
  for (const Json* each : seen.list(kube::types::pods, own_namespace)) {
    if (names_own || kube::name_of(*each) != pod) step.remove_pods.emplace_back(kube::name_of(*each));
  }
  if (names_own) return step;
  if (mode == Mode::initializing) return refused(std::move(step), "Initializing", "the installation is not complete yet");
  if (request.image.empty()) {
    return refused(std::move(step), "InvalidClusterVersion",
                   fmt::format("spec.desiredUpdate: version {} is not in status.availableUpdates (set spec.desiredUpdate.image)",
                               request.version));
  }
  const Result<release::Reference> reference = release::parse_reference(request.image);
  if (!reference.ok()) return refused(std::move(step), "RetrievePayload", "spec.desiredUpdate: " + reference.error().message());
  if (!reference->digest) {
    return refused(
        std::move(step), "RetrievePayload",
        fmt::format("spec.desiredUpdate: image {} has no digest; only a digest says which release it is", request.image));
  }
  const std::string name = name_of_request(request);
  step.acceptance = {"Unknown", "RetrievePayload", fmt::format("Retrieving and verifying payload {}", name)};
  std::vector<std::string> skipped;  // failed checks that force skips
  Verification verification;
  if (!own.keys.empty()) verification = verify_image(request.image, *reference->digest, own.keys, seen, facts.signatures);
  if (verification.is_open) return step;
  if (!verification.problem.empty()) {
    const std::string problem = fmt::format("The update cannot be verified: {}", verification.problem);
    if (!request.is_forced) return refused(std::move(step), "RetrievePayload", problem);
    skipped.push_back(problem);
  }
  const Json* reader = seen.find(kube::types::pods, own_namespace, pod);
  if (!reader) {
    step.create_pod = payload_pod(request, own.node);
    return step;
  }
  const Retrieval retrieval = read_pod(*reader);
  if (!retrieval.failure.empty()) {
    return refused(std::move(step), "RetrievePayload", fmt::format("Retrieving payload {} failed: {}", name, retrieval.failure));
  }
  if (!retrieval.payload) return step;
  const Payload& payload = *retrieval.payload;
  if (!request.version.empty() && payload.version != request.version) {
    return refused(
        std::move(step), "VerifyPayloadVersion",
        fmt::format("image {} is version {}, but version {} is asked for", request.image, payload.version, request.version));
  }
  if (verification.verified && verification.verified->version != payload.version) {
    return refused(std::move(step), "VerifyPayloadVersion",
                   fmt::format("image {} is version {}, but its signature says version {}", request.image, payload.version,
                               verification.verified->version));
  }
  const std::vector<std::string> failed = failed_preconditions(cluster_version, own, payload, seen, facts);
  if (!failed.empty() && !request.is_forced) {
    return refused(std::move(step), "PreconditionChecks",
                   fmt::format("Preconditions failed for payload version {}: {}", payload.version, join(failed, "; ")));
  }
  skipped.insert(skipped.end(), failed.begin(), failed.end());
  std::string accepted = fmt::format("Payload loaded version=\"{}\" image=\"{}\"", payload.version, request.image);
  if (own.keys.empty()) accepted += fmt::format("; not verified, because release {} has no keys to verify others", own.version);
  step.acceptance = {"True", "PayloadLoaded", std::move(accepted)};
  step.hand_over =
      HandOver{.image = request.image, .is_verified = verification.verified.has_value(), .accepted_risks = join(skipped, "\n")};
  return step;
}

Result<Json> with_release(Json deployment, const HandOver& hand_over) {
  bool is_changed = false;
  if (!find_array(deployment, {"spec", "template", "spec", "containers"}).empty()) {
    for (Json& container : deployment.at("spec").at("template").at("spec").at("containers").get_array()) {
      is_changed = set_release_image(container, hand_over.image) || is_changed;
    }
  }
  if (!is_changed) return error(Code::invalid, "Deployment {} has no container with {}", own_deployment, image_flag);
  JsonObject annotations = find_object(deployment, {"metadata", "annotations"});
  const Json record = {
      {"image", hand_over.image}, {"verified", hand_over.is_verified}, {"acceptedRisks", hand_over.accepted_risks}};
  annotations[hand_over_annotation] = emit_json(record, JsonStyle::compact);
  JsonObject metadata = find_object(deployment, {"metadata"});
  metadata["annotations"] = std::move(annotations);
  deployment.as_object()["metadata"] = std::move(metadata);
  return deployment;
}

HandOver hand_over_of(const Snapshot& seen, const std::string& image) {
  const HandOver unknown{.image = image};
  const Json* deployment = seen.find(kube::types::deployments, own_namespace, own_deployment);
  const auto text = deployment ? find_string(*deployment, {"metadata", "annotations", hand_over_annotation}) : std::nullopt;
  if (!text) return unknown;
  const Result<Json> record = parse_json(*text, hand_over_annotation);
  if (!record.ok() || text_of(record.value(), {"image"}) != image) return unknown;
  const Json* verified = find(record.value(), {"verified"});
  return {.image = image,
          .is_verified = verified && *verified == Json(true),
          .accepted_risks = text_of(record.value(), {"acceptedRisks"})};
}

}  // namespace slipway::components::cluster_version
