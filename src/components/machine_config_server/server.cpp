#include "components/machine_config_server/server.h"

#include "base/flags.h"
#include "base/number.h"
#include "base/text.h"
#include "components/machine_config_server/constant_time.h"
#include "ignition/parse.h"
#include "machineconfig/pools.h"
#include "machineconfig/served_config.h"
#include "net/ip.h"
#include "net/url.h"

#include <algorithm>
#include <utility>

namespace slipway::components::machine_config_server {

namespace {

constexpr Milliseconds poll_interval = std::chrono::minutes(1);
constexpr int config_server_port = 22623;
constexpr std::string_view https = "https://";

// A machine sends one request, and all machines behind a load balancer may have the same address.
constexpr int connections = 512;
constexpr int connections_per_address = 32;
constexpr Seconds exchange_limit{20};
// A blob of 150 MB has ten minutes. Only machines of the control plane get blobs.
constexpr std::uint64_t slowest_blob_rate = 256 * 1024;
constexpr Seconds retry_after{5};

int status_of(Code code) {
  switch (code) {
    case Code::not_found: return 404;
    case Code::unavailable: return 503;
    default: return 500;
  }
}

net::ServerAnswer failure(int status, std::string text) { return net::text_answer(status, std::move(text) + "\n"); }

// Escapes control characters, which could forge log lines or control a terminal: "/config/a\x0ab".
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", byte);
    }
  }
  return out;
}

bool is_pool_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

// The server's certificate and the tokens of machines.
struct Credentials {
  std::string certificate;
  Secret key;
  PointerTokens tokens;

  bool operator==(const Credentials&) const = default;
};

Result<std::optional<Secret>> read_token(sys::Files& files, const std::string& file) {
  const std::optional<std::string> token = TRY(files.read_if_exists(file));
  if (!token) return std::optional<Secret>();
  if (trim(*token).empty()) return error(Code::invalid, "{} is empty", file);
  return std::optional(Secret(std::string(trim(*token))));
}

Result<Credentials> read_credentials(sys::Files& files, const Flags& flags) {
  Credentials found;
  found.certificate = TRY(files.read(flags.text("cert")));
  found.key = Secret(TRY(files.read(flags.text("key"))));
  const std::string& token_file = flags.text("token-file");
  const auto token = TRY(read_token(files, token_file));
  if (!token) {
    return error(Code::not_found,
                 "{}: no token, so no configs are served (pointer configs and Secret "
                 "openshift-machine-config-operator/machine-config-server-tls must have the same token)",
                 token_file);
  }
  const auto worker = TRY(read_token(files, flags.text("worker-token-file")));
  found.tokens = {*token, worker.value_or(*token)};
  return found;
}

// Returns when a stop is requested or the files have changed. A file that is missing meanwhile is ignored: the values that were
// read at the start stay valid.
void wait_for_renewal(const Environment& environment, const Flags& flags, const Credentials& known) {
  const sys::Context& context = environment.context;
  while (!context.stop.stop_requested()) {
    context.clock.wait(context.clock.steady() + poll_interval, context.stop, nullptr, 0);
    const Result<Credentials> now = read_credentials(environment.files, flags);
    if (!now.ok() || now.value() == known) continue;
    context.log.info("the certificate or the token was renewed: exiting, to restart with it");
    return;
  }
}

}  // namespace

ConfigServer::ConfigServer(const sys::Context& context, ConfigSource& source, PointerTokens tokens, const OsImages* images)
    : context_(context), source_(source), tokens_(std::move(tokens)), images_(images) {}

net::ServerAnswer ConfigServer::answer(const net::ServerRequest& request) {
  net::ServerAnswer answer = make_answer(request);
  answer.headers.push_back({"Connection", "close"});
  if (answer.status == 503) answer.headers.push_back({"Retry-After", std::to_string(retry_after.count())});
  return answer;
}

