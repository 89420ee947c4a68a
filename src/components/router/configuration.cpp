#include "components/router/configuration.h"

#include "base/digest.h"
#include "base/text.h"
#include "components/render/document.h"
#include "net/ip.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace slipway::components::router {

namespace {

constexpr std::string_view http_map = "http.map", https_map = "https.map", names_map = "names.map";
constexpr std::string_view exact_prefix = "exact_";  // of maps: "exact_http.map"
constexpr std::string_view certificate_list = "certificates.list";
constexpr std::string_view page = "no-application.html";
// haproxy accepts 64 words in a line.
constexpr std::size_t sources_a_line = 50;

Result<std::string> fill(std::string_view path, const TemplateValues& values) {
  return fill_text(fmt::format("router/{}", path), values);
}

std::string backend_name(const Route& route) {
  std::string_view prefix = "be_http";
  if (route.termination == Termination::edge) prefix = "be_edge_http";
  if (route.termination == Termination::passthrough) prefix = "be_tcp";
  if (route.termination == Termination::reencrypt) prefix = "be_secure";
  return fmt::format("{}:{}:{}", prefix, route.space, route.name);
}

// Adds a file with a key or authority; returns its path. Its name is the hash of its content, so processes can share files and no
// file ever changes.
std::string add_key_file(Configuration& configuration, const Options& options, const Secret& content) {
  const std::string name = sha256_hex(content.reveal()) + ".pem";
  configuration.keys.emplace(name, content);
  return fmt::format("{}/certificates/{}", options.folder, name);
}

Result<std::string> source_lines(const Route& route) {
  std::string lines;
  for (std::size_t i = 0; i < route.sources.size(); i += sources_a_line) {
    const auto begin = route.sources.begin() + static_cast<std::ptrdiff_t>(i);
    const std::size_t count = std::min(sources_a_line, route.sources.size() - i);
    lines += TRY(fill("lines/allow.cfg", {{"SOURCES", join({begin, begin + static_cast<std::ptrdiff_t>(count)}, " ")}}));
  }
  if (lines.empty()) return lines;
  const bool is_tcp = route.termination == Termination::passthrough;
  return lines + TRY(fill(is_tcp ? "lines/allow_tcp.cfg" : "lines/allow_http.cfg", {}));
}

Result<std::string> rewrite_lines(const Route& route) {
  if (route.rewrite.empty()) return std::string();
  std::string target = route.rewrite;
  while (target.ends_with('/')) target.pop_back();
  const std::string length = std::to_string(route.path.size());
  if (target.empty()) return TRY(fill("lines/rewrite_root.cfg", {{"LENGTH", length}}));
  return TRY(fill("lines/rewrite.cfg", {{"LENGTH", length}, {"TARGET", target}}));
}

Result<std::string> http_lines(const Route& route) {
  std::string lines;
  if (route.has_cookie) {
    const bool is_secure = route.termination != Termination::none && route.insecure != Insecure::allow;
    const std::string name = route.cookie.empty() ? sha256_hex(backend_name(route)).substr(0, 32) : route.cookie;
    lines += TRY(fill("lines/cookie.cfg", {{"KEY", route.uid.empty() ? route.full_name() : route.uid},
                                           {"COOKIE", name},
                                           {"SECURE", is_secure ? " secure attr SameSite=None" : ""}}));
  }
  if (!route.hsts.empty() && route.termination != Termination::none)
    lines += TRY(fill("lines/hsts.cfg", {{"VALUE", route.hsts}}));
  return lines + TRY(rewrite_lines(route));
}

Result<std::string> head_of(const Route& route, const Options& options) {
  const bool is_tcp = route.termination == Termination::passthrough;
  const std::string balance = !route.balance.empty() ? route.balance : is_tcp ? options.tcp_balance : options.balance;
  std::string lines;
  if (balance == "source") lines += TRY(fill("lines/source.cfg", {}));
  if (!route.timeout.empty()) {
    lines += TRY(fill(is_tcp ? "lines/timeout_tunnel.cfg" : "lines/timeout.cfg", {{"TIME", route.timeout}}));
  }
  if (!route.timeout_tunnel.empty()) lines += TRY(fill("lines/timeout_tunnel.cfg", {{"TIME", route.timeout_tunnel}}));
  lines += TRY(source_lines(route));
  if (!is_tcp) lines += TRY(http_lines(route));
  if (lines.ends_with('\n')) lines.pop_back();
  return fill(is_tcp ? "backend_tcp.cfg" : "backend_http.cfg",
              {{"NAME", backend_name(route)}, {"BALANCE", balance}, {"LINES", lines}});
}

// The settings that follow the address of each server of a service.
Result<std::string> server_settings(const Route& route, const Target& target, const Material& material, const Options& options,
                                    Configuration& configuration) {
  if (route.termination != Termination::reencrypt) return std::string();
  if (!route.destination_ca.empty()) {
    const std::string file = add_key_file(configuration, options, Secret(route.destination_ca));
    return fill("lines/verify.cfg", {{"CA_FILE", file}});
  }
  const std::string file = add_key_file(configuration, options, Secret(material.service_ca));
  const std::string name = fmt::format("{}.{}.svc", target.service, route.space);
  return fill("lines/verify_name.cfg", {{"CA_FILE", file}, {"NAME", name}});
}

// The key of a route in maps. haproxy looks for the longest key that is a prefix of host and path, or for one that is equal.
std::string key_of(const Route& route) { return fmt::format("{}{}{}", route.host, route.path, route.is_exact ? "" : "/"); }

void add_to_maps(const Route& route, Configuration& configuration) {
  const std::string backend = backend_name(route);
  const auto add = [&](std::string_view map, const std::string& key, std::string_view value) {
    const bool is_exact = route.is_exact && map != names_map;
    configuration.lists[fmt::format("{}{}", is_exact ? exact_prefix : "", map)] += fmt::format("{} {}\n", key, value);
  };
  if (route.termination == Termination::passthrough) {
    add(names_map, route.host, backend);
  } else if (route.termination != Termination::none) {
    add(https_map, key_of(route), backend);
  }
  if (route.termination == Termination::none || route.insecure == Insecure::allow) {
    add(http_map, key_of(route), backend);
  } else if (route.insecure == Insecure::redirect) {
    add(http_map, key_of(route), "redirect");
  }
}

void add_certificate(const Route& route, const Options& options, std::set<std::string>& hosts, Configuration& configuration) {
  // The oldest route of a host decides: haproxy chooses the certificate before it knows the path.
  if (route.certificate.empty() || !hosts.insert(route.host).second) return;
  const std::string file = add_key_file(configuration, options, route.certificate);
  // HTTP/2 is only enabled for certificates of routes. Clients reuse an HTTP/2 connection for all hosts of its certificate, so
  // with
  // the router's own certificate a request could reach the route of another host.
  configuration.lists[std::string(certificate_list)] +=
      fmt::format("{}{} {}\n", file, options.http2 ? " [alpn h2,http/1.1]" : "", route.host);
}

// One socket for each address family: on a socket for both, IPv4 clients appear with IPv4-mapped IPv6 addresses.
std::string all_addresses(int port, const Options& options) {
  return options.has_ipv6 ? fmt::format(":{0},:::{0} v6only", port) : fmt::format(":{}", port);
}

// The line of a frontend that looks for exact paths first. Most clusters have none.
Result<std::string> exact_line(std::string_view map, const Configuration& configuration) {
  const std::string exact = fmt::format("{}{}", exact_prefix, map);
  if (!configuration.lists.contains(exact)) return std::string();
  return fill("lines/exact.cfg", {{"MAP", exact}});
}

Result<std::string> frontends(const Material& material, const Options& options, bool has_passthrough,
                              Configuration& configuration) {
  const std::string http = all_addresses(options.http_port, options);
  const std::string https = all_addresses(options.https_port, options);
  const std::string socket = options.folder + "/tls.sock";
  std::string bind_address = https;
  const std::string exact_http = TRY(exact_line(http_map, configuration)),
                    exact_https = TRY(exact_line(https_map, configuration));
  std::string text =
      TRY(fill("frontend.cfg",
               {{"NAME", "public"}, {"BIND", http}, {"SCHEME", "http"}, {"EXACT", exact_http}, {"MAP", std::string(http_map)}}));
  if (has_passthrough) {
    text += TRY(fill("by_name.cfg", {{"BIND", https}, {"SOCKET", socket}}));
    bind_address =
        fmt::format("unix@{} mode 600{} accept-proxy", socket, options.user == 0 ? "" : fmt::format(" uid {}", options.user));
  }
  const std::string certificate = add_key_file(configuration, options, material.certificate);
  const std::string bind = TRY(fill("lines/bind_tls.cfg", {{"PLACE", bind_address}, {"CERTIFICATE", certificate}}));
  return text + TRY(fill("frontend.cfg", {{"NAME", "own_tls_end"},
                                          {"BIND", std::string(trim(bind))},
                                          {"SCHEME", "https"},
                                          {"EXACT", exact_https},
                                          {"MAP", std::string(https_map)}}));
}

Result<std::string> server_lines(const Backend& backend, const std::vector<Slots>& services) {
  std::string lines;
  for (std::size_t i = 0; i < services.size(); ++i) {
    const std::string& settings = backend.services[i];
    for (std::size_t j = 0; j < services[i].size(); ++j) {
      const std::optional<Server>& server = services[i][j];
      const std::string name = slot_name(i, j);
      if (!server) {
        lines += TRY(fill("lines/free_server.cfg", {{"NAME", name}, {"SETTINGS", settings}}));
        continue;
      }
      const std::string address = net::host_and_port(server->endpoint.address, server->endpoint.port);
      lines +=
          TRY(fill("lines/server.cfg",
                   {{"NAME", name}, {"ADDRESS", address}, {"WEIGHT", std::to_string(server->weight)}, {"SETTINGS", settings}}));
    }
  }
  return lines;
}

}  // namespace

