#include "provider/aws/cluster_plan.h"

#include "assets/machines/machines_aws.h"
#include "base/findings.h"
#include "base/text.h"
#include "net/ip.h"
#include "provider/planned_machines.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>

namespace slipway::provider::aws {

namespace {

constexpr std::size_t most_zones = 3;
constexpr int smallest_network = 24;  // subnets of AWS have at least 16 addresses
constexpr int api_port = 6443;
constexpr int config_port = 22623;

// The load balancers of a cluster and what they forward to.
struct Forwarded {
  std::string_view balancer;  // "int", "ext", "apps"
  std::string_view group;     // the suffix of the target group
  int port;
  std::string_view health_path;  // by HTTPS; empty: a TCP connection
};
constexpr std::array forwarded = {
    Forwarded{"int", "aint", api_port, "/readyz"},
    Forwarded{"int", "sint", config_port, "/healthz"},
    Forwarded{"ext", "aext", api_port, "/readyz"},
    Forwarded{"apps", "web", 80, ""},
    Forwarded{"apps", "tls", 443, ""},
};

// What the members of a security group accept.
struct Rule {
  std::string_view protocol;
  int from;
  int to;
  std::string_view source;  // "network": the machine networks; otherwise a group
};
constexpr std::array rules_of_nodes = {
    Rule{"icmp", -1, -1, "network"},   Rule{"tcp", 22, 22, "network"}, Rule{"tcp", 10250, 10250, "node"},  // kubelet
    Rule{"udp", 8472, 8472, "node"},                                                                       // VXLAN of flannel
    Rule{"udp", 6081, 6081, "node"},    // Geneve of OVN-Kubernetes
    Rule{"tcp", 9000, 9999, "node"},    // metrics of host services
    Rule{"tcp", 30000, 32767, "node"},  // node ports
    Rule{"udp", 30000, 32767, "node"},
};
constexpr std::array rules_of_masters = {
    Rule{"tcp", api_port, api_port, "network"}, Rule{"tcp", config_port, config_port, "network"},
    Rule{"tcp", 2379, 2380, "controlplane"},    // etcd
    Rule{"tcp", 10257, 10259, "controlplane"},  // controller manager, scheduler
};
constexpr std::array rules_of_routers = {
    Rule{"tcp", 80, 80, "network"},
    Rule{"tcp", 443, 443, "network"},
};

std::string key_of(std::string_view kind, std::string_view name) { return fmt::format("{}/{}", kind, name); }

bool is_published(const config::InstallConfig& config, std::string_view part) {
  if (config.publish != "Mixed") return config.publish == "External";
  const std::string own = text_of(config.effective, {"operatorPublishingStrategy", part});
  return own.empty() || own == "External";
}

bool masters_route(const config::InstallConfig& config) { return config.compute_replicas() == 0; }

// The sources of a load balancer's targets: machines with this role.
bool is_target(std::string_view role, const Forwarded& each, const config::InstallConfig& config) {
  if (each.balancer != "apps") return role != "worker";
  return role == (masters_route(config) ? "master" : "worker");
}

std::vector<std::string> zones_of(const config::InstallConfig& config, std::string_view role) {
  return texts_of(pool_of(config, role), {"zones"});
}

bool has_balancer(const config::InstallConfig& config, std::string_view which) {
  return which != "ext" || is_published(config, "apiServer");
}

class Builder {
 public:
  explicit Builder(const PlanInput& input) : input_(input), id_(input.infra_id) {}

  Result<plan::Plan> build(const std::vector<PlannedMachine>& machines) {
    zones_ = TRY(planned_zones(input_.config, input_.region.zones));
    TRY(input_.region.user_vpc.empty() ? add_network() : use_subnets());
    for (const auto& [name, members] : {std::pair{"node", "machines"}, {"controlplane", "masters"}, {"lb", "routers"}}) {
      add_group(name, members);
    }
    add_rules("node", rules_of_nodes);
    add_rules("controlplane", rules_of_masters);
    add_rules("lb", rules_of_routers);
    for (const std::string_view role : {"master", "worker"}) add_role(role);
    add_balancers();
    add_names();
    for (const PlannedMachine& machine : machines) add_machine(machine);
    return std::move(plan_);
  }

