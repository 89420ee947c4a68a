#include "provider/openstack/cluster_plan.h"

#include "base/digest.h"
#include "base/findings.h"
#include "base/text.h"
#include "net/ip.h"
#include "provider/os_image.h"
#include "provider/planned_machines.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>

namespace slipway::provider::openstack {

namespace {

constexpr int api_port = 6443;
constexpr int config_port = 22623;
constexpr int smallest_network = 27;          // leaves addresses for machines after the first ones
constexpr std::uint64_t first_of_pool = 10;   // of the addresses that Neutron gives; virtual addresses are before it
constexpr std::size_t properties_length = 8;  // hexadecimal digits in the name of an image
constexpr std::string_view usual_policy = "soft-anti-affinity";

// What the members of a security group accept.
struct Rule {
  std::string_view protocol;
  int from;  // 0: all
  int to;
  std::string_view source;  // "any", "network": the machine networks, "nodes": both groups; otherwise a group
};
constexpr std::array rules_of_nodes = {
    Rule{"icmp", 0, 0, "network"},      Rule{"tcp", 22, 22, "network"}, Rule{"112", 0, 0, "nodes"},  // VRRP
    Rule{"tcp", 10250, 10250, "nodes"},                                                              // kubelet
    Rule{"udp", 8472, 8472, "nodes"},                                                                // VXLAN of flannel
    Rule{"udp", 6081, 6081, "nodes"},                                                                // Geneve of OVN-Kubernetes
    Rule{"tcp", 9000, 9999, "nodes"},                                                                // metrics of host services
    Rule{"tcp", 30000, 32767, "nodes"},                                                              // node ports
    Rule{"udp", 30000, 32767, "nodes"},
};
constexpr std::array rules_of_masters = {
    Rule{"tcp", api_port, api_port, "any"}, Rule{"tcp", config_port, config_port, "network"},
    Rule{"tcp", 2379, 2380, "master"},    // etcd
    Rule{"tcp", 10257, 10259, "master"},  // controller manager, scheduler
};
constexpr std::array rules_of_routers = {
    Rule{"tcp", 80, 80, "any"},
    Rule{"tcp", 443, 443, "any"},
};

std::string key_of(std::string_view kind, std::string_view name) { return fmt::format("{}/{}", kind, name); }

// With a load balancer of the user, machines hold no addresses.
bool holds_addresses(const config::InstallConfig& config) {
  return text_of(config.platform.section, {"loadBalancer", "type"}) != "UserManaged";
}

bool is_router(std::string_view role, const config::InstallConfig& config) {
  return role == (config.compute_replicas() == 0 ? "master" : "worker");
}

class Builder {
 public:
  explicit Builder(const PlanInput& input) : input_(input), id_(input.infra_id), section_(input.config.platform.section) {}

  Result<plan::Plan> build(const std::vector<PlannedMachine>& machines) {
    add_network();
    for (const std::string_view group : {"master", "worker"}) {
      groups_[std::string(group)] = add(security_group_kind, named(id_, group), {}, {{"description", group}});
    }
    add_rules("master", {rules_of_nodes, rules_of_masters, is_router("master", input_.config) ? rules_of_routers : none});
    add_rules("worker", {rules_of_nodes, is_router("worker", input_.config) ? rules_of_routers : none});
    if (holds_addresses(input_.config)) {
      TRY(add_virtual_addresses("api", config::api_vips(input_.config)));
      TRY(add_virtual_addresses("ingress", config::ingress_vips(input_.config)));
    }
    for (const PlannedMachine& machine : machines) add_machine(machine);
    return std::move(plan_);
  }

 private:
  static constexpr std::span<const Rule> none{};