Result<Configuration> configure(const std::vector<Route>& routes, const Material& material, const Options& options) {
  Configuration configuration;
  for (const std::string_view list : {http_map, https_map, names_map, certificate_list}) {
    configuration.lists[std::string(list)];
  }
  configuration.lists[std::string(page)] = TRY(fill(page, {}));
  std::set<std::string> hosts;
  bool has_passthrough = false;
  for (const Route& route : routes) {
    has_passthrough |= route.termination == Termination::passthrough;
    add_to_maps(route, configuration);
    add_certificate(route, options, hosts, configuration);
    std::string head = TRY(head_of(route, options));
    Backend backend{backend_name(route), std::move(head), {}};
    for (const Target& target : route.targets) {
      const std::string settings = TRY(server_settings(route, target, material, options, configuration));
      backend.services.push_back(settings.empty() ? "" : fmt::format(" {}", trim(settings)));
    }
    configuration.backends.push_back(std::move(backend));
  }
  std::ranges::sort(configuration.backends, {}, &Backend::name);
  configuration.frontends = TRY(frontends(material, options, has_passthrough, configuration));
  return configuration;
}

Servers find_servers(const std::vector<Route>& routes, const Slices& slices) {
  Servers servers;
  for (const Route& route : routes) {
    std::vector<std::vector<Server>>& services = servers[backend_name(route)];
    double heaviest = 0;
    std::vector<double> shares;
    for (const Target& target : route.targets) {
      std::vector<Server>& found = services.emplace_back();
      for (Endpoint& endpoint : slices.of(route.space, target.service, route.port)) found.push_back({std::move(endpoint)});
      shares.push_back(found.empty() ? 0 : target.weight / static_cast<double>(found.size()));
      heaviest = std::max(heaviest, shares.back());
    }
    for (std::size_t i = 0; i < services.size(); ++i) {
      // haproxy's maximum weight is 256. A service with a weight above 0 gets at least 1.
      const double share = heaviest == 0 ? 0 : shares[i] / heaviest;
      const int weight = share == 0 ? 0 : services.size() == 1 ? 1 : std::max(1, static_cast<int>(std::lround(256 * share)));
      for (Server& server : services[i]) server.weight = weight;
    }
  }
  return servers;
}