 private:
  std::string named(std::string_view suffix) const { return fmt::format("{}-{}", id_, suffix); }

  // Returns the key.
  std::string add(std::string_view kind, std::string name, std::vector<std::string> needs, JsonObject spec,
                  std::string machine = "") {
    std::erase_if(needs, [](const std::string& need) { return need.starts_with("id:"); });
    std::ranges::sort(needs);
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    plan_.push_back({.kind = std::string(kind),
                     .name = std::move(name),
                     .machine = std::move(machine),
                     .needs = std::move(needs),
                     .spec = std::move(spec)});
    return plan_.back().key();
  }

  Result<> add_network() {
    const net::Cidr network = TRY(net::parse_cidr(input_.config.networking.machine_network.at(0)));
    vpc_ = add(vpc_kind, named("vpc"), {}, {{"cidr", input_.config.networking.machine_network.at(0)}});
    const std::string gateway = add(internet_gateway_kind, named("igw"), {vpc_}, {{"vpc", vpc_}});
    int bits = 0;  // so many more bits make a private and a public subnet a zone
    while ((std::size_t{1} << bits) < 2 * zones_.size()) ++bits;
    const int prefix = network.prefix + bits;
    const auto part = [&](std::size_t i) {
      const std::uint64_t size = std::uint64_t{1} << (network.bits() - prefix);
      return fmt::format("{}/{}", net::to_string(network.host(i * size).value()), prefix);
    };
    JsonArray all_public;
    std::vector<std::string> public_keys;
    for (std::size_t i = 0; i < zones_.size(); ++i) {
      const std::string& zone = zones_[i];
      const auto add_subnet = [&](std::string_view kind, std::size_t number) {
        return add(subnet_kind, named(fmt::format("subnet-{}-{}", kind, zone)), {vpc_},
                   {{"vpc", vpc_}, {"cidr", part(number)}, {"zone", zone}});
      };
      const std::string own_private = add_subnet("private", i), own_public = add_subnet("public", zones_.size() + i);
      private_[zone] = own_private;
      public_[zone] = own_public;
      all_public.emplace_back(own_public);
      public_keys.push_back(own_public);
    }
    public_keys.push_back(gateway);
    const std::string public_table = add(route_table_kind, named("public"), public_keys,
                                         {{"vpc", vpc_}, {"gateway", gateway}, {"subnets", std::move(all_public)}});
    for (const std::string& zone : zones_) {
      const std::string address =
          add(elastic_ip_kind, named("nat-" + zone), {}, {{"pool", text_of(input_.config.platform.section, {"publicIpv4Pool"})}});
      const std::string nat = add(nat_gateway_kind, named("nat-" + zone), {address, public_[zone], public_table},
                                  {{"subnet", public_[zone]}, {"address", address}});
      ways_out_.push_back(add(route_table_kind, named("private-" + zone), {nat, private_[zone]},
                              {{"vpc", vpc_}, {"gateway", nat}, {"subnets", JsonArray{Json(private_[zone])}}}));
    }
    return Ok{};
  }

  Result<> use_subnets() {
    vpc_ = "id:" + input_.region.user_vpc;
    for (const UserSubnet& subnet : input_.region.subnets) {
      (subnet.is_public ? public_ : private_)[subnet.zone] = "id:" + subnet.id;
    }
    std::erase_if(zones_, [&](const std::string& zone) { return !private_.contains(zone); });
    if (zones_.empty()) {
      return error(Code::invalid, "platform.aws.subnets: has no private subnet in the zones of the machines (add one a zone)");
    }
    if (!public_.empty() || (!is_published(input_.config, "apiServer") && !is_published(input_.config, "ingress"))) return Ok{};
    return error(Code::invalid, "platform.aws.subnets: has no public subnet (add one, or set publish: Internal)");
  }

  void add_group(std::string_view name, std::string_view members) {
    groups_[std::string(name)] =
        add(security_group_kind, named(name), {vpc_}, {{"vpc", vpc_}, {"description", fmt::format("{} of {}", members, id_)}});
  }