  // Returns the key.
  std::string add(std::string_view kind, std::string name, std::vector<std::string> needs, JsonObject spec,
                  std::string machine = "") {
    std::erase_if(needs, [](const std::string& need) { return need.empty() || need.starts_with("id:"); });
    std::ranges::sort(needs);
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    std::string key = key_of(kind, name);
    if (!keys_.insert(key).second) return key;
    plan_.push_back({.kind = std::string(kind),
                     .name = std::move(name),
                     .machine = std::move(machine),
                     .needs = std::move(needs),
                     .spec = std::move(spec)});
    return key;
  }

  void add_network() {
    if (!input_.site.user_network.empty()) {
      network_ = "id:" + input_.site.user_network;
      for (const UserSubnet& subnet : input_.site.subnets) subnets_.emplace_back("id:" + subnet.id, subnet.cidr);
      return;
    }
    network_ = add(network_kind, named(id_, "openshift"), {}, JsonObject());
    JsonArray all;
    for (const std::string& cidr : input_.config.networking.machine_network) {
      const Result<net::Cidr> network = net::parse_cidr(cidr);
      if (!network.ok()) continue;  // check_config() refuses it
      const std::uint64_t size = std::uint64_t{1} << (network->bits() - network->prefix);
      const std::string subnet = add(subnet_kind, named(id_, "nodes"), {network_},
                                     {{"network", network_},
                                      {"cidr", cidr},
                                      {"first", net::to_string(network->host(first_of_pool).value())},
                                      {"last", net::to_string(network->host(size - 2).value())},
                                      {"nameServers", find_array(section_, {"externalDNS"})}});
      subnets_.emplace_back(subnet, cidr);
      all.emplace_back(subnet);
    }
    if (input_.site.external_network.empty()) return;
    std::vector<std::string> needs = {network_};
    for (const auto& [subnet, cidr] : subnets_) needs.push_back(subnet);
    router_ = add(router_kind, named(id_, "external-router"), std::move(needs),
                  {{"external", input_.site.external_network}, {"subnets", std::move(all)}});
  }

  void add_rules(const std::string& group, std::initializer_list<std::span<const Rule>> lists) {
    JsonArray all;
    std::vector<std::string> needs = {groups_.at("master"), groups_.at("worker")};
    const auto add_rule = [&](const Rule& rule, bool is_v4, std::string_view cidr, const std::string& source) {
      all.push_back({{"ethertype", is_v4 ? "IPv4" : "IPv6"},
                     {"protocol", rule.protocol == "icmp" && !is_v4 ? "ipv6-icmp" : rule.protocol},
                     {"from", rule.from},
                     {"to", rule.to},
                     {"cidr", cidr},
                     {"group", source}});
    };
    for (const std::span<const Rule> rules : lists) {
      for (const Rule& rule : rules) {
        // One rule a machine network; for other sources one a family.
        for (const std::string& text : input_.config.networking.machine_network) {
          const bool is_v4 = text.find(':') == std::string::npos;
          if (rule.source == "network") {
            add_rule(rule, is_v4, text, "");
          } else if (rule.source == "any") {
            add_rule(rule, is_v4, "", "");
          } else {
            for (const auto& [name, key] : groups_) {
              if (rule.source == "nodes" || rule.source == name) add_rule(rule, is_v4, "", key);
            }
          }
        }
      }
    }
    // Several networks of one family give the same rule.
    JsonArray distinct;
    for (Json& each : all) {
      if (std::ranges::find(distinct, each) == distinct.end()) distinct.push_back(std::move(each));
    }
    rules_.push_back(add(security_rules_kind, named(id_, group), std::move(needs),
                         {{"group", groups_.at(group)}, {"rules", std::move(distinct)}}));
  }

  // The subnet that contains an address.
  Result<std::string> subnet_of(const std::string& address) const {
    const net::IpAddress parsed = TRY(net::parse_ip(address));
    for (const auto& [subnet, text] : subnets_) {
      const Result<net::Cidr> cidr = net::parse_cidr(text);
      if (cidr.ok() && cidr->contains(parsed)) return subnet;
    }
    return error(Code::invalid, "virtual address {}: is in no subnet of platform.openstack.controlPlanePort", address);
  }

