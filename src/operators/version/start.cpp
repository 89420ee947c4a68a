#include "operators/version/start.h"

#include "base/digest.h"
#include "base/guarded.h"
#include "base/yaml.h"
#include "kube/ensure.h"
#include "operators/lib/flags.h"
#include "operators/lib/kube_access.h"
#include "operators/lib/leader.h"
#include "operators/version/apply_plan.h"
#include "operators/version/release_manifests.h"
#include "operators/version/settings.h"
#include "operators/version/status.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <chrono>
#include <cstdlib>

namespace slipway::operators {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view manager = "cluster-version-operator";
constexpr std::string_view name = "version";
constexpr Milliseconds between_syncs = 3min;
constexpr Milliseconds after_failure = 15s;
constexpr Milliseconds apply_limit = 5min;
// Its objects are among the first that the bootstrap machine creates.
constexpr Milliseconds config_limit = 5min;

const kube::Selection the_version{.fields = "metadata.name=version"};
const kube::Selection the_cluster{.fields = "metadata.name=cluster"};

// Threads: run() has two of its own.
class VersionOperator {
 public:
  VersionOperator(const Environment& environment, kube::Api& api, VersionSettings settings, std::string version)
      : environment_(environment), api_(api), settings_(std::move(settings)), version_(std::move(version)) {}

  // Makes the namespace of the lease, where the bootstrap machine has not yet.
  Result<> prepare(const sys::Context& context) {
    const std::vector<Manifest> manifests = TRY(all_manifests(environment_.files, settings_));
    std::vector<kube::Manifest> spaces;
    for (const Manifest& manifest : manifests) {
      if (find_string(manifest.object, {"kind"}) != "Namespace" || kube::name_of(manifest.object) != "openshift-cluster-version")
        continue;
      spaces.push_back({manifest.path, manifest.object});
    }
    kube::Mapper mapper(api_);
    return kube::ensure_all(context, api_, mapper, std::move(spaces), {.manager = std::string(manager), .limit = apply_limit},
                            [](const kube::Manifest&, const kube::Outcome&) {});
  }

  Result<> run(const sys::Context& context) {
    sys::TaskGroup tasks(context);
    tasks.run("watching ClusterVersion", [this](const sys::Context& task) {
      return kube::follow(task, api_, kube::types::cluster_versions, "", the_version,
                          [this](const kube::Objects& found) -> Result<> {
                            see(found);
                            return Ok{};
                          });
    });
    tasks.run("applying the release", [this](const sys::Context& task) { return keep_applied(task); });
    return tasks.wait();
  }

 private:
  // Our own changes of the status do not wake us: the generation stands for the spec.
  void see(const kube::Objects& found) {
    std::optional<Json> seen;
    if (!found.empty()) seen = found.front();
    const bool is_news = latest_.with_lock([&](std::optional<Json>& latest) {
      const bool other = latest.has_value() != seen.has_value() ||
                         (seen && *find(*seen, {"metadata", "generation"}) != *find(*latest, {"metadata", "generation"}));
      latest = seen;
      return other;
    });
    if (is_news) changed_.notify();
  }

  std::optional<Json> latest() const {
    return latest_.with_lock([](const std::optional<Json>& latest) { return latest; });
  }

  Result<> keep_applied(const sys::Context& context) {
    TRY(learn_configuration(context));
    while (!context.stop.stop_requested()) {
      const std::uint64_t seen = changed_.count();
      Milliseconds until_next = between_syncs;
      if (const std::optional<Json> cluster_version = latest()) {
        const Result<> synced = sync(context, *cluster_version);
        if (!synced.ok()) {
          if (context.stop.stop_requested()) break;
          context.log.warn("{}; trying again in {}", synced.error().message(), human_duration(after_failure));
          until_next = after_failure;
        }
      }
      context.clock.wait(context.clock.steady() + until_next, context.stop, &changed_, seen);
    }
    return error(Code::cancelled, "stopped");
  }

  // Without the cluster's own address the operator's deployment would be made to look at an API server that is not there yet, and
  // without its feature gates manifests of another feature set would be chosen.
  Result<> learn_configuration(const sys::Context& context) {
    for (const kube::ResourceType& type : {kube::types::infrastructures, kube::types::feature_gates}) {
      const Result<> there = kube::wait_until(context, api_, type.kind + " cluster", config_limit, type, "", the_cluster,
                                              [](const kube::Objects& found) -> Result<std::optional<std::string>> {
                                                return found.empty() ? std::optional<std::string>("there is none") : std::nullopt;
                                              });
      if (!there.ok() && there.error().code() != Code::timeout) return there;
      if (!there.ok()) context.log.warn("{}; going on without", there.error().message());
    }
    return Ok{};
  }

  Result<ApplyPlan> make_plan(const sys::Context& context, const Json& cluster_version) {
    const std::optional<Json> infrastructure = TRY(kube::find(context, api_, kube::types::infrastructures, "", "cluster"));
    const std::optional<Json> gate = TRY(kube::find(context, api_, kube::types::feature_gates, "", "cluster"));
    if (infrastructure) settings_.api_host = internal_api_host(*infrastructure).value_or(settings_.api_host);
    ManifestFilter filter = filter_of(gate, cluster_version, version_, settings_.profile);
    filter.exclude_id = excluded_manifests();
    const std::vector<Manifest> manifests = TRY(all_manifests(environment_.files, settings_));
    return plan_apply(manifests, filter, cluster_version);
  }

