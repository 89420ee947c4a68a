#include "components/cluster_version/reconciler.h"

#include "base/digest.h"
#include "components/cluster_version/prune.h"
#include "components/cluster_version/release_manifests.h"
#include "kube/contains.h"
#include "kube/ensure.h"
#include "kube/mapper.h"
#include "release/release.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <chrono>

namespace slipway::components::cluster_version {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view manager = "cluster-version-operator";
constexpr std::string_view name = "version";
constexpr Milliseconds sync_interval = 3min;
constexpr Milliseconds first_retry = 1s;
constexpr Milliseconds longest_retry = 15s;
constexpr Milliseconds apply_limit = 1min;
constexpr Milliseconds restore_limit = 10s;
// Infrastructure and FeatureGate are among the first objects that the bootstrap machine creates.
constexpr Milliseconds config_limit = 5min;
// Limit for the control plane to stop progressing after it is available. If an API server does not start on one master, the other
// workloads, for example the network, must still be applied.
constexpr Milliseconds settle_limit = 30s;
// Minimum intervals: for restoring an object that another client keeps changing, and for writing the status.
constexpr Milliseconds restore_interval = 1s;
constexpr Milliseconds report_interval = 1s;
// How long requests may fail with errors that pass by themselves before that is a failure: an API server that restarts refuses
// requests for some seconds.
constexpr Milliseconds transient_limit = 1min;
// How long updates stay known after the update service answered last.
constexpr Milliseconds keep_updates = 24h;
constexpr Milliseconds signature_interval = 1min;

// Types with few objects that rarely change, and types whose objects users miss first. CustomResourceDefinitions would be
// megabytes, and most Secrets and ConfigMaps do not belong to the release.
const std::vector<Watched> watched_types = {
    {.type = kube::types::cluster_versions, .selection = {.fields = "metadata.name=version"}},
    {.type = kube::types::infrastructures, .selection = {.fields = "metadata.name=cluster"}},
    {.type = kube::types::feature_gates, .selection = {.fields = "metadata.name=cluster"}},
    {.type = kube::types::cluster_operators},
    {.type = kube::types::namespaces},
    {.type = kube::types::cluster_role_bindings},
    {.type = kube::types::deployments},
    {.type = kube::types::daemon_sets},
    {.type = kube::types::pods, .space = std::string(own_namespace), .selection = {.labels = std::string(payload_pods)}},
    {.type = kube::types::config_maps,
     .space = std::string(signature_namespace),
     .selection = {.labels = std::string(signature_label)}},
    {.type = kube::types::config_maps,
     .space = std::string(backup_namespace),
     .selection = {.fields = fmt::format("metadata.name={}", backup_record)}},
};

std::optional<kube::ResourceType> watched_type(const Json& object) {
  for (const Watched& watched : watched_types) {
    if (!watched.space.empty()) continue;  // not all objects of the type
    if (find_string(object, {"kind"}) == watched.type.kind && find_string(object, {"apiVersion"}) == watched.type.api_version()) {
      return watched.type;
    }
  }
  return {};
}

std::optional<Json> copy(const Json* object) { return object ? std::optional(*object) : std::nullopt; }

std::string number_text(const Json& object, std::initializer_list<std::string_view> keys) {
  const Json* value = find(object, keys);
  return value ? emit_json(*value, JsonStyle::compact) : "";
}

// Identifies the specification of an object: changes when the specification changes.
std::string state_of(const Json* object) {
  if (!object) return "";
  const std::string generation = number_text(*object, {"metadata", "generation"});
  return fmt::format("{}/{}", find_string(*object, {"metadata", "uid"}).value_or(""),
                     generation.empty() ? find_string(*object, {"metadata", "resourceVersion"}).value_or("") : generation);
}

std::string hash_of(const ApplyPlan& plan) {
  Sha256 hash;
  for (const std::vector<kube::Manifest>* list : {&plan.apply, &plan.create}) {
    for (const kube::Manifest& manifest : *list) hash.update(emit_json(manifest.object, JsonStyle::compact));
  }
  return hash.finish_hex().substr(0, 16);
}

}  // namespace