Result<RenderedFiles> render(const Configuration& configuration, const Layout& layout, const Options& options) {
  std::string backends;
  for (const Backend& backend : configuration.backends) {
    backends += backend.head + TRY(server_lines(backend, layout.at(backend.name))) + "\n";
  }
  const Timeouts& timeouts = options.timeouts;
  const std::string user = options.user == 0 ? "" : TRY(fill("lines/user.cfg", {{"USER", std::to_string(options.user)}}));
  const std::string text = TRY(fill("haproxy.cfg", {{"MAX_CONNECTIONS", std::to_string(options.max_connections)},
                                                    {"THREADS", std::to_string(options.threads)},
                                                    {"USER", user},
                                                    {"TLS_MIN", options.tls_min},
                                                    {"HARD_STOP_AFTER", timeouts.hard_stop},
                                                    {"TIMEOUT_CONNECT", timeouts.connect},
                                                    {"TIMEOUT_CLIENT", timeouts.client},
                                                    {"TIMEOUT_CLIENT_FIN", timeouts.client_fin},
                                                    {"TIMEOUT_SERVER", timeouts.server},
                                                    {"TIMEOUT_SERVER_FIN", timeouts.server_fin},
                                                    {"TIMEOUT_TUNNEL", timeouts.tunnel},
                                                    {"TIMEOUT_HTTP_REQUEST", timeouts.http_request},
                                                    {"TIMEOUT_HTTP_KEEP_ALIVE", timeouts.http_keep_alive},
                                                    {"FRONTENDS", configuration.frontends},
                                                    {"BACKENDS", backends}}));
  RenderedFiles files = {{"haproxy.cfg", text, 0600}};
  for (const auto& [name, content] : configuration.lists) files.push_back({name, content, 0600});
  return files;
}

}  // namespace slipway::components::router
