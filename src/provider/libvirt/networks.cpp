// Networks.
#include "provider/libvirt/connection_state.h"

namespace slipway::provider::libvirt {

namespace {

// Nothing if it was removed in the meantime.
Result<std::optional<Network>> describe(const Library& libvirt, virNetworkPtr network) {
  Network found{.name = libvirt.virNetworkGetName(network)};
  found.xml = take_text(libvirt.virNetworkGetXMLDesc(network, VIR_NETWORK_XML_INACTIVE));
  // The test driver refuses this flag.
  if (found.xml.empty()) found.xml = take_text(libvirt.virNetworkGetXMLDesc(network, 0));
  const int active = found.xml.empty() ? -1 : libvirt.virNetworkIsActive(network);
  found.is_active = active == 1;
  if (active >= 0) return std::optional(std::move(found));
  const Failure failure = last_failure(libvirt);
  if (code_of(failure) == Code::not_found) return std::optional<Network>();
  return to_error(fmt::format("reading network {}", found.name), failure);
}

std::string text(const char* value) { return value ? value : ""; }

}  // namespace

Result<NetworkHandle> Connection::State::network(const std::string& name) const {
  NetworkHandle found(libvirt.virNetworkLookupByName(connection, name.c_str()), {&libvirt});
  if (found) return found;
  const Failure failure = last_failure(libvirt);
  if (code_of(failure) == Code::not_found) return found;
  return to_error(fmt::format("looking for network {}", name), failure);
}

Result<std::vector<Network>> Connection::networks() {
  const Library& libvirt = state_->libvirt;
  std::vector<Network> all;
  for (const NetworkHandle& network : TRY(list_all<NetworkHandle>(libvirt, "listing the networks", [&](virNetworkPtr** found) {
         return libvirt.virConnectListAllNetworks(state_->connection, found, 0);
       }))) {
    if (std::optional<Network> described = TRY(describe(libvirt, network.get()))) all.push_back(*std::move(described));
  }
  return all;
}

Result<std::optional<Network>> Connection::find_network(const std::string& name) {
  const NetworkHandle network = TRY(state_->network(name));
  if (!network) return std::optional<Network>();
  return describe(state_->libvirt, network.get());
}

Result<> Connection::define_network(const std::string& xml) {
  const Library& libvirt = state_->libvirt;
  const NetworkHandle made(libvirt.virNetworkDefineXML(state_->connection, xml.c_str()), {&libvirt});
  if (made) return Ok{};
  const std::string name = name_in(xml);
  Error why = state_->failed(fmt::format("defining network {}", name));
  return definition_error(std::move(why), state_->network(name));
}

Result<> Connection::start_network(const std::string& name) {
  const Library& libvirt = state_->libvirt;
  const NetworkHandle network = TRY(state_->network(name));
  if (!network) return error(Code::not_found, "network {}: not found on {}", name, uri());
  if (libvirt.virNetworkSetAutostart(network.get(), 1) < 0) {
    return state_->failed(fmt::format("having network {} started with the host", name));
  }
  if (libvirt.virNetworkIsActive(network.get()) != 1 && libvirt.virNetworkCreate(network.get()) < 0) {
    const Error why = state_->failed(fmt::format("starting network {}", name));
    if (libvirt.virNetworkIsActive(network.get()) != 1) return why;
  }
  return Ok{};
}

Result<> Connection::remove_network(const std::string& name) {
  const Library& libvirt = state_->libvirt;
  const NetworkHandle network = TRY(state_->network(name));
  if (!network) return Ok{};
  if (libvirt.virNetworkIsActive(network.get()) == 1 && libvirt.virNetworkDestroy(network.get()) < 0) {
    const Error why = state_->failed(fmt::format("stopping network {}", name));
    if (libvirt.virNetworkIsActive(network.get()) == 1) return why;
  }
  if (libvirt.virNetworkUndefine(network.get()) == 0) return Ok{};
  const Error why = state_->failed(fmt::format("removing network {}", name));
  if (why.code() == Code::not_found) return Ok{};
  return why;
}

Result<std::vector<Lease>> Connection::leases(const std::string& name) {
  const Library& libvirt = state_->libvirt;
  const NetworkHandle network = TRY(state_->network(name));
  std::vector<Lease> all;
  if (!network || libvirt.virNetworkIsActive(network.get()) != 1) return all;
  virNetworkDHCPLeasePtr* leases = nullptr;
  const int count = libvirt.virNetworkGetDHCPLeases(network.get(), nullptr, &leases, 0);
  if (count < 0) return state_->failed(fmt::format("reading the leases of network {}", name));
  for (int i = 0; i < count; ++i) {
    all.push_back({.mac = text(leases[i]->mac), .address = text(leases[i]->ipaddr), .host_name = text(leases[i]->hostname)});
    libvirt.virNetworkDHCPLeaseFree(leases[i]);
  }
  std::free(leases);
  return all;
}

}  // namespace slipway::provider::libvirt