Reconciler::Reconciler(kube::Api& api, const ReleaseContent& release, FetchGraph fetch_graph, ReadSignatures read_signatures)
    : api_(api),
      release_(release),
      fetch_graph_(std::move(fetch_graph)),
      read_signatures_(std::move(read_signatures)),
      own_{.version = release.version, .image = release.image, .node = release.node, .keys = trusted_keys(release.manifests)} {}

Result<> Reconciler::run(const sys::Context& context) {
  sys::TaskGroup tasks(context);
  tasks.run("watching the release", [this](const sys::Context& task) { return view_.follow(task, api_, watched_types); });
  tasks.run("retrieving updates", [this](const sys::Context& task) { return retrieve_until_stopped(task); });
  if (!own_.keys.empty()) {
    tasks.run("reading signatures", [this](const sys::Context& task) { return read_signatures_until_stopped(task); });
  }
  tasks.run("applying the release", [this](const sys::Context& task) { return apply_until_stopped(task); });
  return tasks.wait();
}

Result<> Reconciler::retrieve_until_stopped(const sys::Context& context) {
  std::optional<GraphRequest> asked;
  SteadyTime next{}, retrieved{};
  while (!context.stop.stop_requested()) {
    const std::uint64_t seen = view_.changed().count();
    const Snapshot snapshot = view_.snapshot();
    const Json* cluster_version = snapshot.find(kube::types::cluster_versions, "", name);
    const SteadyTime now = context.clock.steady();
    if (cluster_version) {
      const GraphRequest request = graph_request(*cluster_version, release_.version, release::machine_architecture());
      if (request != asked || now >= next) {
        KnownUpdates known = retrieve(context, request);
        if (known.is_retrieved) retrieved = context.clock.steady();
        const bool keeps_lists = !known.is_retrieved && request == asked && now <= retrieved + keep_updates;
        const bool is_other = known_updates_.with_lock([&](KnownUpdates& current) {
          if (keeps_lists) {
            known.available = current.available;
            known.conditional = current.conditional;
          }
          const bool differs = !(current == known);
          current = std::move(known);
          return differs;
        });
        asked = request;
        next = context.clock.steady() + sync_interval;
        if (is_other) view_.changed().notify();
      }
    }
    context.clock.wait(cluster_version ? next : now + sync_interval, context.stop, &view_.changed(), seen);
  }
  return error(Code::cancelled, "stopped");
}

KnownUpdates Reconciler::retrieve(const sys::Context& context, const GraphRequest& request) {
  if (request.url.empty()) return {.reason = request.reason, .message = request.message};
  const Result<std::string> answer = fetch_graph_(context, request.url);
  if (!answer.ok()) return {.reason = "RemoteFailed", .message = answer.error().message()};
  return read_graph(answer.value(), release_.version);
}

// In a thread of its own, because a registry that does not answer must not stop the rest.
Result<> Reconciler::read_signatures_until_stopped(const sys::Context& context) {
  SteadyTime next{};
  std::string asked;
  while (!context.stop.stop_requested()) {
    const std::uint64_t seen = view_.changed().count();
    const Snapshot snapshot = view_.snapshot();
    const Json* cluster_version = snapshot.find(kube::types::cluster_versions, "", name);
    const std::string image = cluster_version ? image_to_verify(*cluster_version, own_) : "";
    const SteadyTime now = context.clock.steady();
    if (!image.empty() && (image != asked || now >= next)) {
      FoundSignatures found{.image = image};
      Result<std::vector<std::string>> envelopes = read_signatures_(context, image);
      if (envelopes.ok())
        found.envelopes = std::move(envelopes).value();
      else
        found.failure = envelopes.error().message();
      asked = image;
      next = context.clock.steady() + signature_interval;
      const bool is_other = found_signatures_.with_lock([&](FoundSignatures& known) {
        const bool differs = !(known == found);
        known = std::move(found);
        return differs;
      });
      if (is_other) view_.changed().notify();
    }
    context.clock.wait(image.empty() ? now + sync_interval : next, context.stop, &view_.changed(), seen);
  }
  return error(Code::cancelled, "stopped");
}

