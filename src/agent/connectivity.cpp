#include "agent/connectivity.h"

#include "agent/links.h"
#include "agent/networks.h"
#include "base/findings.h"
#include "base/guarded.h"
#include "base/text.h"
#include "sys/task_group.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::agent {

namespace {

constexpr int ordinary_mtu = 1500;
constexpr int v4_headers = 28, v6_headers = 48;  // of IP and ICMP
constexpr int mtu_attempts = 3;
constexpr int pings_at_once = 32;

std::size_t payload_of(int mtu, bool is_v4) {
  return mtu == ordinary_mtu ? 0 : static_cast<std::size_t>(std::max(mtu - (is_v4 ? v4_headers : v6_headers), 0));
}

void read_host(const Json& item, const std::string& path, Findings& findings, std::vector<RemoteHost>& hosts) {
  RemoteHost host{.id = text_of(item, {"host_id"}), .macs = {}, .addresses = {}};
  if (host.id.empty()) findings.error({}, path + ".host_id", "missing, must be the ID of a host");
  const JsonArray& nics = find_array(item, {"nics"});
  for (std::size_t i = 0; i < nics.size(); ++i) {
    const std::string field = fmt::format("{}.nics[{}]", path, i);
    const Result<net::MacAddress> mac = net::parse_mac(text_of(nics[i], {"mac"}));
    if (mac.ok()) {
      host.macs.insert(net::to_string(mac.value()));
    } else {
      findings.error({}, field + ".mac", "{}", mac.error().message());
    }
    for (const std::string& text : texts_of(nics[i], {"ip_addresses"})) {
      // Services send addresses with or without the length of the prefix.
      const Result<net::IpAddress> address = net::parse_ip(text.substr(0, text.find('/')));
      if (!address.ok()) {
        findings.error({}, field + ".ip_addresses", "{}", address.error().message());
      } else if (!net::is_link_local(address.value())) {
        host.addresses.push_back(address.value());
      }
    }
  }
  hosts.push_back(std::move(host));
}

std::optional<std::string> default_interface(const std::vector<assist::Route>& routes, bool is_v4) {
  const assist::Route* best = nullptr;
  for (const assist::Route& route : routes) {
    const bool is_family = (route.destination.find(':') == std::string::npos) == is_v4;
    if (route.is_default() && is_family && (!best || route.metric < best->metric)) best = &route;
  }
  return best ? std::optional(best->interface) : std::nullopt;
}

std::vector<Probe> probes_of(const net::IpAddress& target, const std::vector<assist::Interface>& interfaces,
                             const std::vector<assist::Route>& routes) {
  std::vector<Probe> probes;
  for (const assist::Interface& interface : interfaces) {
    for (const net::Cidr& address : interface.addresses) {
      if (!address.contains(target) || address.address == target) continue;
      probes.push_back({.target = target,
                        .interface = interface.name,
                        .own_address = net::to_string(address.address),
                        .is_on_link = true,
                        .largest_payload = payload_of(interface.mtu, target.is_v4())});
    }
  }
  if (!probes.empty()) return probes;
  if (const std::optional<std::string> interface = default_interface(routes, target.is_v4())) {
    probes.push_back({.target = target, .interface = *interface, .own_address = ""});
  }
  return probes;
}

Result<> run_pings(const sys::Context& context, ProbeResult& result) {
  const net::EchoRequest small{.target = result.probe.target, .interface = result.probe.interface};
  result.echo = TRY(net::echo(context, small));
  if (result.probe.largest_payload == 0) return Ok{};
  net::EchoRequest large = small;
  large.count = mtu_attempts;
  large.payload = result.probe.largest_payload;
  large.dont_fragment = true;
  const net::EchoResult answers = TRY(net::echo(context, large));
  result.has_mtu = answers.received > 0;
  return Ok{};
}

Json link_entry(const ProbeResult& result, const std::string& mac, bool is_successful) {
  return {{"outgoing_nic", result.probe.interface},
          {"outgoing_ip_address", result.probe.own_address},
          {"remote_ip_address", net::to_string(result.probe.target)},
          {"remote_mac", mac},
          {"successful", is_successful}};
}

Json host_report(const RemoteHost& host, const std::vector<ProbeResult>& results) {
  JsonArray links, addresses, mtus;
  for (const ProbeResult& result : results) {
    const std::string target = net::to_string(result.probe.target);
    for (const std::string& mac : result.macs) links.push_back(link_entry(result, mac, host.macs.contains(mac)));
    if (result.probe.is_on_link && result.macs.empty()) links.push_back(link_entry(result, "", false));
    addresses.push_back({{"outgoing_nic", result.probe.interface},
                         {"remote_ip_address", target},
                         {"successful", result.echo.received > 0},
                         {"average_rtt_ms", result.echo.average_ms},
                         {"packet_loss_percentage", result.echo.loss_percent()}});
    if (result.probe.largest_payload > 0) {
      mtus.push_back(
          {{"outgoing_nic", result.probe.interface}, {"remote_ip_address", target}, {"mtu_successful", result.has_mtu}});
    }
  }
  return {{"host_id", host.id},
          {"l2_connectivity", std::move(links)},
          {"l3_connectivity", std::move(addresses)},
          {"mtu_report", std::move(mtus)}};
}

}  // namespace

