#include "components/machine_config_operator/os_build_controller.h"

#include "components/controller/bootstrap_complete.h"
#include "components/controller/conditions.h"
#include "components/controller/object_parts.h"
#include "components/machine_config_operator/os_build_objects.h"
#include "kube/conditions.h"
#include "machineconfig/node_annotations.h"
#include "machineconfig/os_build_job.h"
#include "machineconfig/os_build_limits.h"
#include "release/reference.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace slipway::components::machine_config_operator {

namespace {

namespace types = kube::types;
namespace mc = machineconfig;
namespace limits = mc::os_build_limits;

constexpr std::string_view controller_name = "machine-config-controller";
// A Job that is complete has written its result before. The watches of both may deliver them in the other order.
constexpr Milliseconds result_limit{60'000};
constexpr std::string_view pod_pending = "PodPending";
// Of a MachineOSConfig: the build that the annotation `rebuild` has asked for.
constexpr std::string_view without_cache_annotation = "machineconfiguration.openshift.io/build-without-cache";

constexpr std::array<std::pair<BuildPhase, std::string_view>, 5> phase_names = {{{BuildPhase::prepared, "Prepared"},
                                                                                 {BuildPhase::building, "Building"},
                                                                                 {BuildPhase::failed, "Failed"},
                                                                                 {BuildPhase::interrupted, "Interrupted"},
                                                                                 {BuildPhase::succeeded, "Succeeded"}}};

std::string_view to_text(BuildPhase phase) {
  return std::ranges::find(phase_names, phase, &std::pair<BuildPhase, std::string_view>::first)->second;
}

std::string annotation_of(const Json& object, std::string_view key) { return text_of(object, {"metadata", "annotations", key}); }

std::string created_at(const Json& object) { return text_of(object, {"metadata", "creationTimestamp"}); }

std::string image_of(const Json& build) { return text_of(build, {"status", "digestedImagePushSpec"}); }

// Objects of a build in the cluster.
struct BuildObjects {
  const Json* job = nullptr;
  const Json* result = nullptr;
  const Json* pod = nullptr;  // the newest of the Job
  std::vector<const Json*> inputs{};
  std::vector<const Json*> failures{};  // in the order of their creation
  std::vector<const Json*> all{};
};

// By name of the build.
std::map<std::string, BuildObjects, std::less<>> find_objects(const Snapshot& seen) {
  std::map<std::string, BuildObjects, std::less<>> found;
  for (const kube::ResourceType& type : {types::jobs, types::config_maps}) {
    for (const Json* object : seen.list(type, os_build_space)) {
      const std::string build = text_of(*object, {"metadata", "labels", mc::os_build_label});
      if (build.empty()) continue;
      BuildObjects& objects = found[build];
      objects.all.push_back(object);
      if (type == types::jobs) {
        objects.job = object;
      } else if (kube::name_of(*object) == mc::result_name(build)) {
        objects.result = object;
      } else if (mc::parse_failure(*object)) {
        objects.failures.push_back(object);
      } else {
        objects.inputs.push_back(object);
      }
    }
  }
  for (const Json* pod : seen.list(types::pods, os_build_space)) {
    const auto objects = found.find(text_of(*pod, {"metadata", "labels", mc::os_build_label}));
    if (objects == found.end() || is_terminating(*pod)) continue;
    const Json*& newest = objects->second.pod;
    if (!newest || created_at(*newest) < created_at(*pod)) newest = pod;
  }
  for (auto& [name, objects] : found) {
    std::ranges::sort(objects.failures, {}, [](const Json* each) { return created_at(*each); });
  }
  return found;
}

// Why a pod does not start, in one sentence.
std::string why_pending(const Json& pod) {
  std::string why;
  if (kube::condition_status(pod, "PodScheduled") == "False") {
    why = fmt::format("no machine takes it: {}", kube::condition_text(pod, "PodScheduled", "message"));
  }
  for (const Json& container : find_array(pod, {"status", "containerStatuses"})) {
    // "ContainerCreating" says no reason. A volume or an image that is missing has another one, or an event.
    const std::string reason = text_of(container, {"state", "waiting", "reason"});
    if (!why.empty() || reason.empty() || reason == "ContainerCreating") continue;
    why = fmt::format("{}: {}", reason, text_of(container, {"state", "waiting", "message"}));
  }
  const std::string node = text_of(pod, {"spec", "nodeName"});
  if (why.empty())
    why = node.empty() ? "the scheduler has not looked at it" : fmt::format("the kubelet of {} has not started it", node);
  constexpr auto minutes = std::chrono::duration_cast<std::chrono::minutes>(limits::start_of_pod);
  return fmt::format("Pod {} has not started within {} minutes: {}", kube::name_of(pod), minutes.count(), why);
}

// When the pod must have started; nothing if it has.
std::optional<WallTime> start_limit(const Json& pod) {
  const std::string phase = text_of(pod, {"status", "phase"});
  const Result<WallTime> created = parse_rfc3339(created_at(pod));
  if (!created.ok() || (!phase.empty() && phase != "Pending")) return std::nullopt;
  return created.value() + limits::start_of_pod;
}

DesiredObject removal_of(const Json& object) { return {*kube::find_type(object), object, DesiredObject::How::remove}; }

// The state of a build that its objects show.
struct Observed {
  BuildPhase phase = BuildPhase::prepared;
  std::string reason;
  std::string message{};
  std::string image{};  // Succeeded: by digest
  std::optional<WallTime> started{}, ended{};
  std::optional<WallTime> replan_at{};
};

std::string attempts_text(const BuildObjects& objects) {
  if (objects.failures.empty()) return "";
  return fmt::format("attempt {} of {}; the last one failed: {}", objects.failures.size() + 1, limits::retries_of_job + 1,
                     mc::parse_failure(*objects.failures.back())->message);
}

// `has_begun`: the Job had a pod before. A pod that is lost with its machine is not a failure, and the Job no longer shows it.
Observed observe_job(const BuildObjects& objects, const mc::OsBuild& build, bool has_begun, WallTime now) {
  const Json& job = *objects.job;
  const bool is_complete = kube::condition_status(job, "Complete") == "True";
  const bool has_failed = kube::condition_status(job, "Failed") == "True";
  if (objects.result && (is_complete || has_failed)) {
    const Result<mc::OsImage> image = mc::parse_result(*objects.result);
    if (!image.ok()) return {BuildPhase::failed, "ResultInvalid", image.error().message()};
    const Result<release::Reference> reference = release::parse_reference(image->image());
    if (!reference.ok()) return {BuildPhase::failed, "ResultInvalid", reference.error().message()};
    if (image->build.name != build.name || image->build.repository != build.repository)
      return {BuildPhase::failed, "ResultInvalid", fmt::format("the result is that of build {}", image->build.name)};
    return {.phase = BuildPhase::succeeded,
            .reason = "Built",
            .message = image->image(),
            .image = image->image(),
            .started = image->started,
            .ended = image->ended};
  }
  for (const Json* object : objects.failures) {
    const std::optional<mc::BuildFailure> failure = mc::parse_failure(*object);
    if (failure->is_final) return {BuildPhase::failed, "BuildFailed", failure->message};
  }
  if (has_failed) {
    const std::string why(kube::condition_text(job, "Failed", "message"));
    if (objects.failures.empty()) return {BuildPhase::failed, "BuildFailed", why};
    const std::string last = mc::parse_failure(*objects.failures.back())->message;
    return {BuildPhase::failed, "BuildFailed", fmt::format("{}; the last attempt: {}", why, last)};
  }
  if (is_terminating(job)) return {BuildPhase::interrupted, "JobDeleted", "the Job was deleted before its end"};
  if (is_complete) {
    const Result<WallTime> completed = parse_rfc3339(text_of(job, {"status", "completionTime"}));
    const WallTime limit = (completed.ok() ? completed.value() : now) + result_limit;
    if (now >= limit) return {BuildPhase::interrupted, "ResultMissing", "the Job is complete, but wrote no result"};
    return {.phase = BuildPhase::building, .reason = "ResultPending", .replan_at = limit};
  }
  const bool has_pod = integer_of(job, {"status", "active"}) > 0 || integer_of(job, {"status", "failed"}) > 0;
  if (!has_pod && !has_begun) return {BuildPhase::prepared, "JobCreated", "the pod of the build does not exist yet"};
  Observed building{.phase = BuildPhase::building, .reason = "JobRunning", .message = attempts_text(objects)};
  const std::optional<WallTime> limit = objects.pod ? start_limit(*objects.pod) : std::nullopt;
  if (limit && now < *limit) building.replan_at = limit;
  if (limit && now >= *limit) {
    building.reason = pod_pending;
    building.message = why_pending(*objects.pod) + (building.message.empty() ? "" : "; " + building.message);
  }
  return building;
}

// The build with the status. Times are written once; the end is after the start.
Json with_status(const Json& build, const Observed& observed, const Json* job, WallTime now) {
  std::vector<Condition> conditions;
  for (const auto& [phase, name] : phase_names) {
    Condition& condition = conditions.emplace_back(Condition{.type = std::string(name), .is_true = phase == observed.phase});
    if (!condition.is_true) continue;
    condition.reason = observed.reason;
    condition.message = observed.message;
  }
  Json object = with_conditions(build, conditions, now);
  JsonObject& status = object.as_object()["status"].as_object();
  if (job) {
    status["builder"] = {{"imageBuilderType", "Job"},
                         {"job",
                          {{"group", types::jobs.group},
                           {"resource", types::jobs.plural},
                           {"namespace", os_build_space},
                           {"name", kube::name_of(*job)}}}};
  }
  const auto seconds = [](WallTime time) { return std::chrono::floor<Seconds>(time); };
  const bool is_final = observed.phase != BuildPhase::prepared && observed.phase != BuildPhase::building;
  if (!status.contains("buildStart") && (observed.phase != BuildPhase::prepared)) {
    status["buildStart"] = to_rfc3339(seconds(observed.started.value_or(now)));
  }
  if (!status.contains("buildEnd") && is_final) {
    const Result<WallTime> started = parse_rfc3339(text_of(object, {"status", "buildStart"}));
    const WallTime earliest = started.ok() ? started.value() + Seconds(1) : now;
    status["buildEnd"] = to_rfc3339(std::max<WallTime>(seconds(observed.ended.value_or(now)), earliest));
  }
  if (!observed.image.empty()) status["digestedImagePushSpec"] = observed.image;
  return object;
}

// The MachineOSConfig with the image that its pool has from now on.
Json with_image(const Json& os_config, const std::string& image, std::string_view build) {
  Json object = os_config;
  JsonObject& status = object.as_object()["status"].is_object() ? object.as_object()["status"].as_object()
                                                                : object.as_object()["status"].emplace_object();
  status["currentImagePullSpec"] = image;
  status["machineOSBuild"] = {
      {"group", types::machine_os_builds.group}, {"resource", types::machine_os_builds.plural}, {"name", build}};
  if (const Json* generation = find(os_config, {"metadata", "generation"})) status["observedGeneration"] = *generation;
  return object;
}

// The image of the bootstrap machine; nothing if it built none for this pool.
std::optional<mc::OsImage> image_of_bootstrap(const Json* config_map, std::string_view pool) {
  const auto text = config_map ? find_string(*config_map, {"data", pool}) : std::nullopt;
  if (!text) return std::nullopt;
  const Result<Json> value = parse_json(*text, mc::os_images_config_map);
  if (!value.ok()) return std::nullopt;
  const Result<mc::OsImage> image = mc::parse_os_image(value.value(), mc::os_images_config_map);
  if (!image.ok() || !image->is_pushed) return std::nullopt;
  return image.value();
}

// The plan for one MachineOSConfig.
class PoolBuild {
 public:
  struct Inputs {
    const Json& os_config;
    const mc::OsConfig& config;
    const mc::OsBuild& build;
    const BuildObjects& objects;
  };

  PoolBuild(Inputs inputs, const Snapshot& seen, WallTime now, kube::Api& api, View& view, OsBuildsPlan& made)
      : in_(inputs),
        seen_(seen),
        now_(now),
        api_(api),
        view_(view),
        made_(made),
        image_(made.images[inputs.config.pool]),
        object_(seen.find(types::machine_os_builds, "", inputs.build.name)),
        records_(seen.find(types::config_maps, os_build_space, mc::os_images_config_map)) {}

  void plan() {
    if (find(in_.os_config, {"metadata", "annotations", mc::rebuild_annotation})) return rebuild();
    if (!object_) return create();
    image_.waits_for =
        fmt::format("MachineOSBuild {}, which is {}", in_.build.name, to_text(phase_of(*object_).value_or(BuildPhase::prepared)));
    if (is_terminating(*object_)) return;
    switch (phase_of(*object_).value_or(BuildPhase::prepared)) {
      case BuildPhase::succeeded: return use();
      case BuildPhase::failed:
        if (!has_same_logins(*object_, in_.config)) return want(removal_of(*object_));
        image_.problem = fmt::format(
            "MachineOSBuild {} failed: {} (correct the cause, then change the MachineOSConfig or set its "
            "annotation {})",
            in_.build.name, kube::condition_text(*object_, "Failed", "message"), mc::rebuild_annotation);
        if (in_.objects.job && kube::condition_status(*in_.objects.job, "Failed") != "True") want(removal_of(*in_.objects.job));
        return;
      case BuildPhase::interrupted: return want(removal_of(*object_));
      case BuildPhase::prepared:
      case BuildPhase::building: return build();
    }
  }

 private:
  void want(DesiredObject desired) { made_.plan.desired_objects.push_back(std::move(desired)); }

  // Removes everything that knows the image. The annotation goes last.
  void rebuild() {
    image_.waits_for = fmt::format("MachineOSBuild {}, which starts again", in_.build.name);
    const bool has_record = records_ && find_string(*records_, {"data", in_.config.pool});
    if (has_record) {
      Json without = *records_;
      without.as_object()["data"].as_object().erase(in_.config.pool);
      want({types::config_maps, std::move(without)});
    }
    if (object_) want(removal_of(*object_));
    for (const Json* object : in_.objects.all) want(removal_of(*object));
    if (has_record || object_ || !in_.objects.all.empty()) return;
    made_.plan.tasks.push_back(
        {fmt::format("starting the build of pool {} again", in_.config.pool),
         [&api = api_, &view = view_, pool = in_.config.pool, name = in_.build.name](const sys::Context& context) -> Result<> {
           const Json patch = {
               {"metadata", {{"annotations", {{mc::rebuild_annotation, nullptr}, {without_cache_annotation, name}}}}}};
           view.put(TRY(kube::merge_patch(context, api, types::machine_os_configs, "", pool, patch)));
           return Ok{};
         }});
  }

  // Objects of an earlier MachineOSBuild of this name are removed first.
  void create() {
    image_.waits_for = fmt::format("MachineOSBuild {}, which does not exist yet", in_.build.name);
    if (!in_.objects.all.empty()) return;
    const std::optional<mc::OsImage> recorded = image_of_bootstrap(records_, in_.config.pool);
    if (recorded && recorded->build.name != in_.build.name &&
        text_of(in_.os_config, {"status", "currentImagePullSpec"}).empty()) {
      made_.plan.notices.push_back(
          {in_.os_config, "ImageOfBootstrapDiffers",
           fmt::format("the bootstrap machine built {}, but pool {} needs {}: its inputs have changed since then",
                       recorded->build.name, in_.config.pool, in_.build.name)});
    }
    want({types::machine_os_builds, os_build_object(in_.build, in_.config), DesiredObject::How::create});
  }

  void use() {
    image_.image = image_of(*object_);
    image_.waits_for.clear();
    want({types::machine_os_configs, with_image(in_.os_config, image_.image, in_.build.name), DesiredObject::How::status});
  }

  // An image that exists already: of the bootstrap machine, or of the user. That of the user counts only for the first build,
  // because it does not have later changes of the config and of the release.
  std::optional<Observed> seed() const {
    const std::optional<mc::OsImage> recorded = image_of_bootstrap(records_, in_.config.pool);
    const bool is_prebuilt = recorded && recorded->image() == in_.config.prebuilt_image;
    if (recorded && recorded->build.name == in_.build.name && !is_prebuilt) {
      return Observed{.phase = BuildPhase::succeeded,
                      .reason = "BootstrapImageSeeded",
                      .message = "the bootstrap machine built this image",
                      .image = recorded->image(),
                      .started = recorded->started,
                      .ended = recorded->ended};
    }
    if (in_.config.prebuilt_image.empty() || !text_of(in_.os_config, {"status", "currentImagePullSpec"}).empty())
      return std::nullopt;
    return Observed{.phase = BuildPhase::succeeded,
                    .reason = "PreBuiltImageSeeded",
                    .message = fmt::format("annotation {} of the MachineOSConfig has this image", mc::prebuilt_image_annotation),
                    .image = in_.config.prebuilt_image};
  }

  void build() {
    if (const std::optional<Observed> seeded = seed()) return report(*seeded);
    const bool had_job = find(*object_, {"status", "builder", "job"}) != nullptr;
    if (in_.objects.job) return report(observe_job(in_.objects, in_.build, phase_of(*object_) == BuildPhase::building, now_));
    if (had_job) return report({BuildPhase::interrupted, "JobDeleted", "the Job was deleted before its end"});
    const Result<> prepared = prepare();
    if (!prepared.ok()) return report({BuildPhase::failed, "PrepareFailed", prepared.error().message()});
    report({BuildPhase::prepared, "Preparing", "the inputs of the build are written"});
  }

  // The Job follows when all inputs exist.
  Result<> prepare() {
    const Json* rendered = seen_.find(types::machine_configs, "", in_.build.rendered);
    const Json* controller = seen_.find(types::controller_configs, "", controller_name);
    if (!rendered || !controller) return Ok{};
    const mc::MachineConfig config = TRY(mc::parse_machine_config(*rendered, in_.build.rendered));
    const mc::ControllerConfig cluster = TRY(mc::parse_controller_config(*controller, "ControllerConfig"));
    std::vector<Json> inputs = TRY(os_build_inputs(in_.build, config, cluster, *object_));
    const std::size_t parts = inputs.size();
    if (in_.objects.inputs.size() == parts) {
      const bool has_cache = annotation_of(in_.os_config, without_cache_annotation) != in_.build.name;
      Json job = TRY(os_build_job(in_.build, in_.config, cluster, *object_, parts, has_cache));
      want({types::jobs, std::move(job), DesiredObject::How::create});
      return Ok{};
    }
    for (Json& each : inputs) want({types::config_maps, std::move(each), DesiredObject::How::create});
    return Ok{};
  }

  void report(const Observed& observed) {
    if (observed.replan_at) made_.plan.replan_by(*observed.replan_at);
    const std::string_view phase = to_text(observed.phase);
    image_.waits_for = fmt::format("MachineOSBuild {}, which is {}", in_.build.name, phase);
    if (observed.reason == pod_pending) image_.waits_for += ": " + observed.message;
    Json object = with_status(*object_, observed, in_.objects.job, now_);
    if (find_object(object, {"status"}) == find_object(*object_, {"status"})) return;
    if (phase_of(*object_) != observed.phase) {
      const bool is_bad = observed.phase == BuildPhase::failed || observed.phase == BuildPhase::interrupted;
      made_.plan.notices.push_back(
          {*object_, fmt::format("Build{}", phase),
           observed.message.empty() ? fmt::format("build {} is {}", in_.build.name, phase) : observed.message, is_bad});
    }
    want({types::machine_os_builds, std::move(object), DesiredObject::How::status});
  }

  const Inputs in_;
  const Snapshot& seen_;
  const WallTime now_;
  kube::Api& api_;
  View& view_;
  OsBuildsPlan& made_;
  PoolImage& image_;
  const Json* object_;   // MachineOSBuild
  const Json* records_;  // of the bootstrap machine
};

// Images that nodes have or should have.
std::set<std::string> used_images(const Snapshot& seen) {
  std::set<std::string> used;
  for (const Json* node : seen.list(types::nodes)) {
    for (const std::string_view key : {mc::current_image, mc::desired_image}) used.insert(annotation_of(*node, key));
  }
  for (const Json* config : seen.list(types::machine_os_configs))
    used.insert(text_of(*config, {"status", "currentImagePullSpec"}));
  return used;
}

// wanted: names of the builds by pool; an empty name: not known now, so all builds of that pool stay
void remove_outdated(const std::map<std::string, std::string, std::less<>>& wanted, const Snapshot& seen, Plan& plan) {
  const std::set<std::string> used = used_images(seen);
  for (const Json* build : seen.list(types::machine_os_builds)) {
    const auto found = wanted.find(text_of(*build, {"spec", "machineOSConfig", "name"}));
    if (found != wanted.end() && (found->second.empty() || found->second == kube::name_of(*build))) continue;
    if (phase_of(*build) == BuildPhase::succeeded && used.contains(image_of(*build))) continue;
    plan.desired_objects.push_back(removal_of(*build));
  }
}

// Objects of builds that are done, and of builds that do not exist any more.
void remove_leftovers(const std::map<std::string, BuildObjects, std::less<>>& objects, const Snapshot& seen, Plan& plan) {
  for (const auto& [name, found] : objects) {
    const Json* build = seen.find(types::machine_os_builds, "", name);
    const bool is_over = !build || is_terminating(*build) || phase_of(*build) == BuildPhase::succeeded;
    for (const Json* object : found.all) {
      const JsonArray& owners = find_array(*object, {"metadata", "ownerReferences"});
      const bool is_of_other =
          build && !owners.empty() && find_string(owners[0], {"uid"}) != find_string(*build, {"metadata", "uid"});
      if (is_over || is_of_other) plan.desired_objects.push_back(removal_of(*object));
    }
  }
}

std::string text_of_part(const Json* object, std::initializer_list<std::string_view> part) {
  const Json* value = object ? find(*object, part) : nullptr;
  return value ? emit_json(*value, JsonStyle::compact) : "";
}

}  // namespace

std::optional<BuildPhase> phase_of(const Json& build) {
  for (const auto& [phase, name] : phase_names) {
    if (kube::condition_status(build, name) == "True") return phase;
  }
  return std::nullopt;
}

std::vector<Watched> OsBuildController::watched() {
  const std::string space(os_build_space);
  return {{types::machine_os_configs},
          {types::machine_os_builds},
          {types::jobs, space},
          {types::config_maps, space},
          {types::pods, space, {.labels = std::string(mc::os_build_label)}}};
}

const OsBuildController::Planned& OsBuildController::planned_for(const Json& os_config, const Snapshot& seen) {
  const std::string pool(kube::name_of(os_config));
  const Json* controller = seen.find(types::controller_configs, "", controller_name);
  const Json* pool_object = seen.find(types::machine_config_pools, "", pool);
  const std::string rendered = pool_object ? text_of(*pool_object, {"spec", "configuration", "name"}) : "";
  const Json* config = seen.find(types::machine_configs, "", rendered);
  // The name of a rendered config depends on its content.
  std::string inputs =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", text_of_part(&os_config, {"spec"}),
                  annotation_of(os_config, mc::prebuilt_image_annotation), pool_object != nullptr, rendered, config != nullptr,
                  text_of_part(controller, {"spec"}), text_of_part(controller, {"metadata", "annotations"}));
  Planned& planned = planned_[pool];
  if (planned.inputs == inputs) return planned;
  planned = {.inputs = std::move(inputs)};
  const auto problem = [&](std::string text) -> const Planned& {
    planned.problem = std::move(text);
    return planned;
  };
  const auto wait = [&](std::string text) -> const Planned& {
    planned.waits_for = std::move(text);
    return planned;
  };
  const Result<mc::OsConfig> parsed = mc::parse_os_config(os_config, fmt::format("MachineOSConfig {}", pool));
  if (!parsed.ok()) return problem(parsed.error().message());
  if (!pool_object) return problem(fmt::format("MachineOSConfig {}: MachineConfigPool {} does not exist", pool, pool));
  if (!config) return wait("a rendered config of the pool");
  if (!controller) return wait("the ControllerConfig");
  const Result<mc::ControllerConfig> cluster = mc::parse_controller_config(*controller, "ControllerConfig");
  if (!cluster.ok()) return problem(cluster.error().message());
  if (cluster->version != version_) return wait(fmt::format("a ControllerConfig of version {}", version_));
  const Result<mc::MachineConfig> machine = mc::parse_machine_config(*config, rendered);
  if (!machine.ok()) return problem(machine.error().message());
  const Result<mc::OsBuild> build = mc::plan_os_build(parsed.value(), machine.value(), cluster.value());
  if (!build.ok()) return problem(fmt::format("MachineOSConfig {}: {}", pool, build.error().message()));
  planned.config = parsed.value();
  planned.build = build.value();
  return planned;
}

