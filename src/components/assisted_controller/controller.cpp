#include "components/assisted_controller/controller.h"

#include "assist/controller.h"
#include "base/flags.h"
#include "base/guarded.h"
#include "base/text.h"
#include "components/controller/reconcile.h"
#include "components/program/kube_access.h"
#include "net/url.h"
#include "sys/environment_variable.h"
#include "sys/task_group.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

namespace slipway::components::assisted_controller {

namespace {

const std::string space(assist::controller_space), name(assist::controller_name);
constexpr Milliseconds between_logs = std::chrono::minutes(5);
constexpr Milliseconds first_retry{1'000};
constexpr std::size_t largest_log = 1u << 20;
constexpr int enough_refusals = 3;

// A change of it makes a new plan; the state itself is with the controller.
const kube::ResourceType facts{std::string(kube::private_domain), "v1", "servicestates", "ServiceState", false};

std::vector<Watched> watched() {
  return {{.type = kube::types::nodes},
          {.type = kube::types::cluster_operators},
          {.type = kube::types::cluster_versions},
          {.type = kube::types::config_maps,
           .space = std::string(router_authority_space),
           .selection = {.fields = fmt::format("metadata.name={}", router_authority_name)}}};
}

// Threads: one plans and runs tasks, one looks at the service.
class Controller {
 public:
  Controller(const Environment& environment, kube::Api& api, const ServiceAccess& service, const ControllerOptions& options)
      : environment_(environment),
        api_(api),
        service_(service),
        options_(options),
        service_seen_(Service{.answered = environment.context.clock.steady()}) {}

  Result<> run() {
    sys::TaskGroup tasks(environment_.context);
    tasks.run("reporting", [&](const sys::Context& context) {
      return reconcile(context, api_,
                       {.manager = name,
                        .watched = watched(),
                        .plan = [this](const Snapshot& seen, WallTime now) { return plan(seen, now); },
                        .view = view_});
    });
    tasks.run("looking at the service", [&](const sys::Context& context) { return keep_looking(context); });
    return tasks.wait();
  }

 private:
  Result<Plan> plan(const Snapshot& seen, WallTime now) {
    Plan plan;
    const Service service = service_seen_.with_lock([](const Service& last) { return last; });
    const std::optional<ServiceState>& state = service.state;
    if (has_left_) return plan;
    if (now < options_.until) plan.replan_by(options_.until);
    const bool service_is_gone = service_has_left(seen, options_.service_host);
    Decision decision;
    if (service_is_gone) {
      decision.over_because = fmt::format("{}, which carried the service, is a node", options_.service_host);
    } else {
      if (!state && !service.silence && now < options_.until) return plan;
      // Of a service that has never answered, only the end of the credential is known.
      if (state || now >= options_.until) decision = decide(state.value_or(ServiceState{}), seen, now, options_.until);
      if (service.silence) {
        add_report(plan, report_without_service(state.value_or(ServiceState{}), seen, *service.silence, decision.over_because));
        if (decision.is_over()) {
          plan.tasks.push_back(
              {"ending without the service", [this, decision](const auto& c) { return end(c, decision.over_because); }});
        }
        return plan;
      }
      if (!written_.empty()) add_report(plan, report_with_service());
      if (decision.is_over() && !service.answers) return plan;  // until it answers, or its silence has lasted
    }
    const Task owning{"making its roles dependents of its namespace", [this](const auto& c) { return own_roles(c); }};
    if (decision.is_over()) {
      if (!is_owned_) plan.tasks.push_back(owning);
      plan.tasks.push_back({"removing itself", [this, decision, service_is_gone](const auto& c) {
                              return leave(c, decision.over_because, !service_is_gone);
                            }});
      return plan;
    }
    plan.notices.push_back(
        {.regarding = {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"metadata", {{"name", name}, {"namespace", space}}}},
         .reason = std::string(assist::controller_ready_reason),
         .message = "the controller reports to the service of the installation"});
    if (decision.waits_for != waits_for_) {
      waits_for_ = decision.waits_for;
      if (!waits_for_.empty()) environment_.context.log.info("waiting: {}", waits_for_);
    }
    for (const Report& report : decision.reports) {
      plan.tasks.push_back({report.name, [this, report](const sys::Context& context) -> Result<> {
                              TRY(send(report));
                              context.log.info("{}", report.name);
                              return Ok{};
                            }});
    }
    if (!decision.reports.empty()) plan.tasks.push_back({"looking at the service", [this](const auto&) { return look(); }});
    if (!is_owned_) plan.tasks.push_back(owning);  // last: no report waits for it
    return plan;
  }

  // reconcile() plans again at once after a conflict, which for it is one of an object of the cluster.
  Result<> send(const Report& report) const {
    const Result<> sent = service_.send(report);
    if (!sent.ok() && sent.error().code() == Code::conflict) return Error(Code::unavailable, sent.error().message());
    return sent;
  }

  void add_report(Plan& plan, const JsonObject& report) {
    if (report == written_) return;
    plan.tasks.push_back({"writing its report", [this, report](const sys::Context& context) -> Result<> {
                            TRY(kube::merge_patch(context, api_, kube::types::config_maps, space, assist::controller_report_name,
                                                  Json{{"data", report}}));
                            written_ = report;
                            return Ok{};
                          }});
  }

  Result<> look() {
    Result<ServiceState> answer = service_.look();
    note_answer(answer.ok() ? "" : answer.error().message());
    ServiceState seen = TRY(std::move(answer));
    // One refusal may be a fault of something in between.
    refusals_ = seen.closed_because.empty() ? 0 : refusals_ + 1;
    if (refusals_ > 0 && refusals_ < enough_refusals) return error(Code::unavailable, "{}", seen.closed_because);
    service_seen_.with_lock([&](Service& last) { last.state = std::move(seen); });
    plan_again();
    return Ok{};
  }

  void plan_again() {
    const std::string number = std::to_string(++looks_);
    view_.put({{"apiVersion", facts.api_version()}, {"kind", facts.kind}, {"metadata", {{"name", "last"}}}, {"look", number}});
  }

  // problem: empty: the service has answered
  void note_answer(const std::string& problem) {
    sys::Clock& clock = environment_.context.clock;
    const SteadyTime now = clock.steady();
    const bool is_news = service_seen_.with_lock([&](Service& last) {
      if (problem.empty()) {
        last.answers = true;
        last.answered = now;
        return std::exchange(last.silence, std::nullopt).has_value();
      }
      last.answers = false;
      if (last.silence || now - last.answered < options_.patience) return false;
      last.silence = Silence{.since = clock.now() - (now - last.answered), .reason = problem};
      return true;
    });
    if (is_news) plan_again();
  }

  Result<> keep_looking(const sys::Context& context) {
    SteadyTime next_log = context.clock.steady() + between_logs;
    const Milliseconds first = std::min(first_retry, options_.between_looks);
    Milliseconds retry = first;
    while (!context.stop.stop_requested()) {
      const Result<> looked = look();
      // A service without an answer may only start again. Refusals keep their pauses: several within a second would be as one.
      const bool is_unanswered = !looked.ok() && refusals_ == 0;
      if (!is_unanswered) retry = first;
      const Milliseconds pause =
          is_unanswered ? std::exchange(retry, std::min(retry * 2, options_.between_looks)) : options_.between_looks;
      if (!looked.ok()) context.log.warn("{}; looking again in {}", looked.error().message(), human_duration(pause));
      if (context.clock.steady() >= next_log) {
        next_log = context.clock.steady() + between_logs;
        if (const Result<> sent = send_log(context); !sent.ok())
          context.log.warn("cannot send the log: {}; continuing without it", sent.error().message());
      }
      context.clock.wait(context.clock.steady() + pause, context.stop, nullptr, 0);
    }
    return Ok{};
  }

  // Kubernetes then removes them with the namespace.
  Result<> own_roles(const sys::Context& context) {
    const Json owner = TRY(kube::get(context, api_, kube::types::namespaces, "", space));
    const Json reference = {
        {"apiVersion", "v1"}, {"kind", "Namespace"}, {"name", space}, {"uid", text_of(owner, {"metadata", "uid"})}};
    const Json patch = {{"metadata", {{"ownerReferences", JsonArray{reference}}}}};
    for (const kube::ResourceType* type : {&kube::types::cluster_roles, &kube::types::cluster_role_bindings}) {
      TRY(kube::merge_patch(context, api_, *type, "", name, patch));
    }
    is_owned_ = true;
    return Ok{};
  }

  Result<> send_log(const sys::Context& context) {
    if (options_.pod.empty()) return Ok{};
    const std::string path =
        fmt::format("{}?limitBytes={}", kube::path_of(kube::types::pods, space, options_.pod, "log"), largest_log);
    const Result<Json> log = api_.send(context, {.path = path});
    const auto* text = log.ok() ? log->if_string() : nullptr;
    return service_.send_log(text ? std::string(*text) : log.ok() ? "" : log.error().message() + "\n");
  }

  Result<> leave(const sys::Context& context, const std::string& why, bool sends_log) {
    const SteadyTime now = context.clock.steady();
    if (!left_since_) {
      left_since_ = now;
      context.log.info("the installation is over: {}; removing namespace {}", why, space);
    }
    if (const Result<> sent = sends_log ? send_log(context) : Ok{}; !sent.ok()) {
      if (sent.error().code() == Code::unavailable && now - *left_since_ < options_.patience) return sent.error();
      context.log.warn("cannot send the log: {}; continuing without it", sent.error().message());
    }
    TRY(kube::remove(context, api_, kube::types::namespaces, "", space));
    has_left_ = true;
    return Ok{};
  }

  // The namespace stays, with the report.
  Result<> end(const sys::Context& context, const std::string& why) {
    context.log.warn("the installation is over: {}; the service does not answer: see ConfigMap {}/{}", why, space,
                     assist::controller_report_name);
    TRY(kube::remove(context, api_, kube::types::deployments, space, name));
    has_left_ = true;
    return Ok{};
  }

  struct Service {
    std::optional<ServiceState> state{};  // that it answered last
    bool answers = false;                 // the last look
    SteadyTime answered{};                // the last time, or the start
    std::optional<Silence> silence{};     // longer than patience
  };

  const Environment& environment_;
  kube::Api& api_;
  const ServiceAccess& service_;
  const ControllerOptions& options_;
  View view_;
  Guarded<Service> service_seen_;
  std::atomic<int> looks_ = 0, refusals_ = 0;  // refusals: one after another
  // Of the thread that plans.
  bool is_owned_ = false;
  bool has_left_ = false;
  std::string waits_for_;
  JsonObject written_;  // to the ConfigMap
  std::optional<SteadyTime> left_since_;
};

}  // namespace

Result<> run_controller(const Environment& environment, kube::Api& api, const ServiceAccess& service,
                        const ControllerOptions& options) {
  return Controller(environment, api, service, options).run();
}

Result<> run_start(const Environment& environment, const Arguments& arguments) {
  const Flags flags = TRY(parse_flags("assisted-installer-controller start",
                                      {{.name = "url", .required = true},
                                       {.name = "cluster-id", .required = true},
                                       {.name = "until", .required = true},
                                       {.name = "token-file"},
                                       {.name = "cacert"},
                                       {.name = "service-host"},
                                       {.name = "kubeconfig"},
                                       {.name = "patience", .fallback = "5m"}},
                                      arguments));
  const net::Url url = TRY(net::parse_url(flags.text("url")).context("--url"));
  if (url.scheme != "https" && !net::is_loopback(url.host)) {
    return error(Code::invalid, "--url: must be https, because the token would cross the network unencrypted");
  }
  const WallTime until = TRY(parse_rfc3339(flags.text("until")).context("--until"));
  const Milliseconds patience = TRY(parse_duration(flags.text("patience")).context("--patience"));
  ServiceOptions options{.url = flags.text("url"), .cluster = flags.text("cluster-id")};
  if (flags.is_given("token-file")) {
    const std::string token = TRY(environment.files.read(flags.text("token-file")));
    options.token = Secret(std::string(trim(token)));
  }
  // An empty file: the service has a certificate of an authority that the system knows.
  if (flags.is_given("cacert") && !trim(TRY(environment.files.read(flags.text("cacert")))).empty())
    options.ca_file = flags.text("cacert");
  const kube::Access access = TRY(kube_access(environment.files, flags.text("kubeconfig")));
  kube::Client api(environment.http, access);
  const ServiceAccess service(environment, std::move(options));
  const Result<> ended =
      run_controller(environment, api, service,
                     {.until = until,
                      .pod = sys::environment_variable("POD_NAME"),
                      .patience = patience,
                      .service_host = flags.text("service-host")});
  // A requested stop is not a failure.
  if (!ended.ok() && environment.context.stop.stop_requested()) return Ok{};
  return ended;
}

}  // namespace slipway::components::assisted_controller
