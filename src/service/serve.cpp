#include "service/serve.h"

#include "base/flags.h"
#include "base/number.h"
#include "base/text.h"
#include "net/ip.h"
#include "net/url.h"
#include "service/access.h"
#include "service/server.h"
#include "service/views.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace slipway::service {

namespace {

constexpr Milliseconds life_of_admin_token = std::chrono::hours(24 * 365);

const std::vector<Flag>& flags_of_serve() {
  static const std::vector<Flag> all = {
      {.name = "state", .required = true},
      {.name = "address", .fallback = "127.0.0.1"},
      {.name = "port", .fallback = "8090"},
      {.name = "url"},
      {.name = "auth", .fallback = "local"},
      {.name = "plain-http", .is_switch = true},
      {.name = "slipway"},
      {.name = "release"},
      {.name = "release-image"},
      {.name = "live-image"},
      {.name = "openshift-version", .fallback = default_openshift_version},
      {.name = "limits-are-errors", .is_switch = true},
  };
  return all;
}

struct Settings {
  std::string state, address, url, slipway;
  int port = 0;
  bool authenticates = true, plain_http = false;
};

// slipway is installed in the same folder; otherwise it is searched in PATH.
std::string slipway_beside_this_program() {
  std::error_code problem;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", problem);
  const std::filesystem::path beside = own.parent_path() / "slipway";
  return !problem && std::filesystem::exists(beside, problem) ? beside.string() : "slipway";
}

Result<Settings> read_settings(const Flags& flags) {
  Settings found{
      .state = flags.text("state"), .address = flags.text("address"), .url = flags.text("url"), .slipway = flags.text("slipway")};
  const auto port = parse_number<std::uint16_t>(flags.text("port"));
  if (!port || *port == 0) return error(Code::invalid, "--port: '{}' is no port", to_utf8(flags.text("port")));
  found.port = *port;
  if (!net::is_ip(found.address)) return error(Code::invalid, "--address: '{}' is no IP address", to_utf8(found.address));
  const std::string& auth = flags.text("auth");
  if (auth != "local" && auth != "none") return error(Code::invalid, "--auth: '{}' is not local or none", to_utf8(auth));
  found.authenticates = auth == "local";
  found.plain_http = flags.is_set("plain-http");
  const bool is_loopback = net::is_loopback(found.address);
  if (!found.authenticates && !is_loopback) {
    return error(Code::invalid, "--auth none is only allowed on a loopback address: everybody who reaches {} could do everything",
                 found.address);
  }
  if (found.plain_http && !is_loopback) {
    return error(Code::invalid, "--plain-http is only allowed on a loopback address: tokens would cross the network unencrypted");
  }
  if (!found.url.empty()) TRY(net::parse_url(found.url).context("--url"));
  if (found.slipway.empty()) found.slipway = slipway_beside_this_program();
  return found;
}

// The server sends no file behind a link.
std::string without_links(const std::string& path) {
  std::error_code problem;
  const std::filesystem::path found = std::filesystem::canonical(path, problem);
  return problem ? path : found.string();
}

// A token for the administrator of this machine, in a file that only root reads.
Result<> ensure_admin_token(const net::Environment& environment, Core& core, const std::string& path) {
  const std::optional<std::string> known = TRY(environment.files.read_if_exists(path));
  if (known) {
    const auto fresh = core.look([&](const World& world) {
      const Result<Caller> caller = caller_of(world, trim(*known), core.now() + life_of_admin_token / 2);
      return caller.ok() && caller->kind == TokenKind::admin;
    });
    if (fresh) return Ok{};
  }
  std::string token;
  TRY(core.run([&](Edit& edit) -> Result<> {
    token = TRY(issue_token(edit, environment.random, {.kind = TokenKind::admin, .expires = edit.now() + life_of_admin_token}));
    return Ok{};
  }));
  return environment.files.write(path, token + "\n", 0600);
}

}  // namespace

