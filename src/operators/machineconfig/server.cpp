#include "operators/machineconfig/server.h"

#include "base/flags.h"
#include "base/text.h"
#include "base/yaml.h"
#include "ignition/parse.h"
#include "machineconfig/served_config.h"
#include "operators/lib/render_inputs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace slipway::operators {

namespace {

constexpr std::array served_pools = {"arbiter", "master"};

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
  int port = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (failure == std::errc() && end == text.data() + text.size() && port >= 0 && port <= 65535) return port;
  return error(Code::invalid, "--{}: '{}' is no port", flag, text);
}

net::ServerAnswer failure(int status, std::string text) { return net::text_answer(status, std::move(text) + "\n"); }

}  // namespace

ConfigServer::ConfigServer(const sys::Context& context, sys::Files& files, Options options)
    : context_(context), files_(files), options_(std::move(options)) {}

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
  if (!options_.token) return true;
  constexpr std::string_view scheme = "Bearer ";
  const std::string_view sent = request.header("Authorization").value_or("");
  return sent.starts_with(scheme) && equal_in_constant_time(sent.substr(scheme.size()), options_.token->reveal());
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
  if (std::ranges::find(served_pools, pool) == served_pools.end()) {
    return failure(500,
                   fmt::format("pool '{}' is not served by the bootstrap machine; ask again when the cluster is there", pool));
  }
  const Result<ignition::Version> version = machineconfig::accepted_version(request.header("Accept").value_or(""));
  if (!version.ok()) return failure(400, version.error().message());
  Result<std::shared_ptr<const std::string>> found = body(pool, version.value());
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

Result<std::shared_ptr<const std::string>> ConfigServer::body(const std::string& pool, ignition::Version version) {
  using Body = std::shared_ptr<const std::string>;
  Sources sources = TRY(read_sources(pool));
  const Body ready = prepared_.with_lock([&](const auto& prepared) -> Body {
    const auto known = prepared.find(pool);
    if (known == prepared.end() || known->second.sources != sources) return nullptr;
    const auto made = known->second.bodies.find(version);
    return made == known->second.bodies.end() ? nullptr : made->second;
  });
  if (ready) return ready;
  Body made = TRY(prepare(sources, version));
  prepared_.with_lock([&](auto& prepared) {
    Prepared& entry = prepared[pool];
    if (entry.sources != sources) entry = {.sources = std::move(sources), .bodies = {}};
    entry.bodies[version] = made;
  });
  return made;
}

Result<ConfigServer::Sources> ConfigServer::read_sources(const std::string& pool) {
  const std::string pools = options_.base_folder + "/machine-pools/";
  const std::optional<std::string> text = TRY(files_.read_if_exists(pools + pool + ".yaml"));
  if (!text) {
    // Pools are written in the order of their names and last of all, so master's says that arbiter's will not come.
    if (TRY(files_.info(pools + "master.yaml"))) return error(Code::not_found, "there is no pool '{}'", pool);
    return error(Code::unavailable, "the configs are not rendered yet");
  }
  std::string controller = TRY(files_.read(options_.base_folder + "/controller-config/machine-config-controller.yaml"));
  std::string kubeconfig = TRY(files_.read(options_.kubeconfig_file));
  return Sources{*text, std::move(controller), std::move(kubeconfig)};
}

Result<std::shared_ptr<const std::string>> ConfigServer::prepare(const Sources& sources, ignition::Version version) {
  const YamlDocument pool = TRY(parse_yaml(sources.pool, "pool"));
  const std::string name = TRY(require_string(pool.value, {"spec", "configuration", "name"}));
  const std::string path = fmt::format("{}/machine-configs/{}.yaml", options_.base_folder, name);
  const Json rendered = TRY(read_yaml(files_, path));
  const YamlDocument controller = TRY(parse_yaml(sources.controller, "controller config"));
  const machineconfig::MachineConfig config = TRY(machineconfig::parse_machine_config(rendered, path));
  const machineconfig::ControllerConfig known =
      TRY(machineconfig::parse_controller_config(controller.value, "controller config"));
  const ignition::Config served = TRY(machineconfig::served_config(config, known, Secret(sources.kubeconfig), version));
  return std::make_shared<const std::string>(emit_json(ignition::to_json(served), JsonStyle::compact));
}

Result<> run_machine_config_server_bootstrap(const Environment& environment, const Arguments& arguments) {
  const std::vector<Flag> table = {{.name = "server-basedir", .fallback = "/etc/mcs/bootstrap"},
                                   {.name = "bootstrap-kubeconfig", .fallback = "/etc/kubernetes/kubeconfig"},
                                   {.name = "secure-port", .fallback = "22623"},
                                   {.name = "insecure-port", .fallback = "22624"},
                                   {.name = "cert", .fallback = "/etc/ssl/mcs/tls.crt"},
                                   {.name = "key", .fallback = "/etc/ssl/mcs/tls.key"},
                                   {.name = "token-file", .fallback = "/etc/ssl/mcs/token"},
                                   {.name = "payload-version"}};
  const Flags flags = TRY(parse_flags("machine-config-server bootstrap", table, arguments));
  const int secure_port = TRY(port_of(flags, "secure-port"));
  const int insecure_port = TRY(port_of(flags, "insecure-port"));
  sys::Files& files = environment.files;
  TRY(files.read(flags.text("bootstrap-kubeconfig")));
  std::string certificate = TRY(files.read(flags.text("cert")));
  const Secret key(TRY(files.read(flags.text("key"))));
  ConfigServer::Options options{flags.text("server-basedir"), flags.text("bootstrap-kubeconfig")};
  // Read once: a file that vanished later must not open the door.
  if (const std::optional<std::string> token = TRY(files.read_if_exists(flags.text("token-file")))) {
    if (trim(*token).empty()) return error(Code::invalid, "{} is empty", flags.text("token-file"));
    options.token = Secret(std::string(trim(*token)));
  }
  const sys::Context& context = environment.context;
  if (!options.token) context.log.warn("there is no {}: everybody who asks gets the configs", flags.text("token-file"));
  ConfigServer configs(context, files, std::move(options));
  const auto handler = [&](const net::ServerRequest& request) { return configs.answer(request); };
  const auto listen = [&](const std::string& address) {
    return net::HttpServer::listen({.address = address, .port = secure_port, .tls = net::ServerTls{certificate, key}}, handler);
  };
  Result<net::HttpServer> everywhere = listen("::");
  if (!everywhere.ok()) everywhere = listen("0.0.0.0");  // where there is no IPv6
  const net::HttpServer machines = TRY(std::move(everywhere));
  const net::HttpServer local = TRY(net::HttpServer::listen({.address = "127.0.0.1", .port = insecure_port}, handler));
  context.log.info("serving {} on port {}", flags.text("server-basedir"), machines.port());
  wait_for_stop(context);
  return Ok{};
}

}  // namespace slipway::operators