  void add_rules(std::string_view name, std::span<const Rule> rules) {
    JsonArray all;
    std::vector<std::string> needs = {groups_.at(std::string(name))};
    for (const Rule& rule : rules) {
      JsonArray cidrs, groups;
      if (rule.source == "network") {
        for (const std::string& network : input_.config.networking.machine_network) cidrs.emplace_back(network);
      } else {
        needs.push_back(groups_.at(std::string(rule.source)));
        groups.emplace_back(needs.back());
      }
      all.push_back({{"protocol", rule.protocol},
                     {"from", rule.from},
                     {"to", rule.to},
                     {"cidrs", std::move(cidrs)},
                     {"groups", std::move(groups)}});
    }
    rules_.push_back(add(security_rules_kind, named(name), needs, {{"group", needs.front()}, {"rules", std::move(all)}}));
  }

  // The groups of a machine.
  std::vector<std::string> groups_of(std::string_view role) const {
    std::vector<std::string> all = {groups_.at("node")};
    if (role != "worker") all.push_back(groups_.at("controlplane"));
    if (role == (masters_route(input_.config) ? "master" : "worker")) all.push_back(groups_.at("lb"));
    return all;
  }

  void add_role(std::string_view role) {
    const Json& pool = pool_of(input_.config, role);
    std::string& profile = profiles_[std::string(role)];
    if (const std::string given = text_of(pool, {"iamProfile"}); !given.empty()) {
      profile = "id:" + given;
      return;
    }
    std::string own = "id:" + text_of(pool, {"iamRole"});
    if (own == "id:") own = add(role_kind, fmt::format("{}-{}-role", id_, role), {}, {{"policy", "aws/machine-policy.json"}});
    profile = add(instance_profile_kind, fmt::format("{}-{}-profile", id_, role), {own}, {{"role", own}});
  }

  void add_balancers() {
    for (const std::string_view which : {"int", "ext", "apps"}) {
      if (!has_balancer(input_.config, which)) continue;
      const bool is_public = which == "ext" || (which == "apps" && is_published(input_.config, "ingress"));
      JsonArray subnets;
      std::vector<std::string> needs = {vpc_};
      for (const auto& [zone, subnet] : is_public ? public_ : private_) {
        subnets.emplace_back(subnet);
        needs.push_back(subnet);
      }
      if (is_public && input_.region.user_vpc.empty()) needs.push_back(key_of(internet_gateway_kind, named("igw")));
      balancers_[std::string(which)] =
          add(load_balancer_kind, load_balancer_name(id_, which), needs,
              {{"scheme", is_public ? "internet-facing" : "internal"}, {"subnets", std::move(subnets)}});
    }
    for (const Forwarded& each : forwarded) {
      if (!has_balancer(input_.config, each.balancer)) continue;
      const std::string group = add(target_group_kind, named(each.group), {vpc_},
                                    {{"vpc", vpc_}, {"port", each.port}, {"healthPath", each.health_path}});
      const std::string& balancer = balancers_.at(std::string(each.balancer));
      listeners_.push_back(add(listener_kind, fmt::format("{}/{}", load_balancer_name(id_, each.balancer), each.port),
                               {balancer, group}, {{"balancer", balancer}, {"port", each.port}, {"targetGroup", group}}));
    }
  }

  void add_names() {
    const std::string domain = input_.config.cluster_domain();
    const std::string given = text_of(input_.config.platform.section, {"hostedZone"});
    const std::string zone = given.empty() ? add(hosted_zone_kind, domain, {vpc_}, {{"vpc", vpc_}}) : "id:" + given;
    const auto add_record = [&](std::string_view where, std::string_view name, std::string_view which) {
      const std::string& balancer = balancers_.at(std::string(which));
      names_.push_back(add(record_kind, fmt::format("{}/{}.{}", where, name, domain), {zone, balancer},
                           {{"zone", where == "private" ? zone : ""}, {"balancer", balancer}}));
    };
    add_record("private", "api", "int");
    add_record("private", "api-int", "int");
    add_record("private", "*.apps", "apps");
    if (is_published(input_.config, "apiServer")) add_record("public", "api", "ext");
    if (is_published(input_.config, "ingress")) add_record("public", "*.apps", "apps");
  }