  // A port keeps the addresses from being given to others. Machines hold them by VRRP.
  Result<> add_virtual_addresses(const std::string& what, const std::vector<std::string>& addresses) {
    JsonArray fixed;
    std::vector<std::string> needs = {network_};
    std::string v4;
    for (const std::string& address : addresses) {
      const std::string subnet = TRY(subnet_of(address));
      fixed.push_back({{"subnet", subnet}, {"address", address}});
      needs.push_back(subnet);
      if (v4.empty() && address.find(':') == std::string::npos) v4 = address;
    }
    const std::string port = add(port_kind, named(id_, what + "-port"), std::move(needs),
                                 {{"network", network_}, {"addresses", std::move(fixed)}, {"description", ""}});
    addresses_.push_back(port);
    std::ranges::copy(addresses, std::back_inserter(what == "api" ? api_ : ingress_));
    const std::string given = text_of(section_, {what + "FloatingIP"});
    if (!given.empty()) {
      addresses_.push_back(add(user_address_kind, given, {port, router_}, {{"port", port}, {"address", v4}}));
    } else if (!input_.site.external_network.empty()) {
      addresses_.push_back(
          add(floating_ip_kind, named(id_, what), {port, router_},
              {{"external", input_.site.external_network}, {"port", port}, {"address", v4}, {"description", what}}));
    }
    return Ok{};
  }

  std::string add_port(const PlannedMachine& planned, const Json& pool) {
    const std::string& role = planned.machine.role;
    JsonArray fixed, pairs, groups;
    std::vector<std::string> needs = {network_};
    for (const auto& [subnet, cidr] : subnets_) {
      fixed.push_back({{"subnet", subnet}, {"address", ""}});
      needs.push_back(subnet);
    }
    if (role != "worker") {
      for (const std::string& address : api_) pairs.emplace_back(address);
    }
    for (const std::string& address : ingress_) pairs.emplace_back(address);
    const std::string& group = groups_.at(role == "worker" ? "worker" : "master");
    groups.emplace_back(group);
    needs.push_back(group);
    // Neutron gives no address of these to others.
    for (const std::string& each : addresses_) {
      if (each.starts_with(port_kind)) needs.push_back(each);
    }
    for (const std::string& id : texts_of(pool, {"additionalSecurityGroupIDs"})) groups.emplace_back("id:" + id);
    return add(port_kind, named(id_, planned.machine.name), std::move(needs),
               {{"network", network_},
                {"addresses", std::move(fixed)},
                {"pairs", std::move(pairs)},
                {"groups", std::move(groups)},
                {"description", planned.machine.name}},
               planned.machine.name);
  }

  static std::string item_for(const std::vector<std::string>& list, std::size_t number) {
    return list.empty() ? "" : list[number % list.size()];
  }

