#include "components/network/policy/facts.h"

#include "kube/client.h"

#include <algorithm>
#include <optional>

namespace slipway::components::network {

namespace {

Labels labels_of(const Json& object) {
  Labels labels;
  for (const auto& [key, value] : find_object(object, {"metadata", "labels"})) {
    if (value.is_string()) labels.emplace_back(key, std::string(value.get_string()));
  }
  std::ranges::sort(labels);
  return labels;
}

void add_ports(const JsonArray& containers, bool is_init, std::vector<NamedPort>& ports) {
  for (const Json& container : containers) {
    if (is_init && text_of(container, {"restartPolicy"}) != "Always") continue;
    for (const Json& each : find_array(container, {"ports"})) {
      const std::string name = text_of(each, {"name"});
      const int port = integer_of(each, {"containerPort"});
      if (name.empty() || port < 1 || port > 65535) continue;
      const std::string protocol = text_of(each, {"protocol"});
      ports.push_back({.name = name,
                       .protocol = protocol == "UDP"    ? Protocol::udp
                                   : protocol == "SCTP" ? Protocol::sctp
                                                        : Protocol::tcp,
                       .port = static_cast<std::uint16_t>(port)});
    }
  }
}

}  // namespace

std::string_view to_string(Protocol protocol) {
  switch (protocol) {
    case Protocol::udp: return "udp";
    case Protocol::sctp: return "sctp";
    case Protocol::tcp: break;
  }
  return "tcp";
}

Pod read_pod(const Json& object) {
  Pod pod;
  pod.space = kube::namespace_of(object);
  pod.name = kube::name_of(object);
  pod.uid = text_of(object, {"metadata", "uid"});
  pod.created = text_of(object, {"metadata", "creationTimestamp"});
  pod.node = text_of(object, {"spec", "nodeName"});
  pod.labels = labels_of(object);
  pod.uses_host_network = is_true(object, {"spec", "hostNetwork"});
  pod.is_ending = find_string(object, {"metadata", "deletionTimestamp"}).has_value();
  const std::string phase = text_of(object, {"status", "phase"});
  pod.has_ended = phase == "Succeeded" || phase == "Failed";
  for (const Json& each : find_array(object, {"status", "podIPs"})) {
    const Result<net::IpAddress> address = net::parse_ip(text_of(each, {"ip"}));
    if (address.ok()) pod.addresses.push_back(address.value());
  }
  std::ranges::sort(pod.addresses);
  add_ports(find_array(object, {"spec", "containers"}), false, pod.ports);
  add_ports(find_array(object, {"spec", "initContainers"}), true, pod.ports);
  return pod;
}

Namespace read_namespace(const Json& object) { return {std::string(kube::name_of(object)), labels_of(object)}; }

}  // namespace slipway::components::network
