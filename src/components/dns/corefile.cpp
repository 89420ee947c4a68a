#include "components/dns/corefile.h"

#include "base/characters.h"
#include "base/text.h"
#include "base/time.h"
#include "components/controller/operand.h"
#include "components/render/document.h"
#include "net/ip.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

namespace slipway::components::dns {

namespace {

using namespace std::chrono_literals;

constexpr int port = 5353;  // not 53: CoreDNS does not run as root
constexpr std::size_t longest_name = 253;
constexpr std::size_t longest_label = 63;

// Valid names of zones and of servers; names of servers are only used in comments.
bool is_name(std::string_view text) {
  if (text.empty() || text.size() > longest_name) return false;
  return std::ranges::all_of(split(text, '.'), [](std::string_view label) {
    return !label.empty() && label.size() <= longest_label &&
           std::ranges::all_of(label, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; });
  });
}

bool is_ours(std::string_view zone) { return zone == cluster_domain || zone.ends_with("." + std::string(cluster_domain)); }

// "10.0.0.1", "10.0.0.1:5353", "fd00::1", "[fd00::1]:53".
bool is_server_address(std::string_view text) {
  if (net::is_ip(text)) return true;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  std::string_view host = text.substr(0, colon);
  const std::string_view number = text.substr(colon + 1);
  const bool has_brackets = host.starts_with('[') && host.ends_with(']');
  if (has_brackets) host = host.substr(1, host.size() - 2);
  const bool is_number = !number.empty() && number.size() <= 5 && std::ranges::all_of(number, is_digit);
  return is_number && net::is_ip(host) && has_brackets == (host.find(':') != std::string_view::npos);
}

// Builds the file from parts; each part adds its refusals.
class Maker {
 public:
  explicit Maker(const Json& settings) : settings_(settings) {}

  Result<Corefile> make() {
    const TemplateValues common = common_values();
    std::string servers;
    for (const Json& server : find_array(settings_, {"spec", "servers"})) servers += TRY(server_block(server, common));
    TemplateValues values = common;
    values["CLUSTER_DOMAIN"] = cluster_domain;
    values["UPSTREAMS"] = resolvers();
    values["FORWARD_OPTIONS"] =
        forward_options(member(settings_, {"spec", "upstreamResolvers"}), "spec.upstreamResolvers", "Sequential");
    std::string main = TRY(fill_text("dns/Corefile", values));
    return Corefile{.text = servers + main, .refusals = std::move(refusals_)};
  }

 private:
  static const Json& member(const Json& value, std::initializer_list<std::string_view> keys) {
    static const Json nothing;
    const Json* found = find(value, keys);
    return found ? *found : nothing;
  }