  void add_machine(const PlannedMachine& planned) {
    const std::string& name = planned.machine.name;
    const std::string& role = planned.machine.role;
    const Json& pool = pool_of(input_.config, role);
    const std::size_t number = number_of(name);
    const std::string port = add_port(planned, pool);
    const std::string image = image_key();
    // The machine fetches its config and the images through all of these.
    std::vector<std::string> needs = {port, image, router_};
    for (const std::vector<std::string>* each : {&rules_, &addresses_}) std::ranges::copy(*each, std::back_inserter(needs));
    // The bootstrap machine is first: a cluster that has other machines only has completed the bootstrap.
    needs.push_back(bootstrap_);
    std::string group;
    if (role != "bootstrap") {
      std::string policy = text_of(pool, {"serverGroupPolicy"});
      if (policy.empty()) policy = usual_policy;
      // Workers of a zone have a group of their own, as the Machine objects of the manifests have it.
      const std::string zone = role == "worker" ? item_for(texts_of(pool, {"zones"}), number) : "";
      group =
          add(server_group_kind, named(id_, zone.empty() ? role : fmt::format("{}-{}", role, zone)), {}, {{"policy", policy}});
      needs.push_back(group);
    }
    std::string volume;
    if (const Json* root = find(pool, {"rootVolume"}); root && root->is_object()) {
      volume = add(volume_kind, named(id_, name), {image},
                   {{"image", image},
                    {"size", integer_of(*root, {"size"})},
                    {"type", item_for(texts_of(*root, {"types"}), number)},
                    {"zone", item_for(texts_of(*root, {"zones"}), number)}},
                   name);
      needs.push_back(volume);
    }
    std::string pointer;
    if (planned.has_pointer) {
      // All configs go with the bootstrap machine: the others have read theirs then.
      if (input_.site.has_temp_urls) {
        const std::string container = add(container_kind, container_name(id_), {}, JsonObject(), "bootstrap");
        pointer = add(object_kind, config_object(id_, name), {container}, {{"machine", name}}, "bootstrap");
      } else {
        pointer = add(config_image_kind, config_image(id_, name), {}, {{"machine", name}}, "bootstrap");
      }
      needs.push_back(pointer);
    }
    JsonArray networks;
    for (const std::string& id : texts_of(pool, {"additionalNetworkIDs"})) networks.emplace_back(id);
    const std::string key = add(machine_kind, named(id_, name), std::move(needs),
                                {{"flavor", text_of(pool, {"type"})},
                                 {"image", image},
                                 {"volume", volume},
                                 {"port", port},
                                 {"networks", std::move(networks)},
                                 {"group", group},
                                 {"zone", item_for(texts_of(pool, {"zones"}), number)},
                                 {"pointer", pointer},
                                 {"role", role},
                                 {"release", input_.release},
                                 {"version", input_.release_version}},
                                name);
    if (role == "bootstrap") bootstrap_ = key;
  }

  std::string image_key() {
    if (!input_.site.user_image.empty()) return "id:" + input_.site.user_image;
    if (image_.empty()) {
      image_ = add(image_kind, input_.image, {}, {{"properties", find_object(section_, {"clusterOSImageProperties"})}});
      plan_.back().is_shared = true;
    }
    return image_;
  }