  void add_machine(const PlannedMachine& planned) {
    const std::string& name = planned.machine.name;
    const std::string& role = planned.machine.role;
    const std::string own = named(name);
    const Json& pool = pool_of(input_.config, role);
    std::vector<std::string> allowed = zones_of(input_.config, role);
    std::erase_if(allowed, [&](const std::string& zone) { return !private_.contains(zone); });
    if (allowed.empty()) allowed = zones_;
    const std::string& subnet = private_.at(allowed[number_of(name) % allowed.size()]);
    std::vector<std::string> needs = groups_of(role);
    JsonArray groups;
    for (const std::string& each : needs) groups.emplace_back(each);
    for (const std::string& each : texts_of(pool, {"additionalSecurityGroupIDs"})) groups.emplace_back("id:" + each);
    needs.push_back(subnet);
    const std::string image = image_key(role);
    needs.push_back(image);
    // The machine fetches its config by name through the load balancers, and images through the way out.
    for (const std::vector<std::string>* each : {&rules_, &listeners_, &names_, &ways_out_}) {
      std::ranges::copy(*each, std::back_inserter(needs));
    }
    // The bootstrap machine is first: a cluster that has other machines only has completed the bootstrap.
    if (!bootstrap_.empty()) needs.push_back(bootstrap_);
    // It needs no permissions.
    const std::string profile = role == "bootstrap" ? "" : profiles_.at(role);
    if (!profile.empty()) needs.push_back(profile);
    if (planned.has_pointer) {
      // All configs go with the bootstrap machine: the others have read theirs then.
      if (bucket_.empty()) bucket_ = add(bucket_kind, bucket_name(id_), {}, {}, "bootstrap");
      needs.push_back(
          add(object_kind, config_object(id_, name), {bucket_}, {{"bucket", bucket_}, {"machine", name}}, "bootstrap"));
    }
    const std::string token = text_of(pool, {"metadataService", "authentication"});
    const std::string machine = add(machine_kind, own, needs,
                                    {{"type", instance_type(input_.config, role)},
                                     {"image", image},
                                     {"subnet", subnet},
                                     {"groups", std::move(groups)},
                                     {"profile", profile},
                                     {"pointer", planned.has_pointer},
                                     {"requiresToken", token != "Optional"},
                                     {"volume", find_object(pool, {"rootVolume"})},
                                     {"role", role},
                                     {"release", input_.release},
                                     {"version", input_.release_version}},
                                    name);
    for (const Forwarded& each : forwarded) {
      if (!has_balancer(input_.config, each.balancer) || !is_target(role, each, input_.config)) continue;
      const std::string target_group = key_of(target_group_kind, named(each.group));
      add(target_kind, fmt::format("{}/{}", named(each.group), name), {target_group, machine},
          {{"targetGroup", target_group}, {"machine", machine}, {"port", each.port}}, name);
    }
    if (role == "bootstrap") bootstrap_ = machine;
  }

  // The image of a machine. One that slipway imports is in the plan.
  std::string image_key(std::string_view role) {
    const std::string given = image_of(input_.config, role);
    if (!given.empty()) return "id:" + given;
    if (!input_.image.starts_with(os_image_name(""))) return "id:" + input_.image;
    if (image_.empty()) {
      image_ = add(image_kind, input_.image, {}, {{"architecture", "x86_64"}});
      plan_.back().is_shared = true;
    }
    return image_;
  }

