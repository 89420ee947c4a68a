#include "cluster/upgrade.h"

#include "base/digest.h"
#include "base/text.h"
#include "cluster/upgrade_report.h"
#include "kube/conditions.h"
#include "release/reference.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

namespace slipway::cluster {

namespace {

constexpr std::string_view object_name = "version";

// Large clusters update for hours: what ends a wait is trouble, not time.
constexpr Milliseconds longest_upgrade = std::chrono::hours(24);
// Operators are briefly unavailable while they and the API server restart.
constexpr Milliseconds longest_trouble = Seconds(10 * 60);

// The update of `updates` with this version or image; null if there is none.
const Json* find_update(const JsonArray& updates, std::initializer_list<std::string_view> parent, const std::string& to) {
  for (const Json& update : updates) {
    const Json* release = find(update, parent);
    if (release && (text_of(*release, {"version"}) == to || text_of(*release, {"image"}) == to)) return &update;
  }
  return nullptr;
}

UpgradeTarget target_of(const Json& release) { return {text_of(release, {"image"}), text_of(release, {"version"})}; }

Result<UpgradeTarget> find_target(const Json& cluster_version, const UpgradeRequest& request) {
  const JsonArray& available = find_array(cluster_version, {"status", "availableUpdates"});
  const JsonArray& conditional = find_array(cluster_version, {"status", "conditionalUpdates"});
  if (const Json* update = find_update(available, {}, request.to)) return target_of(*update);
  if (const Json* update = find_update(conditional, {"release"}, request.to)) {
    if (request.takes_not_recommended) return target_of(update->at("release"));
    // Conditions of an update are not below "status".
    const Json conditions = {{"status", {{"conditions", find_array(*update, {"conditions"})}}}};
    return error(Code::conflict, "--to {}: this update is not recommended: {} (add --allow-not-recommended to request it anyway)",
                 request.to, reason_and_message(conditions, "Recommended"));
  }
  if (request.to.find_first_of("/@") != std::string::npos) {
    const release::Reference reference = TRY(release::parse_reference(request.to).context("--to"));
    if (reference.digest) return UpgradeTarget{request.to};
    return error(Code::invalid, "--to {}: must name the release by digest (`slipway release info {}` prints it)", request.to,
                 request.to);
  }
  std::vector<std::string> versions;
  for (const Json& update : available) versions.push_back(text_of(update, {"version"}));
  return error(Code::not_found, "--to {}: not one of the available updates ({})", request.to,
               versions.empty() ? "there are none; name a release image by digest" : join(versions, ", "));
}

std::string verdict_of(const Json& cluster_version) {
  return fmt::format("{} {} {}", kube::condition_status(cluster_version, "ReleaseAccepted"),
                     kube::condition_text(cluster_version, "ReleaseAccepted", "lastTransitionTime"),
                     reason_and_message(cluster_version, "ReleaseAccepted"));
}

std::string requested_image(const Json& cluster_version) { return text_of(cluster_version, {"spec", "desiredUpdate", "image"}); }

// Whether the pool's machines have the config that it has now, and its status is not that of an earlier config.
bool is_updated(const Json& pool) {
  const bool is_observed = integer_of(pool, {"status", "observedGeneration"}) == integer_of(pool, {"metadata", "generation"}) &&
                           text_of(pool, {"status", "configuration", "name"}) == text_of(pool, {"spec", "configuration", "name"});
  return is_observed && kube::condition_status(pool, "Updated") == "True";
}

// Whether the operator asks the registry again. A signature that is missing or wrong does not come by itself.
bool is_asked_again(const Json& cluster_version) {
  if (kube::condition_text(cluster_version, "ReleaseAccepted", "reason") != "RetrievePayload") return false;
  const std::string_view message = kube::condition_text(cluster_version, "ReleaseAccepted", "message");
  return message.find("cannot be verified") == std::string_view::npos || message.find("cannot be read") != std::string_view::npos;
}

using View = std::function<UpgradeView(const kube::Objects&)>;

// Waits until `view` is done. Trouble must end within its own limit.
Result<> wait_for_view(const sys::Context& context, kube::Api& api, std::string_view what, const kube::ResourceType& type,
                       const kube::Selection& selection, const View& view) {
  const SteadyTime deadline = context.clock.steady() + longest_upgrade;
  std::string logged;
  for (bool was_in_trouble = false;; was_in_trouble = !was_in_trouble) {
    UpgradeView seen{UpgradeView::State::waits, ""};
    const auto missing = [&](const kube::Objects& objects) -> Result<std::optional<std::string>> {
      seen = view(objects);
      if (seen.state == UpgradeView::State::failed) return error(Code::invalid, "{}", seen.message);
      if (seen.message != logged && !seen.message.empty()) context.log.info("{}", seen.message);
      logged = seen.message;
      const bool is_in_trouble = seen.state == UpgradeView::State::is_in_trouble;
      if (seen.state == UpgradeView::State::done || is_in_trouble != was_in_trouble) return std::optional<std::string>();
      return std::optional<std::string>(seen.message);
    };
    const Milliseconds remaining = std::chrono::duration_cast<Milliseconds>(deadline - context.clock.steady());
    TRY(kube::wait_until(context, api, what, was_in_trouble ? std::min(remaining, longest_trouble) : remaining, type, "",
                         selection, missing));
    if (seen.state == UpgradeView::State::done) return Ok{};
  }
}

}  // namespace

std::vector<std::string> upgrade_warnings(const Json& cluster_version) {
  struct Row {
    std::string_view condition;
    std::string_view meaning;
  };
  static constexpr Row rows[] = {{"Invalid", "ClusterVersion version is invalid"},
                                 {"Failing", "the cluster reports an error"},
                                 {"Progressing", "the cluster is already updating"}};
  std::vector<std::string> warnings;
  for (const Row& row : rows) {
    if (kube::condition_status(cluster_version, row.condition) != "True") continue;
    warnings.push_back(
        fmt::format("{}: {}={}: {}", row.meaning, row.condition, "True", reason_and_message(cluster_version, row.condition)));
  }
  return warnings;
}

Result<UpgradeTarget> choose_target(const Json& cluster_version, const UpgradeRequest& request) {
  UpgradeTarget target = TRY(find_target(cluster_version, request));
  const std::vector<std::string> warnings = upgrade_warnings(cluster_version);
  if (warnings.empty() || request.ignores_warnings) return target;
  return error(Code::conflict, "{} (add --allow-upgrade-with-warnings to request the update anyway)", join(warnings, "; "));
}

Json desired_update_patch(const UpgradeTarget& target, bool is_forced) {
  // null removes what an earlier request has set.
  const Json version = target.version.empty() ? Json() : Json(target.version);
  return {{"spec",
           {{"desiredUpdate",
             {{"image", target.image},
              {"version", version},
              {"force", is_forced ? Json(true) : Json()},
              {"architecture", Json()}}}}}};
}

Result<Json> read_cluster_version(const sys::Context& context, kube::Api& api) {
  return kube::get(context, api, kube::types::cluster_versions, "", object_name);
}

Result<PendingUpgrade> request_upgrade(const sys::Context& context, kube::Api& api, const UpgradeTarget& target, bool is_forced) {
  const Json before = TRY(read_cluster_version(context, api));
  const Json after = TRY(
      kube::merge_patch(context, api, kube::types::cluster_versions, "", object_name, desired_update_patch(target, is_forced)));
  PendingUpgrade pending{.target = target, .generation = integer_of(after, {"metadata", "generation"})};
  if (pending.generation != integer_of(before, {"metadata", "generation"})) pending.verdict = verdict_of(before);
  return pending;
}

PendingUpgrade pending_upgrade(const Json& cluster_version) {
  const Json* requested = find(cluster_version, {"spec", "desiredUpdate"});
  const Json* desired = find(cluster_version, {"status", "desired"});
  const bool is_requested = !requested_image(cluster_version).empty();
  UpgradeTarget target;
  if (is_requested) {
    target = target_of(*requested);
  } else if (desired) {
    target = target_of(*desired);
  }
  return {.target = std::move(target), .generation = integer_of(cluster_version, {"metadata", "generation"})};
}

Result<> store_signatures(const sys::Context& context, kube::Api& api, const release::Digest& digest,
                          const std::vector<std::string>& envelopes) {
  if (envelopes.empty()) return Ok{};
  JsonObject data;
  for (std::size_t i = 0; i < envelopes.size(); ++i)
    data[fmt::format("sha256-{}-{}", digest.hex(), i + 1)] = base64_encode(envelopes[i]);
  const Json object = {{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata",
                        {{"name", "sha256-" + digest.hex()},
                         {"namespace", "openshift-config-managed"},
                         {"labels", {{"release.openshift.io/verification-signatures", ""}}}}},
                       {"binaryData", std::move(data)}};
  TRY(kube::apply(context, api, kube::types::config_maps, object, "slipway").context("storing the signatures of the release"));
  return Ok{};
}

Result<std::string> clear_upgrade(const sys::Context& context, kube::Api& api) {
  const Json before = TRY(read_cluster_version(context, api));
  const Json* requested = find(before, {"spec", "desiredUpdate"});
  if (!requested || requested->is_null()) return std::string("info: No update in progress\n");
  const UpgradeTarget target = target_of(*requested);
  TRY(kube::merge_patch(context, api, kube::types::cluster_versions, "", object_name, {{"spec", {{"desiredUpdate", nullptr}}}}));
  const Json* desired = find(before, {"status", "desired"});
  if (desired && text_of(*desired, {"image"}) == target.image)
    return fmt::format("Cleared the update field, still at {}\n", target_of(*desired).name());
  return fmt::format("Cancelled requested update to {}\n", target.name());
}

UpgradeView view_upgrade(const Json& cluster_version, const PendingUpgrade& pending) {
  using State = UpgradeView::State;
  const std::string& image = pending.target.image;
  const JsonArray& history = find_array(cluster_version, {"status", "history"});
  if (!history.empty() && text_of(history.front(), {"image"}) == image && text_of(history.front(), {"state"}) == "Completed")
    return {State::done, fmt::format("Cluster version is {}", text_of(history.front(), {"version"}))};

  const std::string requested = requested_image(cluster_version);
  const bool is_current = text_of(cluster_version, {"status", "desired", "image"}) == image;
  if (!requested.empty() && requested != image)
    return {State::failed, fmt::format("{} was requested instead of {}", requested, image)};
  if (requested.empty() && !is_current)
    return {State::failed, fmt::format("the request of {} was removed", pending.target.name())};

  const bool is_answered = integer_of(cluster_version, {"status", "observedGeneration"}) >= pending.generation ||
                           verdict_of(cluster_version) != pending.verdict;
  const std::string_view accepted = kube::condition_status(cluster_version, "ReleaseAccepted");
  const std::string verdict =
      fmt::format("ReleaseAccepted={}: {}", accepted, reason_and_message(cluster_version, "ReleaseAccepted"));
  if (accepted == "False" && is_answered) {
    return {is_asked_again(cluster_version) ? State::is_in_trouble : State::failed, verdict};
  }
  if (kube::condition_status(cluster_version, "Failing") == "True")
    return {State::is_in_trouble, fmt::format("Failing=True: {}", reason_and_message(cluster_version, "Failing"))};
  if (!accepted.empty() && accepted != "True" && is_answered) return {State::waits, verdict};
  const std::string_view progress = kube::condition_text(cluster_version, "Progressing", "message");
  if (!is_current || progress.empty())
    return {State::waits, fmt::format("{} is requested, waiting for the cluster-version operator", pending.target.name())};
  return {State::waits, std::string(progress)};
}

UpgradeView view_pools(const std::vector<Json>& pools) {
  using State = UpgradeView::State;
  State state = State::done;
  std::vector<std::string> messages;
  for (const Json& pool : pools) {
    if (is_updated(pool)) continue;
    const std::string_view name = kube::name_of(pool);
    if (kube::condition_status(pool, "Degraded") == "True") {
      state = State::is_in_trouble;
      messages.push_back(fmt::format("pool {}: Degraded: {}", name, kube::condition_text(pool, "Degraded", "message")));
    } else if (is_true(pool, {"spec", "paused"})) {
      messages.push_back(fmt::format("pool {}: paused, its machines keep their config", name));
    } else {
      if (state == State::done) state = State::waits;
      const std::string_view message = kube::condition_text(pool, "Updating", "message");
      messages.push_back(fmt::format("pool {}: {}", name, message.empty() ? "is not updated yet" : message));
    }
  }
  return {state, join(messages, "; ")};
}

Result<> wait_for_upgrade(const sys::Context& context, kube::Api& api, const PendingUpgrade& pending) {
  const std::string what = fmt::format("the update to {}", pending.target.name());
  TRY(wait_for_view(context, api, what, kube::types::cluster_versions, {.fields = fmt::format("metadata.name={}", object_name)},
                    [&](const kube::Objects& found) {
                      if (!found.empty()) return view_upgrade(found.front(), pending);
                      return UpgradeView{UpgradeView::State::waits, "ClusterVersion version: not found"};
                    }));
  return wait_for_view(context, api, "the machines to be updated", kube::types::machine_config_pools, {}, view_pools);
}

}  // namespace slipway::cluster
