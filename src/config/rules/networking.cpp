#include "base/text.h"
#include "config/rules/platform_rules.h"
#include "config/platforms.h"

#include <algorithm>
#include <vector>

namespace slipway::config {

namespace {

// A network of one of the three lists, with its path.
struct Network {
  std::string path;
  net::Cidr cidr;
};
using Networks = std::vector<Network>;

struct Lists {
  Networks machine;
  Networks cluster;
  Networks service;
};

void read_network(Document& document, const Json& text, const std::string& path, Networks& into) {
  if (!text.is_string()) return;
  const std::string_view written = text.get_string();
  const auto cidr = net::parse_cidr(written);
  if (!cidr.ok()) {
    document.error(path, "'{}' is not a network", written).hint("for example 10.0.0.0/16");
    return;
  }
  if (cidr->has_host_bits()) {
    document.error(path, "{} has host bits set", written)
        .hint(fmt::format("the network is {}", net::to_string(net::Cidr{cidr->network(), cidr->prefix})));
  } else if (cidr->address == net::IpAddress() || net::to_string(cidr->address) == "::") {
    document.error(path, "{} contains all addresses", written);
  } else {
    into.push_back({path, cidr.value()});
  }
}

Networks read_networks(Document& document, std::string_view list) {
  Networks networks;
  const JsonArray& items = find_array(document.value, {"networking", list});
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string path = fmt::format("networking.{}[{}]", list, i);
    if (list == "serviceNetwork") {
      if (!items[i].is_null()) read_network(document, items[i], path, networks);
    } else if (items[i].is_object()) {
      const Json* cidr = find(items[i], {"cidr"});
      read_network(document, cidr ? *cidr : Json(), path + ".cidr", networks);
    }
  }
  return networks;
}

void refuse_overlaps(Document& document, const Lists& lists) {
  Networks seen;
  for (const Networks* list : {&lists.machine, &lists.service, &lists.cluster}) {
    for (const Network& network : *list) {
      for (const Network& other : seen) {
        if (!network.cidr.overlaps(other.cidr)) continue;
        document.error(network.path, "{} overlaps {} of {}", net::to_string(network.cidr), net::to_string(other.cidr),
                       other.path);
      }
      seen.push_back(network);
    }
  }
  const auto containers = net::parse_cidr("172.17.0.0/16");
  for (const Network& network : seen) {
    if (!network.cidr.overlaps(containers.value())) continue;
    document.warning(network.path, "{} overlaps 172.17.0.0/16, which container tools use on their hosts",
                     net::to_string(network.cidr));
  }
}

bool has_family(const Networks& networks, bool v4) {
  return std::ranges::any_of(networks, [&](const Network& network) { return network.cidr.is_v4() == v4; });
}

// The address families of the cluster: those of networking.serviceNetwork.
struct Families {
  bool v4 = false;
  bool v6 = false;

