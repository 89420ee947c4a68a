#include "components/router/start.h"

#include "base/flags.h"
#include "components/program/kube_access.h"
#include "components/router/serving.h"
#include "sys/environment_variable.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <thread>

namespace slipway::components::router {

namespace {

using namespace std::chrono_literals;

constexpr sys::Pace connect_pace{200ms, 5s};
constexpr Milliseconds between_updates = 20ms;
// The user "nobody". haproxy opens its ports and reads its files before it switches the user.
constexpr int haproxy_user = 65534;
constexpr rlim_t spare_descriptors = 500;

Result<Options> find_options(const Environment& environment, const Flags& flags) {
  Options options = TRY(parse_options([](const std::string& name) { return sys::environment_variable(name); }));
  options.folder = flags.text("working-dir");
  options.has_ipv6 = TRY(environment.files.info("/proc/net/if_inet6")).has_value();
  options.threads = std::min(options.threads, static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  // A connection through haproxy uses two descriptors.
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) == 0 && descriptors.rlim_max > 2 * spare_descriptors) {
    const rlim_t most = (descriptors.rlim_max - spare_descriptors) / 2;
    options.max_connections = static_cast<int>(std::min<rlim_t>(static_cast<rlim_t>(options.max_connections), most));
  }
  options.user = ::geteuid() == 0 ? haproxy_user : 0;
  return options;
}

std::vector<Watched> watched_by(const Options& options) {
  std::vector<Watched> watched = {{kube::types::routes, "", {.labels = options.route_labels}}, {kube::types::endpoint_slices}};
  if (!options.namespace_labels.empty()) {
    watched.push_back({kube::types::namespaces, "", {.labels = options.namespace_labels}});
  }
  return watched;
}

Result<> keep_serving(const sys::Context& context, View& view, Serving& serving) {
  while (!context.stop.stop_requested()) {
    const std::uint64_t seen = view.changed().count();
    SteadyTime again = context.clock.steady() + 1h;
    if (view.is_complete()) again = TRY(serving.update(context, view.snapshot()));
    context.clock.wait(again, context.stop, &view.changed(), seen);
    // Several changes often arrive together; this pause handles them in one update.
    if (!sys::pause(context, between_updates)) break;
  }
  return error(Code::cancelled, "stopped");
}

// Serves with one API client until the API server rejects its credentials.
Result<> serve_with(const sys::Context& context, kube::Api& api, const Options& options, View& view, Serving& serving) {
  sys::TaskGroup tasks(context);
  tasks.run("serving", [&](const sys::Context& own) { return keep_serving(own, view, serving); });
  tasks.run("status of routes", [&](const sys::Context& own) {
    return reconcile(own, api,
                     {.manager = "openshift-router",
                      .watched = watched_by(options),
                      .plan = [&](const Snapshot& seen, WallTime now) -> Result<Plan> {
                        return plan_statuses(admit(seen, options, serving.admission_context()), options, now);
                      },
                      .view = view});
  });
  return tasks.wait();
}

// Removes the files of an earlier container.
Result<> empty_folder(sys::Files& files, const std::string& folder) {
  TRY(files.remove(folder));
  return files.make_directories(folder, 0755);
}

}  // namespace

Result<> run_start(const Environment& environment, const Arguments& arguments) {
  const Flags flags =
      TRY(parse_flags("openshift-router start",
                      {{.name = "kubeconfig"}, {.name = "working-dir", .fallback = "/var/lib/haproxy/router"}}, arguments));
  const Options options = TRY(find_options(environment, flags));
  TRY(empty_folder(environment.files, options.folder));
  const sys::Context& context = environment.context;

  Guarded<View*> now_seen{nullptr};
  const auto notify = [&] {
    now_seen.with_lock([](View* view) {
      if (view) view->changed().notify();
    });
  };
  Serving serving(environment, options, notify);
  const auto listen = [&](const std::string& address) {
    return net::HttpServer::listen({.address = address,
                                    .port = options.stats_port,
                                    .threads = 1,
                                    .connections_per_address = 32,
                                    .exchange_limit = Seconds(20)},
                                   [&](const net::ServerRequest& request) { return serving.answer(request); });
  };
  const net::HttpServer health = TRY(listen(options.has_ipv6 ? "::" : "0.0.0.0"));
  context.log.info("serving routes for {} on ports {} and {}; /healthz on port {}", options.domain, options.http_port,
                   options.https_port, health.port());

  // The tasks continue after a stop request, until the drain delay has passed.
  std::stop_source work;
  const sys::Context working = context.with_stop(work.get_token());
  sys::TaskGroup tasks(working);
  tasks.run("leaving", [&](const sys::Context& own) -> Result<> {
    sys::Wakeup stop_requested;
    const std::stop_callback on_stop(context.stop, [&] { stop_requested.notify(); });
    while (!context.stop.stop_requested() && !own.stop.stop_requested()) {
      own.clock.wait(own.clock.steady() + 24h, own.stop, &stop_requested, 0);
    }
    serving.leave();
    if (sys::pause(own, options.drain_delay)) work.request_stop();
    return Ok{};
  });
  tasks.run("the cluster", [&](const sys::Context& own) -> Result<> {
    for (Milliseconds pause = connect_pace.first;; pause = std::min(pause * 2, connect_pace.longest)) {
      const kube::Access access = TRY(kube_access(environment.files, flags.text("kubeconfig")));
      kube::Client api(environment.http, access);
      View view;
      now_seen.with_lock([&](View*& it) { it = &view; });
      const Result<> ended = serve_with(own, api, options, view, serving);
      now_seen.with_lock([](View*& it) { it = nullptr; });
      if (own.stop.stop_requested()) return Ok{};
      // Permissions may be granted after this pod starts, and a token may have been replaced.
      if (ended.ok() || ended.error().code() != Code::denied) return ended;
      own.log.warn("{}; retrying", ended.error().message());
      if (!sys::pause(own, pause)) return Ok{};
    }
  });
  const Result<> ended = tasks.wait();
  serving.finish(context);
  return context.stop.stop_requested() ? Result<>(Ok{}) : ended;
}

}  // namespace slipway::components::router
