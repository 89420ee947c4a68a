#include "components/machine_config_server/metrics.h"

#include "components/controller/process_metrics.h"
#include "components/machine_config_server/server.h"

#include <optional>
#include <utility>

namespace slipway::components::machine_config_server {

namespace {

constexpr std::string_view path = "/metrics";
constexpr Milliseconds poll_interval{30'000};
constexpr Milliseconds review_limit{5'000};
// One Prometheus or two.
constexpr int connections = 64, connections_per_address = 16;
constexpr Seconds exchange_limit{20};

Result<Json> review(const sys::Context& context, kube::Api& api, const kube::ResourceType& type, Json spec) {
  const Json question = {{"apiVersion", type.api_version()}, {"kind", type.kind}, {"spec", std::move(spec)}};
  return api.send(context,
                  {.method = "POST", .path = kube::path_of(type, ""), .body = question, .limit = review_limit});
}

bool is_true(const Json& answer, std::string_view member) {
  const Json* value = find(answer, {"status", member});
  return value && *value == Json(true);
}

net::ServerAnswer failure(int status, std::string_view text) { return net::text_answer(status, fmt::format("{}\n", text)); }

struct ServedFiles {
  std::string certificate;
  Secret key;
  bool operator==(const ServedFiles&) const = default;
};

// Nothing if a file does not exist yet: the kubelet writes it when service-ca has made the Secret.
std::optional<ServedFiles> read_files(sys::Files& files, const Flags& flags) {
  Result<std::optional<std::string>> certificate = files.read_if_exists(flags.text("metrics-cert"));
  Result<std::optional<std::string>> key = files.read_if_exists(flags.text("metrics-key"));
  if (!certificate.ok() || !key.ok() || !certificate.value() || !key.value()) return std::nullopt;
  return ServedFiles{*std::move(certificate).value(), Secret(*std::move(key).value())};
}

}  // namespace

Result<int> review_token(const sys::Context& context, kube::Api& api, const Secret& token) {
  const Json who = TRY(review(context, api, kube::types::token_reviews, {{"token", token.reveal()}}));
  if (!is_true(who, "authenticated")) return 401;
  const JsonObject& user = find_object(who, {"status", "user"});
  Json spec = {{"user", text_of(who, {"status", "user", "username"})},
               {"nonResourceAttributes", {{"path", path}, {"verb", "get"}}}};
  for (const char* member : {"uid", "groups", "extra"}) {
    if (const Json* value = user.if_contains(member)) spec.as_object()[member] = *value;
  }
  const Json what = TRY(review(context, api, kube::types::subject_access_reviews, std::move(spec)));
  return is_true(what, "allowed") ? 200 : 403;
}

net::ServerAnswer answer_metrics(const net::ServerRequest& request, const std::function<Result<int>(const Secret& token)>& review,
                                 const std::function<std::string()>& collect) {
  constexpr std::string_view scheme = "Bearer ";
  if (request.path != path) return failure(404, "only /metrics exists here");
  if (request.method != "GET") return failure(405, "only GET and HEAD are allowed");
  const std::string_view sent = request.header("Authorization").value_or("");
  Result<int> status = 401;
  if (sent.starts_with(scheme) && sent.size() > scheme.size()) status = review(Secret(std::string(sent.substr(scheme.size()))));
  if (!status.ok()) return failure(503, "the API server cannot check the token now");
  if (status.value() == 401) {
    net::ServerAnswer answer = failure(401, "a token of the cluster is required");
    answer.headers.push_back({"WWW-Authenticate", "Bearer"});
    return answer;
  }
  if (status.value() != 200) return failure(403, "the user of the token may not get the path /metrics (docs: metrics.md)");
  return net::text_answer(200, collect(), "text/plain; version=0.0.4; charset=utf-8");
}

std::vector<Flag> metrics_flags() {
  return {{.name = "metrics-port", .fallback = "9099"},
          {.name = "metrics-cert", .fallback = "/etc/ssl/metrics/tls.crt"},
          {.name = "metrics-key", .fallback = "/etc/ssl/metrics/tls.key"}};
}

Result<> serve_metrics(const Environment& environment, const Flags& flags, kube::Api& api) {
  const sys::Context& context = environment.context;
  const int port = TRY(port_of(flags, "metrics-port"));
  const auto handler = [&](const net::ServerRequest& request) {
    return answer_metrics(
        request,
        [&](const Secret& token) {
          Result<int> status = review_token(context, api, token);
          if (!status.ok()) context.log.warn("metrics for {}: {}", request.peer, status.error().message());
          return status;
        },
        [&] { return collect_metrics(context, environment.files); });
  };
  std::optional<net::HttpServer> server;
  std::optional<ServedFiles> served;
  std::string logged;
  while (!context.stop.stop_requested()) {
    const std::optional<ServedFiles> found = read_files(environment.files, flags);
    if (found && found != served) {
      server.reset();
      served.reset();
      Result<net::HttpServer> started = listen_everywhere({.port = port,
                                                           .tls = net::ServerTls{found->certificate, found->key},
                                                           .threads = 1,
                                                           .connections = connections,
                                                           .connections_per_address = connections_per_address,
                                                           .body_limit = 0,
                                                           .exchange_limit = exchange_limit},
                                                          handler);
      const std::string problem = started.ok() ? "" : started.error().message();
      if (started.ok()) {
        server.emplace(std::move(started).value());
        served = found;
        context.log.info("serving metrics on port {}", server->port());
      } else if (problem != logged) {
        context.log.warn("metrics are not served: {}; retrying", problem);
      }
      logged = problem;
    }
    context.clock.wait(context.clock.steady() + poll_interval, context.stop, nullptr, 0);
  }
  return Ok{};
}

}  // namespace slipway::components::machine_config_server
