#include "components/router/options.h"

#include "base/number.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace slipway::components::router {

namespace {

constexpr std::string_view hint = "the ingress operator sets these variables in the Deployment of the router";

// Reads variables into options. A variable that is not set leaves its option unchanged.
class Reader {
 public:
  explicit Reader(const std::function<std::string(const std::string&)>& variable) : variable_(variable) {}

  void need(const std::string& name, std::string& option) {
    option = variable_(name);
    if (option.empty()) problems_.push_back(name + " is not set");
  }
  void text(const std::string& name, std::string& option) {
    if (std::string value = variable_(name); !value.empty()) option = std::move(value);
  }
  void number(const std::string& name, int least, int most, int& option) {
    const std::string value = variable_(name);
    if (value.empty()) return;
    const std::optional<std::int64_t> number = parse_number<std::int64_t>(value);
    if (number && *number >= least && *number <= most) {
      option = static_cast<int>(*number);
    } else {
      problems_.push_back(fmt::format("{}: '{}' is not a number from {} to {}", name, value, least, most));
    }
  }
  void flag(const std::string& name, bool& option) {
    const std::string value = to_lower(variable_(name));
    if (value.empty()) return;
    if (value != "true" && value != "false") problems_.push_back(fmt::format("{}: '{}' is neither true nor false", name, value));
    option = value == "true";
  }
  void time(const std::string& name, std::string& option) {
    std::string value = variable_(name);
    if (value.empty()) return;
    if (!is_time(value)) problems_.push_back(fmt::format("{}: '{}' is not a duration, for example 30s", name, value));
    option = std::move(value);
  }
  void duration(const std::string& name, Milliseconds& option) {
    const std::string value = variable_(name);
    if (value.empty()) return;
    const Result<Milliseconds> read = parse_duration(value);
    if (read.ok()) {
      option = read.value();
    } else {
      problems_.push_back(fmt::format("{}: {}", name, read.error().message()));
    }
  }
  void one_of(const std::string& name, const std::vector<std::string_view>& known, std::string& option) {
    std::string value = variable_(name);
    if (value.empty()) return;
    if (std::ranges::find(known, value) == known.end()) problems_.push_back(fmt::format("{}: unknown value '{}'", name, value));
    option = std::move(value);
  }
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  const std::function<std::string(const std::string&)>& variable_;
  std::vector<std::string> problems_;
};

constexpr std::array<std::string_view, 4> balances = {"leastconn", "random", "roundrobin", "source"};

}  // namespace

bool is_time(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> units = {
      {{"us", 0}, {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
  // haproxy stores milliseconds in 31 bits.
  constexpr std::int64_t most = 2'147'483'647;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<std::int64_t> number = parse_number<std::int64_t>(text.substr(0, digits));
  if (!number || *number < 1 || *number > most) return false;
  if (digits == text.size()) return true;
  const auto unit = std::ranges::find(units, text.substr(digits), &std::pair<std::string_view, std::int64_t>::first);
  return unit != units.end() && *number * unit->second <= most;
}

bool is_balance(std::string_view text) { return std::ranges::find(balances, text) != balances.end(); }

Result<Options> parse_options(const std::function<std::string(const std::string& name)>& variable) {
  Options options;
  Reader read(variable);
  read.need("ROUTER_SERVICE_NAME", options.name);
  read.need("ROUTER_DOMAIN", options.domain);
  read.text("ROUTER_CANONICAL_HOSTNAME", options.canonical_hostname);
  read.number("ROUTER_SERVICE_HTTP_PORT", 1, 65535, options.http_port);
  read.number("ROUTER_SERVICE_HTTPS_PORT", 1, 65535, options.https_port);
  read.number("STATS_PORT", 1, 65535, options.stats_port);
  read.number("ROUTER_THREADS", 1, 64, options.threads);
  read.number("ROUTER_MAX_CONNECTIONS", 100, 2'000'000, options.max_connections);
  read.text("ROUTE_LABELS", options.route_labels);
  read.text("NAMESPACE_LABELS", options.namespace_labels);
  read.flag("ROUTER_DISABLE_NAMESPACE_OWNERSHIP_CHECK", options.shares_hosts);
  bool without_http2 = true;
  read.flag("ROUTER_DISABLE_HTTP2", without_http2);
  options.http2 = !without_http2;
  const std::vector<std::string_view> ways(balances.begin(), balances.end());
  read.one_of("ROUTER_LOAD_BALANCE_ALGORITHM", ways, options.balance);
  read.one_of("ROUTER_TCP_BALANCE_SCHEME", ways, options.tcp_balance);
  read.one_of("SSL_MIN_VERSION", {"TLSv1.2", "TLSv1.3"}, options.tls_min);
  read.text("DEFAULT_CERTIFICATE_DIR", options.certificate_folder);
  read.text("DEFAULT_DESTINATION_CA_PATH", options.service_ca_file);
  read.time("ROUTER_DEFAULT_CONNECT_TIMEOUT", options.timeouts.connect);
  read.time("ROUTER_DEFAULT_CLIENT_TIMEOUT", options.timeouts.client);
  read.time("ROUTER_CLIENT_FIN_TIMEOUT", options.timeouts.client_fin);
  read.time("ROUTER_DEFAULT_SERVER_TIMEOUT", options.timeouts.server);
  read.time("ROUTER_DEFAULT_SERVER_FIN_TIMEOUT", options.timeouts.server_fin);
  read.time("ROUTER_DEFAULT_TUNNEL_TIMEOUT", options.timeouts.tunnel);
  read.time("ROUTER_SLOWLORIS_TIMEOUT", options.timeouts.http_request);
  read.time("ROUTER_SLOWLORIS_HTTP_KEEPALIVE", options.timeouts.http_keep_alive);
  read.time("ROUTER_HARD_STOP_AFTER", options.timeouts.hard_stop);
  read.duration("ROUTER_GRACEFUL_SHUTDOWN_DELAY", options.drain_delay);
  read.duration("ROUTER_DRAIN_LIMIT", options.drain_limit);
  if (read.problems().empty()) return options;
  return error(Code::invalid, "{}; {}", join(read.problems(), "; "), hint);
}

}  // namespace slipway::components::router
