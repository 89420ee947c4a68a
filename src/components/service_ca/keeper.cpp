#include "components/service_ca/keeper.h"

#include "components/controller/conditions.h"
#include "components/service_ca/authority.h"
#include "components/service_ca/injection.h"
#include "components/service_ca/serving.h"

#include <algorithm>
#include <set>

namespace slipway::components::service_ca {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view manager = "service-ca-operator";
constexpr Milliseconds first_pause = 1s, longest_pause = 10min;

std::string key_of(const Json& object, const kube::ResourceType& type) {
  return fmt::format("{} {}/{}", type.plural, kube::namespace_of(object), kube::name_of(object));
}

std::string version_of(const Json& object) { return text_of(object, {"metadata", "resourceVersion"}); }

// Whether an object has these annotations; one that is null must be missing.
bool has_annotations(const Json& object, const JsonObject& wanted) {
  const JsonObject& known = find_object(object, {"metadata", "annotations"});
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& each) {
    const Json* value = known.if_contains(each.key());
    return each.value().is_null() ? value == nullptr : value != nullptr && *value == each.value();
  });
}

// ConfigMaps that ask for the bundle, and two that the operator reads itself.
Json reduce_config_map(const Json& object) {
  const std::string_view space = kube::namespace_of(object), name = kube::name_of(object);
  if ((space == authority_space && name == bundle_name) || (space == lifetimes_space && name == lifetimes_name)) return object;
  return reduce_injected(object);
}

}  // namespace

std::vector<Watched> Keeper::watched() {
  std::vector<Watched> watched = {{kube::types::services, "", {}, reduce_service},
                                  {kube::types::secrets, "", {}, reduce_secret},
                                  {kube::types::service_cas, "", {.fields = "metadata.name=cluster"}}};
  for (const kube::ResourceType& type : injected_types()) {
    watched.push_back({type, "", {}, type == kube::types::config_maps ? reduce_config_map : reduce_injected});
  }
  return watched;
}

Result<Plan> Keeper::plan(const Snapshot& seen, WallTime now) {
  Plan plan;
  const Json* settings = seen.find(kube::types::service_cas, "", "cluster");
  if (!settings || !is_managed(*settings)) return plan;
  plan_services(seen, now, plan);
  plan_injections(seen, now, plan);
  return plan;
}

void Keeper::plan_services(const Snapshot& seen, WallTime now, Plan& plan) {
  const std::optional<Authority> authority = find_authority(seen, now);
  // The operator creates it, and the watch of its Secret causes the next plan.
  if (!authority) return;
  const Result<Lifetimes> lifetimes = parse_lifetimes(seen);
  // Other operators report invalid lifetimes.
  const Lifetime lifetime = serving_lifetime(lifetimes.ok() ? lifetimes.value() : Lifetimes());
  std::set<std::string> keys;
  for (const Json* each : seen.list(kube::types::services)) {
    const Json& service = *each;
    const std::string key = key_of(service, kube::types::services);
    keys.insert(key);
    const Verdict verdict = judge(service, seen, *authority, lifetime, now);
    switch (verdict.step) {
      case Verdict::Step::wait: continue;
      case Verdict::Step::keep:
        plan.replan_by(verdict.until);
        attempts_.erase(key);
        plan_annotations(service, success_annotations(*authority), now, plan);
        continue;
      case Verdict::Step::refuse:
        plan_annotations(service, failure_annotations(verdict.why, std::max(reported_attempts(service), 1)), now, plan);
        break;
      case Verdict::Step::issue: {
        const Json* secret = seen.find(kube::types::secrets, kube::namespace_of(service), secret_name(service));
        plan_issue(service, secret ? *secret : Json(), *authority, lifetime, verdict.why, now, plan);
        break;
      }
    }
    const std::string problem = verdict.step == Verdict::Step::refuse ? verdict.why : reported_problem(service);
    if (!problem.empty()) plan.notices.push_back({service, "ServingCertificateFailed", problem, true});
  }
  std::erase_if(attempts_, [&](const auto& each) { return each.first.starts_with("services ") && !keys.contains(each.first); });
}

void Keeper::plan_annotations(const Json& service, const JsonObject& annotations, WallTime now, Plan& plan) {
  const std::string key = key_of(service, kube::types::services), version = secret_name(service);
  if (has_annotations(service, annotations) || waits(key, version, plan, now)) return;
  plan.tasks.push_back({fmt::format("annotating {}", kube::describe(service)),
                        [this, service, key, version, annotations](const sys::Context& context) {
                          return settle(context, key, version, annotate(context, service, annotations));
                        }});
}

