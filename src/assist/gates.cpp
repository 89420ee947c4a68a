#include "assist/gates.h"

#include <algorithm>
#include <array>

namespace slipway::assist {

namespace {

constexpr std::array<std::string_view, 2> details_of_cluster = {"dns-domain-defined", "pull-secret-set"};

constexpr std::array<std::string_view, 9> discovery_of_host = {"connected",           "media-connected", "has-inventory",
                                                               "has-min-cpu-cores",   "has-min-memory",  "has-cpu-cores-for-role",
                                                               "has-memory-for-role", "hostname-unique", "hostname-valid"};
constexpr std::array<std::string_view, 1> discovery_of_cluster = {"sufficient-masters-count"};

constexpr std::array<std::string_view, 2> storage_of_host = {"has-min-valid-disks", "sufficient-installation-disk-speed"};

constexpr std::array<std::string_view, 16> networking_of_host = {"machine-cidr-defined",
                                                                 "belongs-to-machine-cidr",
                                                                 "belongs-to-majority-group",
                                                                 "has-default-route",
                                                                 "sufficient-network-latency-requirement-for-role",
                                                                 "sufficient-packet-loss-requirement-for-role",
                                                                 "no-ip-collisions-in-network",
                                                                 "non-overlapping-subnets",
                                                                 "ntp-synced",
                                                                 "mtu-valid",
                                                                 "time-synced-between-host-and-service",
                                                                 "dns-wildcard-not-configured",
                                                                 "api-domain-name-resolved-correctly",
                                                                 "api-int-domain-name-resolved-correctly",
                                                                 "apps-domain-name-resolved-correctly",
                                                                 "ignition-downloadable"};
constexpr std::array<std::string_view, 12> networking_of_cluster = {
    "machine-cidr-defined",           "cluster-cidr-defined", "service-cidr-defined", "api-vips-defined",
    "ingress-vips-defined",           "api-vips-valid",       "ingress-vips-valid",   "no-cidrs-overlapping",
    "networks-same-address-families", "network-prefix-valid", "network-type-valid",   "ntp-server-configured"};

constexpr std::array steps = {
    GateStep{"cluster-details", {}, details_of_cluster},
    GateStep{"host-discovery", discovery_of_host, discovery_of_cluster},
    GateStep{"storage", storage_of_host, {}},
    GateStep{"networking", networking_of_host, networking_of_cluster},
    GateStep{"review", {}, {}, true},
};

bool contains(std::span<const std::string_view> ids, std::string_view id) { return std::ranges::find(ids, id) != ids.end(); }

void sort_in(Gate& gate, const std::string& host, const Validation& validation) {
  if (validation.passes()) return;
  if (validation.weight != Weight::warning) {
    gate.problems.push_back({host, validation});
  } else if (validation.outcome == Outcome::failure) {
    gate.warnings.push_back({host, validation});
  }
}

JsonArray list_of(const std::vector<GateProblem>& problems) {
  JsonArray list;
  for (const GateProblem& each : problems) {
    JsonObject problem = {{"id", each.validation.id},
                          {"category", each.validation.category},
                          {"status", to_string(each.validation.outcome)},
                          {"message", each.validation.message}};
    if (!each.host.empty()) problem["host_id"] = each.host;
    list.emplace_back(std::move(problem));
  }
  return list;
}

}  // namespace

std::span<const GateStep> gate_steps() { return steps; }

std::vector<Gate> gates_of(const std::vector<Validation>& of_cluster, const std::vector<HostChecks>& of_hosts) {
  std::vector<Gate> gates;
  for (const GateStep& step : steps) {
    Gate gate{.step = step.id};
    for (const Validation& each : of_cluster) {
      if (step.is_last || contains(step.cluster_validations, each.id)) sort_in(gate, "", each);
    }
    for (const HostChecks& host : of_hosts) {
      for (const Validation& each : host.validations) {
        if (step.is_last || contains(step.host_validations, each.id)) sort_in(gate, host.host, each);
      }
    }
    gates.push_back(std::move(gate));
  }
  return gates;
}

Json to_json(const std::vector<Gate>& gates) {
  JsonArray list;
  for (const Gate& gate : gates) {
    list.push_back(Json{{"step", gate.step},
                        {"is_open", gate.is_open()},
                        {"problems", list_of(gate.problems)},
                        {"warnings", list_of(gate.warnings)}});
  }
  return list;
}

}  // namespace slipway::assist