  Result<> sync(const sys::Context& context, const Json& cluster_version) {
    const ApplyPlan plan = TRY(make_plan(context, cluster_version));
    ReleaseProgress progress{.version = version_, .image = settings_.release_image, .hash = hash_of(plan), .total = plan.size()};
    TRY(write_status(context, progress));
    const SteadyTime start = context.clock.steady();
    const Result<> applied = apply(context, plan, progress.done);
    progress.is_complete = applied.ok();
    if (!applied.ok() && applied.error().code() == Code::cancelled) return applied;
    if (!applied.ok()) progress.failure = applied.error().message();
    TRY(write_status(context, progress));
    context.log.info("{} of {} manifests of version {} are applied, {} are left to others, after {}", progress.done,
                     progress.total, version_, plan.overridden, human_duration(context.clock.steady() - start));
    return applied;
  }

  // Objects that are made once may be of types that the others define.
  Result<> apply(const sys::Context& context, const ApplyPlan& plan, std::size_t& done) {
    kube::Mapper mapper(api_);
    const auto told = [&](const kube::Manifest& manifest, const kube::Outcome& outcome) {
      if (outcome.kind == kube::Outcome::Kind::failed) {
        context.log.warn("{} is refused: {}", manifest.name, outcome.detail);
      } else {
        ++done;
      }
    };
    const std::string owner(manager);
    const Result<> kept =
        kube::ensure_all(context, api_, mapper, plan.apply, {.update = true, .manager = owner, .limit = apply_limit}, told);
    const Result<> made =
        kube::ensure_all(context, api_, mapper, plan.create, {.update = false, .manager = owner, .limit = apply_limit}, told);
    if (!kept.ok()) return kept;
    if (!made.ok()) return made;
    for (const Json& object : plan.remove) {
      const std::optional<kube::ResourceType> type = TRY(mapper.type_of(context, object));
      if (type) TRY(kube::remove(context, api_, *type, kube::namespace_of(object), kube::name_of(object)));
      ++done;
    }
    return Ok{};
  }

  // Nothing is written when nothing changed. Somebody else may write at the same time: then with what they left.
  Result<> write_status(const sys::Context& context, const ReleaseProgress& progress) {
    return sys::wait_for(context, "the status of ClusterVersion", 1min, [&]() -> Result<sys::Look> {
      std::optional<Json> object = TRY(kube::find(context, api_, kube::types::cluster_versions, "", name));
      if (!object) return sys::Look::done();
      Json status = next_status(*object, progress, context.clock.now());
      const Json* known = find(*object, {"status"});
      if (known && *known == status) return sys::Look::done();
      object->as_object()["status"] = std::move(status);
      TRY(kube::update(context, api_, kube::types::cluster_versions, *object, "status"));
      return sys::Look::done();
    });
  }

  static std::string hash_of(const ApplyPlan& plan) {
    Sha256 hash;
    for (const std::vector<kube::Manifest>* list : {&plan.apply, &plan.create}) {
      for (const kube::Manifest& manifest : *list) hash.update(emit_json(manifest.object, JsonStyle::compact));
    }
    return hash.finish_hex().substr(0, 16);
  }

  const Environment& environment_;
  kube::Api& api_;
  VersionSettings settings_;
  std::string version_;
  Guarded<std::optional<Json>> latest_;
  sys::Wakeup changed_;
};

}  // namespace

Result<> run_version_start(const Environment& environment, const Arguments& arguments) {
  const std::vector<Flag> table = {
      {.name = "release-image", .required = true},       {.name = "kubeconfig"},        {.name = "node-name"}, {.name = "listen"},
      {.name = "enable-auto-update", .is_switch = true}, {.name = "v", .fallback = "2"}};
  const Flags flags = TRY(parse_flags("cluster-version-operator start", table, arguments));
  if (!flags.text("listen").empty()) return error(Code::invalid, "--listen: there are no metrics yet; give it empty");
  if (flags.is_set("enable-auto-update")) return error(Code::invalid, "--enable-auto-update: there are no updates yet");
  const sys::Context& context = environment.context;
  const std::string version = TRY(version_of_image(environment.files));
  const kube::Access access = TRY(kube_access(environment.files, flags.text("kubeconfig")));
  kube::Client api(environment.http, access);
  const VersionSettings settings{.release_image = flags.text("release-image"), .profile = cluster_profile()};
  VersionOperator version_operator(environment, api, settings, version);
  TRY(version_operator.prepare(context));

  std::string node = flags.text("node-name");
  if (const char* variable = std::getenv("NODE_NAME"); node.empty() && variable) node = variable;
  const std::string unique = TRY(sys::random_hex(environment.random, 16));
  const LeaderOptions lease{.space = "openshift-cluster-version",
                            .name = "version",
                            .identity = fmt::format("{}_{}", node.empty() ? "bootstrap" : node, unique)};
  return lead(context, api, lease, [&](const sys::Context& leading) { return version_operator.run(leading); });
}

}  // namespace slipway::operators