net::ServerAnswer ConfigServer::make_answer(const net::ServerRequest& request) {
  constexpr std::string_view configs = "/config/";
  if (images_ && OsImages::is_for(request.path)) return answer_image(request);
  if (request.method != "GET" && request.method != "HEAD") return failure(405, "only GET and HEAD are allowed");
  if (request.path == "/healthz") return net::text_answer(200, "");
  if (!request.path.starts_with(configs)) return failure(404, "only /config/POOL exists here");
  const std::string pool = request.path.substr(request.path.rfind('/') + 1);
  if (!is_allowed(request, pool)) {
    report_refusal(request);
    return failure(403, "access denied: the token of the pool is missing or wrong");
  }
  if (!is_pool_name(pool)) return failure(404, "invalid name of a pool");
  return answer_config(request, pool);
}

net::ServerAnswer ConfigServer::answer_image(const net::ServerRequest& request) {
  net::ServerAnswer answer = images_->answer(request);
  // Clients of registries first ask without a login.
  if (answer.status == 401 && request.header("Authorization")) report_refusal(request);
  if (answer.status == 503) context_.log.warn("{} for {}: {}", printable(request.path), request.peer, *answer.body);
  if (answer.status == 200) context_.log.info("{} for {}", printable(request.path), request.peer);
  return answer;
}

bool ConfigServer::is_allowed(const net::ServerRequest& request, std::string_view pool) const {
  constexpr std::string_view scheme = "Bearer ";
  const std::string_view sent = request.header("Authorization").value_or("");
  if (!sent.starts_with(scheme)) return false;
  const std::string_view token = sent.substr(scheme.size());
  const bool is_control_plane = equal_in_constant_time(token, tokens_.control_plane.reveal());
  const bool is_worker = equal_in_constant_time(token, tokens_.worker.reveal());
  return is_control_plane || (is_worker && !machineconfig::is_control_plane_pool(pool));
}

void ConfigServer::report_refusal(const net::ServerRequest& request) {
  const SteadyTime now = context_.clock.steady();
  const std::optional<int> unreported = refusals_.with_lock([&](Refusals& refusals) -> std::optional<int> {
    if (refusals.reported && now - *refusals.reported < Seconds(1)) {
      ++refusals.unreported;
      return std::nullopt;
    }
    refusals.reported = now;
    return std::exchange(refusals.unreported, 0);
  });
  if (!unreported) return;
  const std::string path = printable(request.path);
  context_.log.warn("refused {} to {}: the token is missing or wrong ({} more refused since the last line)", path, request.peer,
                    *unreported);
  context_.events.emit({.kind = "config-request",
                        .name = path,
                        .phase = sys::Phase::failed,
                        .error = error(Code::denied, "{} sent no token or a wrong one", request.peer),
                        .fields = {{"peer", request.peer}, {"not_told", *unreported}}});
}

net::ServerAnswer ConfigServer::answer_config(const net::ServerRequest& request, const std::string& pool) {
  const Result<ignition::Version> version = machineconfig::accepted_version(request.header("Accept").value_or(""));
  if (!version.ok()) return failure(400, version.error().message());
  Result<Body> found = body(pool, version.value());
  const std::string path = printable(request.path);
  if (!found.ok()) {
    context_.log.warn("{} for {}: {}", path, request.peer, found.error().message());
    return failure(status_of(found.error().code()), found.error().message());
  }
  context_.log.info("{} for {}, Ignition {}", path, request.peer, to_string(version.value()));
  context_.events.emit({.kind = "config-request",
                        .name = path,
                        .phase = sys::Phase::finished,
                        .fields = {{"peer", request.peer}, {"version", to_string(version.value())}}});
  return {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = std::move(found).value()};
}

// Nothing when the cluster has no internal URL of the API.
Result<std::optional<machineconfig::ConfigServerAccess>> ConfigServer::access_for(
    const std::string& pool, const machineconfig::ControllerConfig& controller) const {
  const std::string api = controller.internal_api_url();
  if (api.empty()) return std::optional<machineconfig::ConfigServerAccess>();
  const net::Url url = TRY(net::parse_url(api).context("the API's address"));
  return std::optional(machineconfig::ConfigServerAccess{
      fmt::format("{}{}/config/{}", https, net::host_and_port(url.host, config_server_port), pool), controller.root_ca,
      machineconfig::is_control_plane_pool(pool) ? tokens_.control_plane : tokens_.worker});
}