void Keeper::plan_issue(const Json& service, const Json& known, const Authority& authority, const Lifetime& lifetime,
                        const std::string& why, WallTime now, Plan& plan) {
  const int attempts = reported_attempts(service);
  if (attempts >= max_attempts) return;
  const std::string key = key_of(service, kube::types::services), version = secret_name(service);
  // A user who removes the annotations asks for another attempt.
  if (const auto earlier = attempts_.find(key); earlier != attempts_.end() && earlier->second.count > 0 && attempts == 0) {
    attempts_.erase(earlier);
  }
  if (waits(key, version, plan, now)) return;
  plan.tasks.push_back(
      {fmt::format("issuing the certificate of {}", kube::describe(service)),
       [this, service, key, version, known, authority, lifetime, attempts, why](const sys::Context& context) -> Result<> {
         const bool is_new = known.is_null();
         const Json object =
             TRY(make_serving_secret(service, is_new ? nullptr : &known, authority, lifetime, context.clock.now()));
         const Result<Json> written = is_new ? kube::create(context, api_, kube::types::secrets, object)
                                             : kube::update(context, api_, kube::types::secrets, object);
         if (written.ok()) {
           context.log.info("{} for {}: {}", kube::describe(object), kube::describe(service), why);
           view_.put(reduce_secret(written.value()));
           return Ok{};
         }
         const Error& failure = written.error();
         TRY(settle(context, key, version, failure));
         if (failure.code() == Code::conflict || failure.code() == Code::not_found) return Ok{};
         const std::string text = fmt::format("{}: {}", secret_text(service), failure.message());
         return settle(context, key, version, annotate(context, service, failure_annotations(text, attempts + 1)));
       }});
}

void Keeper::plan_injections(const Snapshot& seen, WallTime now, Plan& plan) {
  const std::string bundle = find_bundle(seen);
  if (bundle.empty()) return;
  std::set<std::string> keys;
  for (const Injection& injection : service_ca::plan_injections(seen, bundle)) {
    const Json& object = *injection.object;
    if (!injection.problem.empty()) {
      plan.notices.push_back({object, "BundleNotInjected", injection.problem, true});
      continue;
    }
    const std::string key = key_of(object, injection.type), version = version_of(object);
    keys.insert(key);
    if (waits(key, version, plan, now)) continue;
    plan.tasks.push_back(
        {fmt::format("injecting the bundle into {}", kube::describe(object)),
         [this, key, version, object, type = injection.type, wanted = injection.wanted](const sys::Context& context) -> Result<> {
           const Result<Json> written = type == kube::types::config_maps ? kube::update(context, api_, type, wanted)
                                                                         : kube::apply(context, api_, type, wanted, manager);
           if (written.ok()) {
             view_.put(reduce_injected(written.value()));
             return Ok{};
           }
           const Error& failure = written.error();
           TRY(settle(context, key, version, failure));
           if (failure.code() == Code::conflict || failure.code() == Code::not_found) return Ok{};
           return settle(context, key, version,
                         kube::emit_event(context, api_, object, manager, "Warning", "BundleNotInjected", failure.message()));
         }});
  }
  std::erase_if(attempts_, [&](const auto& each) { return !each.first.starts_with("services ") && !keys.contains(each.first); });
}

Result<> Keeper::annotate(const sys::Context& context, const Json& service, const JsonObject& annotations) {
  const Json patch = {{"metadata", {{"annotations", annotations}}}};
  const Json written =
      TRY(kube::merge_patch(context, api_, kube::types::services, kube::namespace_of(service), kube::name_of(service), patch));
  if (Json kept = reduce_service(written); !kept.is_null()) view_.put(std::move(kept));
  return Ok{};
}

bool Keeper::waits(const std::string& key, const std::string& version, Plan& plan, WallTime now) {
  const auto known = attempts_.find(key);
  if (known == attempts_.end()) return false;
  if (known->second.version != version) {
    attempts_.erase(known);
    return false;
  }
  if (known->second.count >= max_attempts) return true;
  if (now >= known->second.next) return false;
  plan.replan_by(known->second.next);
  return true;
}

Result<> Keeper::settle(const sys::Context& context, const std::string& key, const std::string& version, const Result<>& done) {
  if (done.ok()) return Ok{};
  const Code code = done.error().code();
  if (code == Code::unavailable || code == Code::timeout || code == Code::cancelled) return done;
  Attempt& attempt = attempts_[key];
  attempt.version = version;
  // The object changed, or is gone, and the watch will say so. The pause is for a watch that is behind.
  const bool is_expected = code == Code::conflict || code == Code::not_found;
  if (!is_expected) {
    ++attempt.count;
    context.log.warn("{}: {}", key, done.error().message());
  }
  attempt.next = context.clock.now() +
                 (is_expected ? first_pause : std::min(first_pause * (1 << std::min(attempt.count, 12)), longest_pause));
  return Ok{};
}

Result<> keep(const sys::Context& context, kube::Api& api) {
  View view;
  Keeper keeper(api, view);
  return reconcile(context, api,
                   {.manager = std::string(manager),
                    .watched = Keeper::watched(),
                    .plan = [&](const Snapshot& seen, WallTime now) { return keeper.plan(seen, now); },
                    .view = view});
}

}  // namespace slipway::components::service_ca