Result<> Reconciler::apply_until_stopped(const sys::Context& context) {
  started_ = context.clock.steady();
  while (!context.stop.stop_requested()) {
    const std::uint64_t seen = view_.changed().count();
    const SteadyTime begin = context.clock.steady();
    const SteadyTime next = reconcile_once(context);
    if (Metrics* metrics = api_.metrics()) {
      const std::chrono::duration<double> took = context.clock.steady() - begin;
      metrics->add(Metric::reconciles, {{"controller", name}, {"result", failure_ ? "failed" : "done"}});
      metrics->add(Metric::reconcile_seconds, {{"controller", name}}, took.count());
    }
    context.clock.wait(next, context.stop, &view_.changed(), seen);
  }
  return error(Code::cancelled, "stopped");
}

// returns: when to call it again if nothing changes
SteadyTime Reconciler::reconcile_once(const sys::Context& context) {
  const Snapshot seen = view_.snapshot();
  const SteadyTime now = context.clock.steady();
  const Json* cluster_version = seen.find(kube::types::cluster_versions, "", name);
  if (!cluster_version) return now + sync_interval;
  // Waits for the API's address and the feature gates. Without the address, Deployments would get the address of an API server
  // that
  // does not exist. Without the gates, the manifests of another feature set would apply.
  const PlanInputs inputs = inputs_of(seen, *cluster_version);
  const Mode mode = mode_of(*cluster_version, release_.version, release_.image);
  // During an update, an operator of the new version writes the gates of that version, so earlier gates are accepted.
  const bool knows_gates = mode == Mode::initializing ? inputs.has_gates : !inputs.gates.empty();
  if ((!inputs.api_host || !knows_gates) && now < started_ + config_limit) return started_ + config_limit;

  update(context, *cluster_version, mode, seen);
  if (has_handed_over_) {
    report(context, *cluster_version, unmet_gates(current_gates(), mode_, seen));
    return now + sync_interval;
  }

  if (inputs_ != inputs || now >= due_) {
    plan_steps(seen, *cluster_version, inputs, now);
  } else if (mode == Mode::reconciling) {
    mode_ = mode;
  }
  SteadyTime next = due_;
  if (applied_ == steps_.size()) next = std::min(next, restore(context, seen));
  next = std::min(next, apply_steps(context));
  const std::vector<UnmetGate> unmet = unmet_gates(current_gates(), mode_, view_.snapshot());
  next = std::min(next, report(context, *cluster_version, unmet));
  return std::min(next, due_);
}

// Failures are repeated at the next call, which the status of ClusterVersion or the sync interval brings.
void Reconciler::update(const sys::Context& context, const Json& cluster_version, Mode mode, const Snapshot& seen) {
  not_upgradeable_ = find_not_upgradeable(seen);
  hand_over_ = hand_over_of(seen, release_.image);
  if (!view_.is_complete()) return;
  UpdateFacts facts{.signatures = found_signatures_.with_lock([](const FoundSignatures& found) { return found; }),
                    .now = context.clock.now()};
  UpdateStep step = next_update_step(cluster_version, own_, mode, seen, facts);
  if (step.hand_over) {
    // Nodes are read only now, since their heartbeats would wake this program all the time.
    const Result<kube::Objects> nodes = kube::list(context, api_, kube::types::nodes, "");
    if (!nodes.ok()) {
      context.log.warn("{}; the update waits", nodes.error().message());
      return;
    }
    for (const Json& node : nodes.value()) facts.nodes.push_back(&node);
    step = next_update_step(cluster_version, own_, mode, seen, facts);
  }
  if (step.acceptance != acceptance_) context.log.info("ReleaseAccepted={}: {}", step.acceptance.status, step.acceptance.message);
  acceptance_ = step.acceptance;
  if (const Result<> acted = act(context, step); !acted.ok()) {
    if (!context.stop.stop_requested())
      context.log.warn("{}; retrying in {}", acted.error().message(), human_duration(first_retry));
    due_ = std::min(due_, context.clock.steady() + first_retry);
  }
}

