#include "components/router/serving.h"

#include "components/router/culprits.h"
#include "net/x509.h"

#include <algorithm>

namespace slipway::components::router {

namespace {

using namespace std::chrono_literals;

// Polling interval: the kubelet updates mounted Secrets about a minute after they change.
constexpr Milliseconds read_again = 10s;
constexpr Milliseconds first_pace = 200ms, longest_pace = 5s;
constexpr Milliseconds first_pause = 500ms, longest_pause = 15s;

Milliseconds pace_for(int draining) { return std::min(first_pace * (1 << std::min(draining, 8)), longest_pace); }

// A self-signed certificate. Browsers reject it, but it is enough for health checks of the port.
Result<Secret> make_own_certificate(WallTime now) {
  const net::Certificate made = TRY(net::make_certificate({.subject = {.common_name = "router without a certificate"},
                                                           .server_auth = true,
                                                           .valid_from = now,
                                                           .valid_for = std::chrono::hours(24 * 365)},
                                                          nullptr));
  return Secret(made.pem + made.key.reveal());
}

}  // namespace

Result<Material> MaterialReader::read(const sys::Context& context) {
  const auto log_once = [&](std::string text) {
    if (text != std::exchange(logged_, text) && !text.empty()) context.log.warn("{}", text);
  };
  const std::string& folder = options_.certificate_folder;
  const std::string what = fmt::format("the certificate in {}", folder);
  if (material_.certificate.empty()) material_.certificate = TRY(make_own_certificate(context.clock.now()));
  Result<std::optional<std::string>> certificate = files_.read_if_exists(folder + "/tls.crt");
  Result<std::optional<std::string>> key = files_.read_if_exists(folder + "/tls.key");
  if (!certificate.ok() || !key.ok() || !certificate.value() || !key.value()) {
    log_once(fmt::format("{}: not found; continuing with the previous one", what));
  } else if (const Result<bool> fits = net::key_fits(*certificate.value(), Secret(*key.value())); !fits.ok() || !fits.value()) {
    log_once(fmt::format("{}: cannot be used: {}; continuing with the previous one", what,
                         fits.ok() ? "the key does not belong to the certificate" : fits.error().message()));
  } else {
    log_once("");
    material_.certificate = Secret(fmt::format("{}\n{}\n", *certificate.value(), *key.value()));
  }
  Result<std::optional<std::string>> authority = std::optional<std::string>();
  if (!options_.service_ca_file.empty()) authority = files_.read_if_exists(options_.service_ca_file);
  const bool is_there = authority.ok() && authority.value();
  if (is_there && net::parse_certificates(*authority.value()).ok()) material_.service_ca = *authority.value();
  return material_;
}

Serving::Serving(const Environment& environment, const Options& options, std::function<void()> changed)
    : options_(options),
      changed_(std::move(changed)),
      reader_(environment.files, options),
      proxy_(environment.files, environment.runner, options, changed_) {}

AdmissionContext Serving::admission_context() const {
  return state_.with_lock([](const State& state) { return state.admission_context; });
}

Result<SteadyTime> Serving::update(const sys::Context& context, const Snapshot& seen) {
  const SteadyTime begin = context.clock.steady();
  if (material_.certificate.empty() || begin >= read_ + read_again) {
    read_ = begin;
    material_ = TRY(reader_.read(context));
    const bool is_news = state_.with_lock([&](State& state) {
      const bool has = !material_.service_ca.empty();
      return std::exchange(state.admission_context.has_service_ca, has) != has;
    });
    if (is_news) changed_();
  }
  const std::vector<Route> routes = admit(seen, options_, admission_context()).routes;
  const Slices slices(seen);
  const Servers servers = find_servers(routes, slices);
  const Proxy::Differences differences = proxy_.differences_to(TRY(configure(routes, material_, options_)), servers);
  bool is_replacement = differences.is_replacement;
  if (!differences.commands.empty()) {
    const Result<> updated = proxy_.update_servers(servers);
    if (!updated.ok()) {
      context.log.warn("haproxy cannot be updated with pods: {}; starting another process", updated.error().message());
      is_replacement = true;
    }
  }
  if (!is_replacement) return read_ + read_again;
  if (begin < not_before_) return not_before_;
  const Result<> replaced = replace(context, routes, slices);
  const SteadyTime now = context.clock.steady();
  if (replaced.ok()) {
    pause_ = {};
    not_before_ = now + pace_for(proxy_.draining());
    context.log.info("haproxy serves {} routes, updated in {}", routes.size(), human_duration(now - begin));
  } else if (!context.stop.stop_requested()) {
    pause_ = std::clamp(pause_ * 2, first_pause, longest_pause);
    not_before_ = now + pause_;
    context.log.warn("haproxy does not start: {}; retrying in {}", replaced.error().message(), human_duration(pause_));
  }
  return std::min(not_before_, read_ + read_again);
}

Result<> Serving::replace(const sys::Context& context, const std::vector<Route>& routes, const Slices& slices) {
  const Result<> started = proxy_.replace(context, TRY(configure(routes, material_, options_)), find_servers(routes, slices));
  if (started.ok()) {
    state_.with_lock([](State& state) { state.has_begun = true; });
    return Ok{};
  }
  if (started.error().code() != Code::invalid || !TRY(leave_out(context, routes, slices))) return started;
  std::vector<Route> others = routes;
  const AdmissionContext now = admission_context();
  std::erase_if(others, [&](const Route& route) {
    return std::ranges::find(now.left_out, route, &std::pair<Route, std::string>::first) != now.left_out.end();
  });
  TRY(proxy_.replace(context, TRY(configure(others, material_, options_)), find_servers(others, slices)));
  state_.with_lock([](State& state) { state.has_begun = true; });
  return Ok{};
}

// Finds the routes that haproxy rejects and leaves them out. False: no route is the reason that haproxy does not start.
Result<bool> Serving::leave_out(const sys::Context& context, const std::vector<Route>& routes, const Slices& slices) {
  std::vector<std::pair<Route, std::string>> culprits =
      TRY(find_culprits(routes, [&](const std::vector<Route>& some) -> Result<> {
        return proxy_.check(context, TRY(configure(some, material_, options_)), find_servers(some, slices));
      }));
  if (culprits.empty()) return false;
  for (const auto& [route, words] : culprits) context.log.warn("route {} is omitted: {}", route.full_name(), words);
  state_.with_lock([&](State& state) {
    auto& known = state.admission_context.left_out;
    // Replaces the entry of an earlier version of the route.
    for (auto& culprit : culprits) {
      std::erase_if(known, [&](const auto& it) { return it.first.full_name() == culprit.first.full_name(); });
      known.push_back(std::move(culprit));
    }
  });
  changed_();
  return true;
}

net::ServerAnswer Serving::answer(const net::ServerRequest& request) const {
  const auto [has_begun, is_leaving] =
      state_.with_lock([](const State& state) { return std::pair(state.has_begun, state.is_leaving); });
  const bool is_ready_asked = request.path == "/healthz/ready";
  if (!is_ready_asked && request.path != "/healthz")
    return net::text_answer(404, "only /healthz and /healthz/ready exist here\n");
  if (is_ready_asked && is_leaving) return net::text_answer(503, "shutting down\n");
  if (!has_begun) return is_ready_asked ? net::text_answer(503, "haproxy is not serving yet\n") : net::text_answer(200, "ok\n");
  const Result<> asked = proxy_.ask();
  return asked.ok() ? net::text_answer(200, "ok\n") : net::text_answer(503, asked.error().message() + "\n");
}

void Serving::leave() {
  state_.with_lock([](State& state) { state.is_leaving = true; });
}

}  // namespace slipway::components::router