  template <class... Args>
  void refuse(fmt::format_string<Args...> text, Args&&... args) {
    refusals_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  TemplateValues common_values() {
    return {{"LOG_CLASSES", log_classes()},
            {"POSITIVE_SECONDS", std::to_string(cache_seconds("positiveTTL", 900s))},
            {"NEGATIVE_SECONDS", std::to_string(cache_seconds("negativeTTL", 30s))}};
  }

  // The classes of queries that are logged.
  std::string log_classes() {
    const std::string level = text_of(settings_, {"spec", "logLevel"});
    if (level == "Trace") return "all";
    return level == "Debug" ? "denial error" : "error";
  }

  // "0" and "" mean the default.
  std::int64_t cache_seconds(std::string_view field, Seconds usual) {
    const std::string text = text_of(settings_, {"spec", "cache", field});
    if (text.empty() || text == "0") return usual.count();
    const Result<Milliseconds> duration = parse_duration(text);
    if (!duration.ok()) {
      refuse("spec.cache.{}: {}", field, duration.error().message());
      return usual.count();
    }
    // CoreDNS caches in whole seconds, at least one.
    const Seconds seconds = std::chrono::ceil<Seconds>(duration.value());
    return seconds.count() == 0 ? usual.count() : seconds.count();
  }

  std::string resolvers() {
    std::vector<std::string> addresses;
    for (const Json& upstream : find_array(settings_, {"spec", "upstreamResolvers", "upstreams"})) {
      if (find_string(upstream, {"type"}) != "Network") {
        addresses.emplace_back("/etc/resolv.conf");
        continue;
      }
      const std::string address = text_of(upstream, {"address"});
      const int number = integer_of(upstream, {"port"});
      if (!net::is_ip(address)) {
        refuse("spec.upstreamResolvers.upstreams: \"{}\" is not an IP address", address);
      } else {
        addresses.push_back(net::host_and_port(address, number == 0 ? 53 : number));
      }
    }
    if (addresses.empty()) addresses.emplace_back("/etc/resolv.conf");
    return join(addresses, " ");
  }

  std::string forward_options(const Json& settings, std::string_view field, std::string_view usual_policy) {
    if (find_string(settings, {"transportConfig", "transport"}) == "TLS") {
      refuse("{}.transportConfig: this release forwards queries only without TLS (remove it)", field);
    }
    std::string policy = text_of(settings, {"policy"});
    if (policy.empty()) policy = usual_policy;
    std::string options = policy == "Random"       ? "policy random"
                          : policy == "RoundRobin" ? "policy round_robin"
                                                   : "policy sequential";
    if (find_string(settings, {"protocolStrategy"}) == "TCP") options += "\n        force_tcp";
    return options;
  }

  std::vector<std::string> zones_of(const Json& server, const std::string& name) {
    std::vector<std::string> zones;
    for (const Json& each : find_array(server, {"zones"})) {
      std::string zone = to_lower(each.is_string() ? std::string_view(each.get_string()) : "");
      if (zone.ends_with('.')) zone.pop_back();
      if (!is_name(zone)) {
        refuse("spec.servers[{}].zones: \"{}\" is not a valid zone name", name, zone);
      } else if (is_ours(zone)) {
        refuse("spec.servers[{}].zones: {} is the zone of the cluster", name, zone);
      } else if (!taken_.insert(zone).second) {
        refuse("spec.servers[{}].zones: {} is a duplicate", name, zone);
      } else {
        zones.push_back(fmt::format("{}:{}", zone, port));
      }
    }
    if (find_array(server, {"zones"}).empty()) refuse("spec.servers[{}] has no zones", name);
    return zones;
  }

  std::vector<std::string> upstreams_of(const Json& server, const std::string& name) {
    std::vector<std::string> upstreams;
    for (const Json& each : find_array(server, {"forwardPlugin", "upstreams"})) {
      const std::string_view address = each.is_string() ? std::string_view(each.get_string()) : "";
      if (is_server_address(address)) {
        upstreams.emplace_back(address);
      } else {
        refuse("spec.servers[{}].forwardPlugin.upstreams: \"{}\" is not an IP address with an optional port", name, address);
      }
    }
    if (find_array(server, {"forwardPlugin", "upstreams"}).empty()) refuse("spec.servers[{}] has no upstreams", name);
    return upstreams;
  }

  Result<std::string> server_block(const Json& server, TemplateValues values) {
    const std::string name = text_of(server, {"name"});
    if (!is_name(name)) refuse("spec.servers: \"{}\" is not a valid server name", name);
    const std::vector<std::string> zones = zones_of(server, name), upstreams = upstreams_of(server, name);
    const Json& forward = member(server, {"forwardPlugin"});
    const std::string options = forward_options(forward, fmt::format("spec.servers[{}].forwardPlugin", name), "Random");
    if (!is_name(name) || zones.empty() || upstreams.empty()) return std::string();
    values["NAME"] = name;
    values["ZONES"] = join(zones, " ");
    values["UPSTREAMS"] = join(upstreams, " ");
    values["FORWARD_OPTIONS"] = options;
    return fill_text("dns/Corefile-server", values);
  }

  const Json& settings_;
  std::set<std::string> taken_;
  std::vector<std::string> refusals_;
};

}  // namespace

Result<Corefile> make_corefile(const Json& settings) { return Maker(settings).make(); }

}  // namespace slipway::components::dns