Result<> Reconciler::act(const sys::Context& context, const UpdateStep& step) {
  for (const std::string& pod : step.remove_pods) {
    TRY(kube::remove(context, api_, kube::types::pods, own_namespace, pod));
    view_.remove(kube::types::pods, own_namespace, pod);
  }
  if (step.create_pod) {
    Result<Json> made = kube::create(context, api_, kube::types::pods, *step.create_pod);
    if (!made.ok() && made.error().code() != Code::conflict) return made.error();
    if (made.ok()) view_.put(std::move(made).value());
  }
  if (!step.hand_over || has_handed_over_) return Ok{};
  const Json live = TRY(kube::get(context, api_, kube::types::deployments, own_namespace, own_deployment));
  const Json wanted = TRY(with_release(live, *step.hand_over));
  TRY(kube::update(context, api_, kube::types::deployments, wanted));
  has_handed_over_ = true;
  context.log.info("the Deployment of this program has image {}; its next pod applies that release", step.hand_over->image);
  return Ok{};
}

Reconciler::PlanInputs Reconciler::inputs_of(const Snapshot& seen, const Json& cluster_version) const {
  PlanInputs inputs{.generation = number_text(cluster_version, {"metadata", "generation"})};
  if (const Json* gate = seen.find(kube::types::feature_gates, "", "cluster")) {
    const JsonArray& versions = find_array(*gate, {"status", "featureGates"});
    inputs.gates = emit_json(find_object(*gate, {"spec"}), JsonStyle::compact) + emit_json(versions, JsonStyle::compact);
    inputs.has_gates =
        std::ranges::any_of(versions, [&](const Json& each) { return find_string(each, {"version"}) == release_.version; });
  }
  const Json* infrastructure = seen.find(kube::types::infrastructures, "", "cluster");
  if (infrastructure) inputs.api_host = internal_api_host(*infrastructure);
  return inputs;
}

// Plans all steps from the beginning. Keeps the current steps if the plan is the same and not due.
void Reconciler::plan_steps(const Snapshot& seen, const Json& cluster_version, const PlanInputs& inputs, SteadyTime now) {
  const bool is_other = inputs_ != inputs;
  inputs_ = inputs;
  ManifestFilter filter =
      filter_of(copy(seen.find(kube::types::feature_gates, "", "cluster")), cluster_version, release_.version, release_.profile);
  filter.exclude_id = release_.exclude_id;
  ApplyPlan plan = plan_apply(release_.manifests, filter, cluster_version, inputs.api_host);
  const Mode mode = mode_of(cluster_version, release_.version, release_.image);
  const std::string hash = is_other ? hash_of(plan) : hash_;
  if (now < due_ && mode == mode_ && hash == hash_ && plan.overridden == overridden_) return;
  mode_ = mode;
  total_ = plan.size();
  done_ = 0;
  overridden_ = plan.overridden;
  if (is_other) {
    hash_ = hash;
    retry_ = first_retry;
    watched_.clear();
    attempts_.clear();
    for (const kube::Manifest& manifest : plan.apply) {
      if (watched_type(manifest.object)) watched_.push_back({manifest.name, manifest.object});
    }
  }
  steps_.clear();
  if (mode_ == Mode::updating) {
    steps_ = by_run_level(std::move(plan));
  } else if (mode_ == Mode::initializing) {
    steps_ = control_plane_first(std::move(plan));
  } else {
    steps_.push_back(std::move(plan));
  }
  applied_ = 0;
  failure_.reset();
  due_ = now + sync_interval;
}

// When to check again whether the next step may begin; nothing: it may begin now.
std::optional<SteadyTime> Reconciler::not_before(SteadyTime now) {
  if (applied_ == 0) return {};
  const std::vector<Gate> gates = current_gates();
  const Snapshot seen = view_.snapshot();
  if (!unmet_gates(gates, mode_, seen).empty()) {
    met_since_.reset();
    return due_;
  }
  if (!met_since_) met_since_ = now;
  const SteadyTime end = *met_since_ + settle_limit;
  if (mode_ != Mode::initializing || now >= end || at_rest(gates, seen)) return {};
  return end;
}

