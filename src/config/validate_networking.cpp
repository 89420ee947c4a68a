#include "base/text.h"
#include "config/document.h"
#include "net/ip.h"

#include <algorithm>
#include <vector>

namespace slipway::config {

namespace {

// A network of one of the three lists, and where it stands.
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
  if (!text.is_string()) {
    if (!document.was_given(path)) document.error(path, "is missing");
    return;
  }
  const std::string_view written = text.get_string();
  const auto cidr = net::parse_cidr(written);
  if (!cidr.ok()) {
    document.error(path, "'{}' is no network", written).hint("as in 10.0.0.0/16");
    return;
  }
  if (cidr->has_host_bits()) {
    document.error(path, "{} is an address in a network", written)
        .hint(fmt::format("the network is {}", net::to_string(net::Cidr{cidr->network(), cidr->prefix})));
  } else if (cidr->address == net::IpAddress() || net::to_string(cidr->address) == "::") {
    document.error(path, "{} is every address", written);
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

void validate_families(Document& document, const Lists& lists, bool is_local) {
  const std::pair<std::string, const Networks*> all[] = {{"networking.machineNetwork", &lists.machine},
                                                         {"networking.clusterNetwork", &lists.cluster},
                                                         {"networking.serviceNetwork", &lists.service}};
  bool any_v4 = false;
  bool any_v6 = false;
  for (const auto& [path, networks] : all) {
    any_v4 |= has_family(*networks, true);
    any_v6 |= has_family(*networks, false);
  }
  for (const auto& [path, networks] : all) {
    if (networks->empty()) continue;
    if (is_local) {
      if (has_family(*networks, false)) document.error(path, "has an IPv6 network; platform local is IPv4 only");
    } else if (any_v4 && any_v6) {
      if (!has_family(*networks, true)) document.error(path, "has no IPv4 network, others have both families");
      if (!has_family(*networks, false)) document.error(path, "has no IPv6 network, others have both families");
      if (!networks->front().cidr.is_v4() && has_family(*networks, true)) document.error(path, "must have IPv4 first");
    }
  }
  const std::size_t most = any_v4 && any_v6 ? 2 : 1;
  if (lists.service.size() > most) {
    document.error("networking.serviceNetwork", "has {} networks, {} at most", lists.service.size(), most)
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
      if (!document.was_given(path)) document.error(path, "is missing").hint(cidr->is_v4() ? "23 is usual" : "write 64");
      continue;
    }
    const std::int64_t prefix = given->get_int64();
    if (!cidr->is_v4() && prefix != 64) {
      document.error(path, "must be 64 for IPv6, got {}", prefix);
    } else if (prefix < cidr->prefix || prefix > cidr->bits()) {
      document.error(path, "must be {} to {}, got {}", cidr->prefix, cidr->bits(), prefix);
    } else if (is_flannel && prefix - cidr->prefix > 16) {
      // Kubernetes' allocator of pod networks counts no further.
      document.error(path, "cuts {} into more than 65536 networks", net::to_string(cidr.value()));
    }
  }
}

void validate_service_sizes(Document& document, const Networks& service) {
  for (const Network& network : service) {
    const int smallest = network.cidr.is_v4() ? 12 : 108;
    if (network.cidr.prefix < smallest) {
      document.error(network.path, "{} is too large", net::to_string(network.cidr)).hint(fmt::format("/{} or smaller", smallest));
    }
  }
}

void validate_local_network(Document& document, const Networks& machine) {
  if (machine.size() > 1) document.error("networking.machineNetwork", "has {} networks; platform local has one", machine.size());
  if (machine.empty() || !machine[0].cidr.is_v4()) return;
  const int prefix = machine[0].cidr.prefix;
  if (prefix < 16 || prefix > 28) document.error(machine[0].path, "has prefix {}; platform local takes 16 to 28", prefix);
}

void validate_mtu(Document& document, bool is_local) {
  const Json* mtu = find(document.value, {"networking", "clusterNetworkMTU"});
  if (!mtu || !mtu->is_int64() || mtu->get_int64() == 0) return;
  const std::string path = "networking.clusterNetworkMTU";
  if (!is_local) {
    document.error(path, "can be set on aws and local only");
  } else if (mtu->get_int64() < 1000 || mtu->get_int64() > 9001) {
    document.error(path, "must be 1000 to 9001, got {}", mtu->get_int64());
  }
}

}  // namespace

void validate_networking(Document& document) {
  const bool is_local = platform_type(document) == "local";
  const std::string_view type = document.text({"networking", "networkType"});
  if (const std::string lower = to_lower(type); lower == "openshiftsdn" || lower == "kuryr") {
    document.error("networking.networkType", "{} no longer exists", type).hint("use OVNKubernetes");
  }
  const Lists lists = {read_networks(document, "machineNetwork"), read_networks(document, "clusterNetwork"),
                       read_networks(document, "serviceNetwork")};
  refuse_overlaps(document, lists);
  validate_families(document, lists, is_local);
  validate_host_prefixes(document);
  validate_service_sizes(document, lists.service);
  if (is_local) validate_local_network(document, lists.machine);
  validate_mtu(document, is_local);
}

}  // namespace slipway::config