  const PlanInput& input_;
  const std::string& id_;
  plan::Plan plan_;
  std::vector<std::string> zones_;
  std::string vpc_, bootstrap_, image_, bucket_;
  std::map<std::string, std::string> private_, public_;  // zone: subnet
  std::map<std::string, std::string> groups_, profiles_, balancers_;
  std::vector<std::string> rules_, listeners_, names_, ways_out_;
};

void check_pools(Findings& findings, const config::InstallConfig& config) {
  const Place place{"install-config.yaml"};
  for (const std::string_view role : {"master", "worker"}) {
    if (role == "worker" && config.compute_replicas() == 0) continue;
    const config::MachinePool& pool = role == "worker" ? config.compute.front() : config.control_plane;
    if (image_of(config, role).empty() && pool.architecture == "arm64") {
      findings
          .error(place, role == "master" ? "controlPlane.platform.aws.amiID" : "compute[0].platform.aws.amiID",
                 "missing: slipway imports images for amd64 only")
          .hint("register an image for arm64 and set amiID to it");
    }
  }
  for (const config::MachinePool& pool : config.compute) {
    if (pool.name == "worker" || pool.replicas == 0) continue;
    findings.error(place, "compute", "slipway creates no machines for pool {}", pool.name)
        .hint("set its replicas to 0, or create its machines yourself");
  }
}

}  // namespace

std::string cluster_tag(std::string_view infra_id) { return fmt::format("kubernetes.io/cluster/{}", infra_id); }

std::string load_balancer_name(std::string_view infra_id, std::string_view which) {
  return fmt::format("{}-{}", infra_id, which);
}

std::vector<std::string> load_balancer_names(std::string_view infra_id) {
  std::vector<std::string> names;
  for (const std::string_view which : {"int", "ext", "apps"}) names.push_back(load_balancer_name(infra_id, which));
  return names;
}

std::vector<std::string> target_group_names(std::string_view infra_id) {
  std::vector<std::string> names;
  for (const Forwarded& each : forwarded) names.push_back(fmt::format("{}-{}", infra_id, each.group));
  return names;
}

std::vector<std::string> role_names(std::string_view infra_id) {
  return {fmt::format("{}-master-role", infra_id), fmt::format("{}-worker-role", infra_id)};
}

std::vector<std::string> profile_names(std::string_view infra_id) {
  return {fmt::format("{}-master-profile", infra_id), fmt::format("{}-worker-profile", infra_id)};
}

std::string os_image_name(std::string_view identity) { return fmt::format("slipway-os-{}", identity); }

std::string bucket_name(std::string_view infra_id) { return fmt::format("{}-bootstrap", infra_id); }
std::string config_object(std::string_view infra_id, std::string_view machine) {
  return fmt::format("{}/{}.ign", bucket_name(infra_id), machine);
}

Result<> check_config(const config::InstallConfig& config) {
  Findings findings;
  const Place place{"install-config.yaml"};
  const Json& section = config.platform.section;
  check_pools(findings, config);
  if (is_true(section, {"bestEffortDeleteIgnition"})) {
    findings.error(place, "platform.aws.bestEffortDeleteIgnition", "slipway always removes the config of the bootstrap machine")
        .hint("remove the field");
  }
  const bool has_own_network = texts_of(section, {"subnets"}).empty();
  if (has_own_network && config.networking.machine_network.size() != 1) {
    findings.error(place, "networking.machineNetwork", "must be one network: it is that of the VPC");
  }
  for (const std::string& text : config.networking.machine_network) {
    const Result<net::Cidr> network = net::parse_cidr(text);
    if (!network.ok() || (network->is_v4() && network->prefix >= 16 && network->prefix <= smallest_network) || !has_own_network) {
      continue;
    }
    findings.error(place, "networking.machineNetwork", "{} is not a network of AWS", text)
        .hint(fmt::format("use an IPv4 network of /16 to /{}", smallest_network));
  }
  return findings.to_result();
}

Result<std::vector<std::string>> planned_zones(const config::InstallConfig& config, const std::vector<std::string>& available) {
  std::vector<std::string> zones;
  for (const std::string_view role : {"master", "worker"}) std::ranges::copy(zones_of(config, role), std::back_inserter(zones));
  std::ranges::sort(zones);
  zones.erase(std::unique(zones.begin(), zones.end()), zones.end());
  for (const std::string& zone : zones) {
    if (std::ranges::find(available, zone) != available.end()) continue;
    return error(Code::invalid, "zones: {} is not available in the region (available: {})", zone, join(available, ", "));
  }
  if (zones.empty())
    zones = {available.begin(), available.begin() + static_cast<std::ptrdiff_t>(std::min(most_zones, available.size()))};
  if (zones.empty()) return error(Code::invalid, "platform.aws.region: has no available zone");
  return zones;
}

std::string instance_type(const config::InstallConfig& config, std::string_view role) {
  return assets::aws_instance_type(config, role);
}

std::string image_of(const config::InstallConfig& config, std::string_view role) {
  return text_of(pool_of(config, role), {"amiID"});
}

bool imports_image(const config::InstallConfig& config) {
  return image_of(config, "master").empty() || (config.compute_replicas() > 0 && image_of(config, "worker").empty());
}

Result<plan::Plan> cluster_plan(const PlanInput& input, const std::vector<PlannedMachine>& machines) {
  return Builder(input).build(machines);
}

}  // namespace slipway::provider::aws