  const PlanInput& input_;
  const std::string& id_;
  const Json& section_;
  plan::Plan plan_;
  std::set<std::string> keys_;  // of the plan
  std::string network_, router_, bootstrap_, image_;
  std::vector<std::pair<std::string, std::string>> subnets_;  // key or "id:UUID", and the network
  std::map<std::string, std::string> groups_;
  std::vector<std::string> rules_;
  std::vector<std::string> addresses_;  // keys of ports and floating IPs for the virtual addresses
  std::vector<std::string> api_, ingress_;
};

void check_image(Findings& findings, const Json& section) {
  const Place place{"install-config.yaml"};
  const std::string image = text_of(section, {"clusterOSImage"}), url = image_url(section);
  if (url.starts_with("http:") && digest_of_url(url).empty()) {
    findings.error(place, "platform.openstack.clusterOSImage", "an image that arrives without TLS needs a checksum")
        .hint("append ?sha256= and the SHA-256 of the file, or use https");
  }
  const std::string path = url.substr(0, url.find('?'));
  if (path.ends_with(".gz") || path.ends_with(".xz")) {
    findings.error(place, "platform.openstack.clusterOSImage", "is a compressed image").hint("name one in qcow2 or raw");
  }
  if (!image.empty() && url.empty() && !find_object(section, {"clusterOSImageProperties"}).empty()) {
    findings.error(place, "platform.openstack.clusterOSImageProperties", "has no effect on image {}, which exists", image)
        .hint("remove the field, or set the properties yourself");
  }
}

void check_network(Findings& findings, const config::InstallConfig& config) {
  const Place place{"install-config.yaml"};
  const Json& section = config.platform.section;
  if (find(section, {"controlPlanePort"})) return;
  if (text_of(section, {"externalNetwork"}).empty()) {
    findings.error(place, "platform.openstack.externalNetwork", "missing: nothing could reach the machines")
        .hint("name the external network, or existing subnets in controlPlanePort");
  }
  const std::vector<std::string>& networks = config.networking.machine_network;
  const Result<net::Cidr> network = net::parse_cidr(networks.empty() ? "" : networks.front());
  if (networks.size() == 1 && network.ok() && network->is_v4() && network->prefix <= smallest_network) return;
  findings
      .error(place, "networking.machineNetwork", "must be one IPv4 network of at least /{}: slipway creates its subnet",
             smallest_network)
      .hint("or name existing subnets in platform.openstack.controlPlanePort");
}

}  // namespace

std::string cluster_tag(std::string_view infra_id) { return fmt::format("{}={}", cluster_key, infra_id); }

std::string mark_of(std::string_view infra_id, std::string_view what) {
  return fmt::format("{} {}{}{}", own_tag, infra_id, what.empty() ? "" : " ", what);
}

std::optional<Mark> read_mark(std::string_view description) {
  const std::vector<std::string_view> parts = split(description, ' ');
  if (parts.size() < 2 || parts.size() > 3 || parts[0] != own_tag || parts[1].empty()) return std::nullopt;
  return Mark{.infra_id = std::string(parts[1]), .what = std::string(parts.size() == 3 ? parts[2] : "")};
}

std::string named(std::string_view infra_id, std::string_view suffix) { return fmt::format("{}-{}", infra_id, suffix); }
std::string container_name(std::string_view infra_id) { return named(infra_id, "bootstrap"); }
std::string config_object(std::string_view infra_id, std::string_view machine) {
  return fmt::format("{}/{}.ign", container_name(infra_id), machine);
}
std::string config_image(std::string_view infra_id, std::string_view machine) {
  return fmt::format("{}.ign", named(infra_id, machine));
}

std::string os_image_name(std::string_view identity, const JsonObject& properties) {
  std::string name = fmt::format("slipway-os-{}", identity);
  if (properties.empty()) return name;
  return fmt::format("{}-{}", name, sha256_hex(emit_json(properties, JsonStyle::compact)).substr(0, properties_length));
}

std::string image_url(const Json& section) {
  std::string image = text_of(section, {"clusterOSImage"});
  return image.starts_with("http://") || image.starts_with("https://") ? image : "";
}

Result<> check_config(const config::InstallConfig& config) {
  Findings findings;
  const Place place{"install-config.yaml"};
  for (const std::string_view role : {"master", "worker"}) {
    if (role == "worker" && config.compute_replicas() == 0) continue;
    if (!text_of(pool_of(config, role), {"type"}).empty()) continue;
    findings
        .error(place, role == "master" ? "controlPlane.platform.openstack.type" : "compute[0].platform.openstack.type",
               "missing: the flavor of the machines")
        .hint("or set platform.openstack.defaultMachinePlatform.type for all machines");
  }
  if (config::api_vips(config).empty() || config::ingress_vips(config).empty()) {
    findings.error(place, "platform.openstack", "has no virtual addresses for the API and the applications")
        .hint("add apiVIPs and ingressVIPs: the addresses of your load balancer");
  }
  for (const config::MachinePool& pool : config.compute) {
    if (pool.name == "worker" || pool.replicas == 0) continue;
    findings.error(place, "compute", "slipway creates no machines for pool {}", pool.name)
        .hint("set its replicas to 0, or create its machines yourself");
  }
  check_network(findings, config);
  check_image(findings, config.platform.section);
  return findings.to_result();
}

Result<plan::Plan> cluster_plan(const PlanInput& input, const std::vector<PlannedMachine>& machines) {
  return Builder(input).build(machines);
}

}  // namespace slipway::provider::openstack