OsBuildsPlan OsBuildController::plan(const Snapshot& seen, WallTime now) {
  OsBuildsPlan made;
  const std::map<std::string, BuildObjects, std::less<>> objects = find_objects(seen);
  std::map<std::string, std::string, std::less<>> wanted;
  for (const Json* os_config : seen.list(types::machine_os_configs)) {
    if (is_terminating(*os_config)) continue;
    const std::string pool(kube::name_of(*os_config));
    PoolImage& image = made.images[pool];
    std::string& name = wanted[pool];
    if (!bootstrap_is_complete(seen)) {
      image.waits_for = "the end of the bootstrap";
      continue;
    }
    const Planned& planned = planned_for(*os_config, seen);
    image.problem = planned.problem;
    image.waits_for = planned.waits_for;
    if (!planned.build) continue;
    name = planned.build->name;
    const auto found = objects.find(name);
    const BuildObjects none;
    PoolBuild({*os_config, *planned.config, *planned.build, found == objects.end() ? none : found->second}, seen, now, api_,
              view_, made)
        .plan();
  }
  std::erase_if(planned_, [&](const auto& each) { return !wanted.contains(each.first); });
  remove_outdated(wanted, seen, made.plan);
  remove_leftovers(objects, seen, made.plan);
  return made;
}

}  // namespace slipway::components::machine_config_operator
