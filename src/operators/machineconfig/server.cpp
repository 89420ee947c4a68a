#include "operators/machineconfig/server.h"

#include "base/flags.h"
#include "base/number.h"
#include "base/text.h"
#include "ignition/parse.h"
#include "machineconfig/served_config.h"

#include <utility>

namespace slipway::operators {

namespace {

constexpr Milliseconds between_looks = std::chrono::minutes(1);

// Takes the same time wherever the first difference is.
bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (a[i] ^ (i < b.size() ? b[i] : '\0')));
  }
  return difference == 0;
}

int status_of(Code code) {
  switch (code) {
    case Code::not_found: return 404;
    case Code::unavailable: return 503;
    default: return 500;
  }
}

Result<int> port_of(const Flags& flags, std::string_view flag) {
  const std::string& text = flags.text(flag);
  if (const std::optional<std::uint16_t> port = parse_number<std::uint16_t>(text)) return *port;
  return error(Code::invalid, "--{}: '{}' is no port", flag, text);
}

net::ServerAnswer failure(int status, std::string text) { return net::text_answer(status, std::move(text) + "\n"); }

// What the server proves itself and knows machines by.
struct Credentials {
  std::string certificate;
  Secret key;
  std::optional<Secret> token;

  bool operator==(const Credentials&) const = default;
};

Result<Credentials> read_credentials(sys::Files& files, const Flags& flags) {
  Credentials found;
  found.certificate = TRY(files.read(flags.text("cert")));
  found.key = Secret(TRY(files.read(flags.text("key"))));
  if (const std::optional<std::string> token = TRY(files.read_if_exists(flags.text("token-file")))) {
    if (trim(*token).empty()) return error(Code::invalid, "{} is empty", flags.text("token-file"));
    found.token = Secret(std::string(trim(*token)));
  }
  return found;
}

// Ends when a stop is asked for or the files say something else. One that vanished meanwhile opens no door: what was read at
// the start stays true until there is something new.
void wait_for_renewal(const Environment& environment, const Flags& flags, const Credentials& known) {
  const sys::Context& context = environment.context;
  while (!context.stop.stop_requested()) {
    context.clock.wait(context.clock.steady() + between_looks, context.stop, nullptr, 0);
    const Result<Credentials> now = read_credentials(environment.files, flags);
    if (!now.ok() || now.value() == known || (known.token && !now->token)) continue;
    context.log.info("the certificate or the token was renewed: ending, to be started again with it");
    return;
  }
}

}  // namespace

ConfigServer::ConfigServer(const sys::Context& context, ConfigSource& source, std::optional<Secret> token)
    : context_(context), source_(source), token_(std::move(token)) {}

net::ServerAnswer ConfigServer::answer(const net::ServerRequest& request) {
  constexpr std::string_view configs = "/config/";
  if (request.method != "GET" && request.method != "HEAD") return failure(405, "only GET and HEAD are answered");
  if (request.path == "/healthz") return net::text_answer(200, "");
  if (!request.path.starts_with(configs)) return failure(404, "there is only /config/POOL");
  if (!is_allowed(request)) {
    tell_refusal(request);
    return failure(403, "this is for machines of the cluster: the token is missing or wrong");
  }
  return answer_config(request, request.path.substr(request.path.rfind('/') + 1));
}

bool ConfigServer::is_allowed(const net::ServerRequest& request) const {
  if (!token_) return true;
  constexpr std::string_view scheme = "Bearer ";
  const std::string_view sent = request.header("Authorization").value_or("");
  return sent.starts_with(scheme) && equal_in_constant_time(sent.substr(scheme.size()), token_->reveal());
}