Result<> run_serve(const net::Environment& environment, const std::vector<std::string>& arguments) {
  const Flags flags = TRY(parse_flags("slipway-assist serve", flags_of_serve(), arguments));
  const Settings settings = TRY(read_settings(flags));
  Store store = TRY(open_state(environment, settings.state));

  const std::string scheme = settings.plain_http ? "http" : "https";
  const std::string url =
      settings.url.empty() ? fmt::format("{}://{}", scheme, net::host_and_port(settings.address, settings.port)) : settings.url;
  const std::string own_name = TRY(net::parse_url(url)).host;
  std::optional<ServerCertificate> certificate;
  if (!settings.plain_http) {
    std::vector<std::string> names = {"localhost", "127.0.0.1", own_name};
    if (settings.address != "0.0.0.0" && settings.address != "::") names.push_back(settings.address);
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    certificate = TRY(ensure_certificate(environment, settings.state + "/tls", names));
  }

  SlipwayInstallation installation(environment, settings.slipway, flags.text("release"));
  const ServerHooks hooks{.prepare = [&](Core& core) -> Result<> {
    if (!settings.authenticates) return Ok{};
    return ensure_admin_token(environment, core, settings.state + "/auth/admin-token");
  }};
  return run_server(
      environment, std::move(store),
      {.state = settings.state,
       .address = settings.address,
       .port = settings.port,
       .certificate = certificate,
       .stops_at_limits = flags.is_set("limits-are-errors"),
       .gives_images = true,
       .api = {.authenticates = settings.authenticates,
               .url = url,
               .authority = certificate ? certificate->authority : std::string(),
               .openshift_version = flags.text("openshift-version"),
               .release_image = flags.text("release-image"),
               .logs = settings.state + "/logs",
               .live_image = without_links(flags.text("live-image")),
               .names = settings.authenticates ? std::vector<std::string>{} : std::vector<std::string>{"localhost", own_name}}},
      installation, hooks);
}

Result<> run_status(const net::Environment& environment, const std::vector<std::string>& arguments) {
  const Flags flags = TRY(parse_flags("slipway-assist status", {{.name = "state", .required = true}}, arguments));
  const std::string& state = flags.text("state");
  const auto read = [&](const std::string& name) { return environment.files.read_if_exists(fmt::format("{}/{}", state, name)); };
  const std::optional<std::string> url = TRY(read("url"));
  if (!url)
    return error(Code::not_found, "{}: no service has used this folder (start one with slipway-assist serve --state {})", state,
                 state);
  const std::optional<std::string> token = TRY(read("auth/admin-token")), authority = TRY(read("tls/ca.crt"));
  const auto get = [&](const std::string& path) -> Result<Json> {
    net::Request request{.url = TRY(net::parse_url(fmt::format("{}{}{}", trim(*url), api_prefix, path)))};
    if (token) request.authorization = Secret(fmt::format("Bearer {}", trim(*token)));
    if (authority) request.tls.ca_pem = *authority;
    const net::Answer answer = TRY(environment.http.send(request, environment.context.stop));
    if (answer.status != 200) return error(Code::unavailable, "{}: status {}: {}", trim(*url), answer.status, answer.body);
    return parse_json(answer.body, path);
  };
  const Json clusters = TRY(get("/clusters?with_hosts=true"));
  if (!clusters.is_array() || clusters.get_array().empty()) {
    environment.print("no clusters\n");
    return Ok{};
  }
  for (const Json& cluster : clusters.get_array()) {
    environment.print(fmt::format("cluster {}: {}, {} %: {}\n", text_of(cluster, {"name"}), text_of(cluster, {"status"}),
                                  integer_of(cluster, {"progress", "total_percentage"}), text_of(cluster, {"status_info"})));
    for (const Json& host : find_array(cluster, {"hosts"})) {
      const std::string stage = text_of(host, {"progress", "current_stage"});
      environment.print(fmt::format("  host {}: {}{}{}: {}\n", text_of(host, {"requested_hostname"}), text_of(host, {"status"}),
                                    stage.empty() ? "" : ", ", stage, text_of(host, {"status_info"})));
    }
  }
  return Ok{};
}

}  // namespace slipway::service