// Applies the next steps while the gates of earlier steps are met. returns: when to call it again if nothing changes
SteadyTime Reconciler::apply_steps(const sys::Context& context) {
  while (applied_ < steps_.size() && !context.stop.stop_requested()) {
    const SteadyTime start = context.clock.steady();
    if (const std::optional<SteadyTime> later = not_before(start)) return *later;
    if (failure_) break;  // the retry is not due yet
    const Result<> applied = apply(context, steps_[applied_]);
    if (!applied.ok()) {
      if (context.stop.stop_requested()) break;
      context.log.warn("{}; retrying in {}", applied.error().message(), human_duration(retry_));
      failure_ = applied.error();
      if (!failing_since_) failing_since_ = context.clock.steady();
      due_ = context.clock.steady() + retry_;
      retry_ = std::min(retry_ * 2, longest_retry);
      break;
    }
    retry_ = first_retry;
    failing_since_.reset();
    steps_[applied_] = ApplyPlan{.apply = {}, .create = {}, .remove = {}, .gates = std::move(steps_[applied_].gates)};
    ++applied_;
    context.log.info("{} of {} manifests of version {} are applied, {} are managed by others, after {}", done_, total_,
                     release_.version, overridden_, human_duration(context.clock.steady() - start));
  }
  return due_;
}

// Creates `create` after `apply`, because its objects may have types that `apply` defines.
Result<> Reconciler::apply(const sys::Context& context, const ApplyPlan& step) {
  kube::Mapper mapper(api_);
  const auto on_outcome = [&](const kube::Manifest& manifest, const kube::Outcome& outcome) {
    if (outcome.kind == kube::Outcome::Kind::failed) {
      context.log.warn("{} is refused: {}", manifest.name, outcome.detail);
    } else if (outcome.kind == kube::Outcome::Kind::waits) {
      context.log.warn("{} waits: {}", manifest.name, outcome.detail);
    } else {
      ++done_;
    }
  };
  const std::string owner(manager);
  const Result<> applied =
      kube::ensure_all(context, api_, mapper, step.apply, {.update = true, .manager = owner, .limit = apply_limit}, on_outcome);
  const Result<> made =
      kube::ensure_all(context, api_, mapper, step.create, {.update = false, .manager = owner, .limit = apply_limit}, on_outcome);
  if (!applied.ok()) return applied;
  if (!made.ok()) return made;
  for (const kube::Manifest& manifest : step.remove) {
    const std::optional<std::string> kept = TRY(prune(context, api_, mapper, manifest.object));
    if (kept) context.log.warn("{}: {} is not removed: {}", manifest.name, kube::describe(manifest.object), *kept);
    ++done_;
  }
  return Ok{};
}

// Restores watched objects that differ from their manifests. returns: when to call it again
SteadyTime Reconciler::restore(const sys::Context& context, const Snapshot& seen) {
  if (!view_.is_complete()) return due_;
  const SteadyTime now = context.clock.steady();
  SteadyTime again = due_;
  std::vector<kube::Manifest> wanted;
  for (const Manifest& manifest : watched_) {
    const kube::ResourceType type = *watched_type(manifest.object);
    const Json* live = seen.find(type, kube::namespace_of(manifest.object), kube::name_of(manifest.object));
    const std::string key = kube::describe(manifest.object);
    const std::optional<std::string> difference = live ? kube::first_difference(manifest.object, *live) : std::nullopt;
    if (live && !difference) {
      attempts_.erase(key);
      continue;
    }
    const std::string state = state_of(live);
    if (const auto tried = attempts_.find(key); tried != attempts_.end()) {
      // The server stores the field in another form, or the view does not have the last write yet.
      if (live && tried->second.state == state) continue;
      if (now < tried->second.at + restore_interval) {
        again = std::min(again, tried->second.at + restore_interval);
        continue;
      }
    }
    attempts_[key] = {state, now};
    if (!live && type == kube::types::namespaces) {
      context.log.info("{} was deleted with its content: all manifests are applied again", key);
      due_ = now;
      return due_;
    }
    context.log.info("{} is restored: {}", key, live ? *difference + " was changed" : "it was deleted");
    wanted.push_back({manifest.path, manifest.object});
  }
  if (wanted.empty()) return again;
  kube::Mapper mapper(api_);
  const Result<> done = kube::ensure_all(context, api_, mapper, std::move(wanted),
                                         {.update = true, .manager = std::string(manager), .limit = restore_limit}, nullptr);
  if (!done.ok() && !context.stop.stop_requested()) {
    context.log.warn("{}; all manifests are applied again in {}", done.error().message(), human_duration(longest_retry));
    due_ = std::min(due_, context.clock.steady() + longest_retry);
  }
  return std::min(again, due_);
}