void ConfigServer::tell_refusal(const net::ServerRequest& request) {
  const SteadyTime now = context_.clock.steady();
  const std::optional<int> untold = refusals_.with_lock([&](Refusals& refusals) -> std::optional<int> {
    if (refusals.told && now - *refusals.told < Seconds(1)) {
      ++refusals.since;
      return std::nullopt;
    }
    refusals.told = now;
    return std::exchange(refusals.since, 0);
  });
  if (!untold) return;
  context_.log.warn("refused {} to {}: the token is missing or wrong ({} more since the last line)", request.path, request.peer,
                    *untold);
  context_.events.emit({.kind = "config-request",
                        .name = request.path,
                        .phase = sys::Phase::failed,
                        .error = error(Code::denied, "{} sent no token or a wrong one", request.peer),
                        .fields = {{"peer", request.peer}, {"not_told", *untold}}});
}

net::ServerAnswer ConfigServer::answer_config(const net::ServerRequest& request, const std::string& pool) {
  const Result<ignition::Version> version = machineconfig::accepted_version(request.header("Accept").value_or(""));
  if (!version.ok()) return failure(400, version.error().message());
  Result<Body> found = body(pool, version.value());
  if (!found.ok()) {
    context_.log.warn("{} for {}: {}", request.path, request.peer, found.error().message());
    return failure(status_of(found.error().code()), found.error().message());
  }
  context_.log.info("{} for {}, Ignition {}", request.path, request.peer, to_string(version.value()));
  context_.events.emit({.kind = "config-request",
                        .name = request.path,
                        .phase = sys::Phase::finished,
                        .fields = {{"peer", request.peer}, {"version", to_string(version.value())}}});
  return {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = std::move(found).value()};
}

Result<ConfigServer::Body> ConfigServer::body(const std::string& pool, ignition::Version version) {
  const std::shared_ptr<const PoolConfig> from = TRY(source_.find(pool));
  const Body ready = prepared_.with_lock([&](const auto& prepared) -> Body {
    const auto known = prepared.find(pool);
    if (known == prepared.end() || known->second.from != from) return nullptr;
    const auto made = known->second.bodies.find(version);
    return made == known->second.bodies.end() ? nullptr : made->second;
  });
  if (ready) return ready;
  const ignition::Config served = TRY(machineconfig::served_config(from->rendered, from->controller, from->kubeconfig, version));
  const Body made = std::make_shared<const std::string>(emit_json(ignition::to_json(served), JsonStyle::compact));
  prepared_.with_lock([&](auto& prepared) {
    Prepared& entry = prepared[pool];
    if (entry.from != from) entry = {.from = from};
    entry.bodies[version] = made;
  });
  return made;
}

std::vector<Flag> config_server_flags() {
  return {{.name = "secure-port", .fallback = "22623"},
          {.name = "insecure-port", .fallback = "22624"},
          {.name = "cert", .fallback = "/etc/ssl/mcs/tls.crt"},
          {.name = "key", .fallback = "/etc/ssl/mcs/tls.key"},
          {.name = "token-file", .fallback = "/etc/ssl/mcs/token"},
          {.name = "payload-version"}};
}

Result<> serve_configs(const Environment& environment, const Flags& flags, ConfigSource& source) {
  const int secure_port = TRY(port_of(flags, "secure-port"));
  const int insecure_port = TRY(port_of(flags, "insecure-port"));
  const Credentials credentials = TRY(read_credentials(environment.files, flags));
  const sys::Context& context = environment.context;
  if (!credentials.token) context.log.warn("there is no {}: everybody who asks gets the configs", flags.text("token-file"));
  ConfigServer configs(context, source, credentials.token);
  const auto handler = [&](const net::ServerRequest& request) { return configs.answer(request); };
  const auto listen = [&](const std::string& address) {
    return net::HttpServer::listen(
        {.address = address, .port = secure_port, .tls = net::ServerTls{credentials.certificate, credentials.key}}, handler);
  };
  Result<net::HttpServer> everywhere = listen("::");
  if (!everywhere.ok()) everywhere = listen("0.0.0.0");  // where there is no IPv6
  const net::HttpServer machines = TRY(std::move(everywhere));
  const net::HttpServer local = TRY(net::HttpServer::listen({.address = "127.0.0.1", .port = insecure_port}, handler));
  context.log.info("serving configs on port {}", machines.port());
  wait_for_renewal(environment, flags, credentials);
  return Ok{};
}

}  // namespace slipway::operators