std::optional<machineconfig::ServedImage> ConfigServer::image_of(
    const PoolConfig& config, const std::optional<machineconfig::ConfigServerAccess>& access) const {
  if (config.image.empty()) return std::nullopt;
  machineconfig::ServedImage served{.image = config.image};
  if (!config.is_image_served || !access) return served;
  const std::string_view host = std::string_view(access->url).substr(https.size());
  served.source = machineconfig::OsImageSource{.image = config.image,
                                               .server = std::string(host.substr(0, host.find('/'))),
                                               .ca = access->ca,
                                               .username = std::string(os_image_user),
                                               .password = tokens_.control_plane};
  return served;
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
  const auto access = TRY(access_for(pool, from->controller));
  const machineconfig::JoinCredentials credentials = {from->kubeconfig, access};
  const ignition::Config served =
      TRY(machineconfig::served_config(from->rendered, from->controller, credentials, version, image_of(*from, access)));
  const Body made = std::make_shared<const std::string>(emit_json(ignition::to_json(served), JsonStyle::compact));
  prepared_.with_lock([&](auto& prepared) {
    Prepared& entry = prepared[pool];
    if (entry.from != from) entry = {.from = from};
    entry.bodies[version] = made;
  });
  return made;
}

Result<int> port_of(const Flags& flags, std::string_view flag) {
  const std::string& text = flags.text(flag);
  if (const std::optional<std::uint16_t> port = parse_number<std::uint16_t>(text)) return *port;
  return error(Code::invalid, "--{}: '{}' is not a port", flag, text);
}

Result<net::HttpServer> listen_everywhere(net::ServerOptions options, const net::HttpServer::Handler& handler) {
  options.address = "::";
  Result<net::HttpServer> server = net::HttpServer::listen(options, handler);
  if (server.ok()) return server;
  options.address = "0.0.0.0";
  return net::HttpServer::listen(options, handler);
}

std::vector<Flag> config_server_flags() {
  return {{.name = "secure-port", .fallback = "22623"},
          {.name = "insecure-port", .fallback = "22624"},
          {.name = "cert", .fallback = "/etc/ssl/mcs/tls.crt"},
          {.name = "key", .fallback = "/etc/ssl/mcs/tls.key"},
          {.name = "token-file", .fallback = "/etc/ssl/mcs/token"},
          {.name = "worker-token-file", .fallback = "/etc/ssl/mcs/worker-token"},
          {.name = "payload-version"}};
}

Result<> serve_configs(const Environment& environment, const Flags& flags, ConfigSource& source,
                       const std::string& images_folder) {
  const int secure_port = TRY(port_of(flags, "secure-port"));
  const int insecure_port = TRY(port_of(flags, "insecure-port"));
  const Credentials credentials = TRY(read_credentials(environment.files, flags));
  const sys::Context& context = environment.context;
  std::optional<OsImages> images;
  if (!images_folder.empty()) images.emplace(environment.files, images_folder, credentials.tokens.control_plane);
  ConfigServer configs(context, source, credentials.tokens, images ? &*images : nullptr);
  const auto handler = [&](const net::ServerRequest& request) { return configs.answer(request); };
  const net::HttpServer machines =
      TRY(listen_everywhere({.port = secure_port,
                             .tls = net::ServerTls{credentials.certificate, credentials.key},
                             .connections = connections,
                             .connections_per_address = connections_per_address,
                             .exchange_limit = exchange_limit,
                             .slowest_file_rate = slowest_blob_rate},
                            handler));
  const net::HttpServer local = TRY(net::HttpServer::listen({.address = "127.0.0.1", .port = insecure_port}, handler));
  context.log.info("serving configs on port {}", machines.port());
  wait_for_renewal(environment, flags, credentials);
  return Ok{};
}

}  // namespace slipway::components::machine_config_server