// The gates of all applied steps.
std::vector<Gate> Reconciler::current_gates() const {
  std::vector<Gate> gates;
  for (std::size_t i = 0; i < applied_; ++i) gates.insert(gates.end(), steps_[i].gates.begin(), steps_[i].gates.end());
  return gates;
}

// Reports progress in ClusterVersion. returns: when to call it again if nothing changes
SteadyTime Reconciler::report(const sys::Context& context, const Json& cluster_version, const std::vector<UnmetGate>& unmet) {
  const SteadyTime now = context.clock.steady();
  std::map<std::string, SteadyTime> since;
  for (const UnmetGate& gate : unmet) {
    const auto known = unmet_since_.find(gate.object);
    since[gate.object] = known == unmet_since_.end() ? now : known->second;
  }
  unmet_since_ = std::move(since);
  const OverdueGate overdue = find_overdue(unmet, unmet_since_, now);
  SteadyTime again = overdue.again.value_or(due_);

  ReleaseProgress progress{.version = release_.version,
                           .image = release_.image,
                           .hash = hash_,
                           .total = total_,
                           .done = done_,
                           .waiting = to_text(unmet),
                           .acceptance = acceptance_,
                           .hand_over = hand_over_,
                           .not_upgradeable = not_upgradeable_,
                           .updates = known_updates_.with_lock([](const KnownUpdates& known) { return known; })};
  const bool is_transient = failure_ && failure_->code() == Code::unavailable && now < *failing_since_ + transient_limit;
  if (is_transient) {
    again = std::min(again, *failing_since_ + transient_limit);
  } else if (failure_) {
    progress.failure = ReleaseFailure{"ManifestsNotApplied", failure_->message()};
  } else if (overdue.reason) {
    progress.failure = ReleaseFailure{*overdue.reason, overdue.message};
  }
  progress.is_complete = !failure_ && applied_ == steps_.size() && unmet.empty();
  // Times in the status only change with conditions, so the same facts give the same status.
  const Json status = next_status(cluster_version, progress, context.clock.now());
  const Json* known = find(cluster_version, {"status"});
  if (known && *known == status) return again;
  // The server stores something in another form: writing it again would not help.
  const std::string_view version = find_string(cluster_version, {"metadata", "resourceVersion"}).value_or("");
  if (status == reported_status_ && version == reported_version_) return again;
  const bool is_pressing = progress.is_complete || reported_ == SteadyTime();
  if (!is_pressing && now < reported_ + report_interval) return std::min(again, reported_ + report_interval);
  reported_ = now;
  reported_status_ = status;
  const Result<> written = write_status(context, progress);
  if (written.ok()) return again;
  if (!context.stop.stop_requested()) context.log.warn("{}", written.error().message());
  return std::min(again, now + report_interval);
}

// Retries with the new object when another client writes at the same time.
Result<> Reconciler::write_status(const sys::Context& context, const ReleaseProgress& progress) {
  const sys::Pace pace{50ms, 1s};
  return sys::wait_for(
      context, "the status of ClusterVersion", 1min,
      [&]() -> Result<sys::Observation> {
        std::optional<Json> object = TRY(kube::find(context, api_, kube::types::cluster_versions, "", name));
        // Another request needs another answer, and the view delivers it.
        const bool is_other = !object || number_text(*object, {"metadata", "generation"}) != inputs_->generation;
        if (is_other) return sys::Observation::done();
        Json status = next_status(*object, progress, context.clock.now());
        const Json* known = find(*object, {"status"});
        if (known && *known == status) return sys::Observation::done();
        object->as_object()["status"] = std::move(status);
        Json written = TRY(kube::update(context, api_, kube::types::cluster_versions, *object, "status"));
        reported_version_ = find_string(written, {"metadata", "resourceVersion"}).value_or("");
        view_.put(std::move(written));
        return sys::Observation::done();
      },
      nullptr, pace);
}

}  // namespace slipway::components::cluster_version