  bool are_two() const { return v4 && v6; }
};

void validate_list_families(Document& document, const std::string& path, const Networks& networks, const Families& wanted) {
  if (networks.empty() || !(wanted.v4 || wanted.v6)) return;
  for (const bool v4 : {true, false}) {
    const std::string_view family = v4 ? "IPv4" : "IPv6";
    const bool is_wanted = v4 ? wanted.v4 : wanted.v6;
    if (is_wanted && !has_family(networks, v4)) {
      document.error(path, "has no {} network, but networking.serviceNetwork has {}", family,
                     wanted.are_two() ? "both families" : "only these");
    } else if (!is_wanted && has_family(networks, v4)) {
      document.warning(path, "has an {} network that nothing uses, networking.serviceNetwork has none", family);
    }
  }
}

void validate_families(Document& document, const Lists& lists, const std::string& platform) {
  const std::pair<std::string, const Networks*> all[] = {{"networking.machineNetwork", &lists.machine},
                                                         {"networking.clusterNetwork", &lists.cluster},
                                                         {"networking.serviceNetwork", &lists.service}};
  const bool is_known = is_supported_platform(platform);
  const AddressFamilies allowed = is_known ? platform_row(platform).families : AddressFamilies::both_any_first;
  const bool is_v4_only = allowed == AddressFamilies::v4;
  const Families families = {has_family(lists.service, true), !is_v4_only && has_family(lists.service, false)};
  for (const auto& [path, networks] : all) {
    if (is_v4_only && has_family(*networks, false)) {
      document.error(path, "has an IPv6 network; platform {} is IPv4 only", platform);
      continue;
    }
    validate_list_families(document, path, *networks, families);
    const bool is_v6_first = families.are_two() && has_family(*networks, true) && !networks->front().cidr.is_v4();
    if (is_v6_first && allowed == AddressFamilies::both) {
      document.error(path, "must have IPv4 first on platform {}", platform);
    }
  }
}

void validate_service_count(Document& document, const Networks& service) {
  const std::size_t most = has_family(service, true) && has_family(service, false) ? 2 : 1;
  if (service.size() > most) {
    document.error("networking.serviceNetwork", "has {} networks, must have at most {}", service.size(), most)
        .hint("one, or one of each family");
  }
}

void validate_host_prefixes(Document& document) {
  const bool is_flannel = document.text({"networking", "networkType"}) == "Flannel";
  const JsonArray& networks = find_array(document.value, {"networking", "clusterNetwork"});
  for (std::size_t i = 0; i < networks.size(); ++i) {
    const auto cidr = net::parse_cidr(find_string(networks[i], {"cidr"}).value_or(""));
    if (!cidr.ok()) continue;
    const std::string path = fmt::format("networking.clusterNetwork[{}].hostPrefix", i);
    const Json* given = find(networks[i], {"hostPrefix"});
    if (!given || !given->is_int64()) {
      if (!document.was_given(path)) document.error(path, "missing").hint(cidr->is_v4() ? "23 is usual" : "use 64");
      continue;
    }
    const std::int64_t prefix = given->get_int64();
    if (!cidr->is_v4() && prefix != 64) {
      document.error(path, "must be 64 for IPv6, got {}", prefix);
    } else if (prefix < cidr->prefix || prefix > cidr->bits()) {
      document.error(path, "must be {} to {}, got {}", cidr->prefix, cidr->bits(), prefix);
    } else if (is_flannel && prefix - cidr->prefix > 16) {
      // The limit of the pod network allocator of Kubernetes.
      document.error(path, "splits {} into more than 65536 networks", net::to_string(cidr.value()))
          .hint(fmt::format("{} at most", cidr->prefix + 16));
    }
  }
}

void validate_service_sizes(Document& document, const Networks& service) {
  for (const Network& network : service) {
    const int smallest = network.cidr.is_v4() ? 12 : 108;  // the limit of the service address allocator of Kubernetes
    if (network.cidr.prefix < smallest) {
      document.error(network.path, "{} is too large", net::to_string(network.cidr)).hint(fmt::format("/{} or smaller", smallest));
    }
  }
}

void validate_local_network(Document& document, const Networks& machine) {
  if (machine.size() > 1)
    document.error("networking.machineNetwork", "has {} networks, must have one on platform local", machine.size());
  if (machine.empty() || !machine[0].cidr.is_v4()) return;
  const int prefix = machine[0].cidr.prefix;
  if (prefix < 16 || prefix > 28)
    document.error(machine[0].path, "has prefix length {}, must be 16 to 28 on platform local", prefix);
}

void validate_mtu(Document& document, const std::string& platform, std::string_view type) {
  const Section networking(document, {"networking"});
  const auto mtu = networking.number("clusterNetworkMTU");
  if (!mtu || *mtu == 0) return;
  constexpr int smallest = 1000;
  constexpr int largest = 9001;  // MTU of interfaces of cloud machines
  constexpr int overhead = 100;  // bytes; headers of OVNKubernetes tunnels
  constexpr int largest_at_edge = 1200;
  const int most = platform == "aws" ? largest - overhead : largest;
  if (platform != "local" && platform != "aws") {
    networking.error_at("clusterNetworkMTU", "can be set on platforms aws and local only");
  } else if (platform == "aws" && type != "OVNKubernetes") {
    networking.error_at("clusterNetworkMTU", "requires networkType: OVNKubernetes");
  } else if (*mtu < smallest || *mtu > most) {
    networking.error_at("clusterNetworkMTU", "must be {} to {}, got {}", smallest, most, *mtu);
  } else if (*mtu > largest_at_edge) {
    for (const Section& pool : Section(document, {}).items("compute")) {
      if (pool.text("name") != "edge") continue;
      document.warning(networking.path("clusterNetworkMTU"), "values above {} may not work for machines of pool edge",
                       largest_at_edge);
    }
  }
}

void validate_type(Document& document, const std::string& platform, std::string_view type) {
  const Section networking(document, {"networking"});
  if (const std::string lower = to_lower(type); lower == "openshiftsdn" || lower == "kuryr") {
    networking.error_at("networkType", "{} no longer exists", type).hint("use OVNKubernetes");
  } else if (platform == "local") {
    networking.one_of("networkType", {"Flannel", "OVNKubernetes"});
  }
}

}  // namespace

void validate_networking(Document& document) {
  const std::string platform = platform_type(document);
  const std::string_view type = document.text({"networking", "networkType"});
  validate_type(document, platform, type);
  const Lists lists = {read_networks(document, "machineNetwork"), read_networks(document, "clusterNetwork"),
                       read_networks(document, "serviceNetwork")};
  refuse_overlaps(document, lists);
  validate_families(document, lists, platform);
  validate_service_count(document, lists.service);
  validate_host_prefixes(document);
  validate_service_sizes(document, lists.service);
  if (platform == "local") validate_local_network(document, lists.machine);
  validate_mtu(document, platform, type);
}

}  // namespace slipway::config