Result<std::vector<RemoteHost>> parse_remote_hosts(const Json& arguments) {
  Findings findings;
  std::vector<RemoteHost> hosts;
  if (!arguments.is_array()) return error(Code::invalid, "hosts: must be a list, is {}", kind_name(arguments));
  for (const Json& item : arguments.get_array()) read_host(item, fmt::format("hosts[{}]", hosts.size()), findings, hosts);
  TRY(findings.to_result());
  return hosts;
}

std::map<std::string, std::vector<Probe>> plan_probes(const std::vector<assist::Interface>& interfaces,
                                                      const std::vector<assist::Route>& routes,
                                                      const std::vector<RemoteHost>& hosts) {
  std::map<std::string, std::vector<Probe>> plan;
  for (const RemoteHost& host : hosts) {
    std::vector<Probe>& probes = plan[host.id];
    for (const net::IpAddress& target : host.addresses) {
      for (Probe& probe : probes_of(target, interfaces, routes)) probes.push_back(std::move(probe));
    }
  }
  return plan;
}

Json connectivity_report(const std::vector<RemoteHost>& hosts, const std::map<std::string, std::vector<ProbeResult>>& results,
                         const std::vector<Collision>& own_collisions) {
  JsonArray reports;
  std::map<net::IpAddress, std::set<std::string>> shared;
  for (const Collision& collision : own_collisions) shared[collision.address] = collision.macs;
  for (const RemoteHost& host : hosts) {
    const auto found = results.find(host.id);
    if (found == results.end()) continue;
    reports.push_back(host_report(host, found->second));
    for (const ProbeResult& result : found->second) {
      if (result.macs.size() > 1) shared[result.probe.target].insert(result.macs.begin(), result.macs.end());
    }
  }
  JsonArray collisions;
  for (const auto& [address, macs] : shared) {
    collisions.push_back({{"ip_address", net::to_string(address)}, {"mac_addresses", array_of({macs.begin(), macs.end()})}});
  }
  return {{"remote_hosts", std::move(reports)}, {"collisions", std::move(collisions)}};
}

Result<StepReply> check_connectivity(const StepWorld& world, const Json& arguments) {
  const std::vector<RemoteHost> hosts = TRY(parse_remote_hosts(arguments));
  const std::vector<assist::Interface> interfaces = read_interfaces(world.tree, TRY(net::interface_addresses()));
  const std::map<std::string, std::vector<Probe>> plan = plan_probes(interfaces, read_routes(world.tree), hosts);
  std::map<std::string, std::vector<ProbeResult>> results;
  std::map<std::string, std::vector<net::IpAddress>> on_link;  // by interface
  std::vector<ProbeResult*> pings;
  for (const auto& [host, probes] : plan) {
    std::vector<ProbeResult>& own = results[host];
    for (const Probe& probe : probes) {
      own.push_back({.probe = probe});
      if (probe.is_on_link) on_link[probe.interface].push_back(probe.target);
    }
    for (ProbeResult& result : own) pings.push_back(&result);
  }
  const LinkAnswers links = TRY(ask_links(world.environment.context, interfaces, on_link));
  for (ProbeResult* result : pings) result->macs = links.macs_of(result->probe.interface, result->probe.target);
  TRY(sys::for_each_at_once(world.environment.context, pings.size(), pings_at_once,
                            [&](const sys::Context& own, std::size_t i) { return run_pings(own, *pings[i]); }));
  const std::vector<Collision> collisions = TRY(find_own_collisions(world.environment.context, interfaces));
  return json_reply(connectivity_report(hosts, results, collisions));
}

}  // namespace slipway::agent
