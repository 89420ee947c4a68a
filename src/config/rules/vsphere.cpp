#include "config/names.h"
#include "config/rules/platform_rules.h"

#include <algorithm>

namespace slipway::config {

namespace {

void validate_vcenters(const Section& platform) {
  Distinct servers;
  const std::vector<Section> vcenters = platform.items("vcenters");
  for (const Section& vcenter : vcenters) {
    const std::string_view server = vcenter.text("server");
    if (!server.empty() && !is_host(server)) {
      vcenter.error_at("server", "'{}' is not a domain or IP address", server).hint("in lower case, without https:// and port");
    }
    servers.add(vcenter.at("server"));
    if (const auto port = vcenter.number("port"); port && (*port < 0 || *port > 65535)) {
      vcenter.error_at("port", "must be 1 to 65535, got {}", *port);
    }
  }
  if (vcenters.size() > 1) refuse_without_gate(platform, "vcenters", "VSphereMultiVCenters");
}

// Checks for a path "/DATACENTER/BRANCH/NAME" in the datacenter of the topology, "/DC/host/CLUSTER".
void validate_inventory_path(const Section& topology, std::string_view name, std::string_view branch) {
  const std::string_view path = topology.text(name);
  if (path.empty()) return;
  const std::string_view datacenter = topology.text("datacenter");
  const std::string prefix = fmt::format("/{}/{}/", datacenter, branch);
  if (datacenter.empty() || (path.starts_with(prefix) && path.size() > prefix.size())) return;
  topology.error_at(name, "must be the full path of an object in the datacenter, got '{}'", path)
      .hint(fmt::format("for example {}NAME", prefix));
}

void validate_resource_pool(const Section& topology) {
  validate_inventory_path(topology, "resourcePool", "host");
  const std::string_view pool = topology.text("resourcePool");
  const std::string_view cluster = topology.text("computeCluster");
  if (!pool.starts_with('/') || !cluster.starts_with('/') || pool.starts_with(fmt::format("{}/", cluster))) return;
  topology.error_at("resourcePool", "'{}' is not in the compute cluster {}", pool, cluster);
}

void validate_tags(const Section& topology) {
  constexpr std::size_t most = 10;
  constexpr std::string_view prefix = "urn:vmomi:InventoryServiceTag:";
  constexpr std::string_view suffix = ":GLOBAL";
  const std::vector<Section> tags = topology.items("tagIDs");
  if (tags.size() > most) topology.error_at("tagIDs", "has {} tags, must have at most {}", tags.size(), most);
  for (const Section& tag : tags) {
    std::string_view id = tag.text();
    const bool is_whole = id.starts_with(prefix) && id.ends_with(suffix) && id.size() > prefix.size() + suffix.size();
    if (is_whole) id = id.substr(prefix.size(), id.size() - prefix.size() - suffix.size());
    if (!is_whole || !is_uuid(id))
      tag.error("'{}' is not a tag URN", tag.text()).hint("for example urn:vmomi:InventoryServiceTag:UUID:GLOBAL");
  }
}

void validate_topology(const Section& topology) {
  validate_inventory_path(topology, "computeCluster", "host");
  validate_inventory_path(topology, "datastore", "datastore");
  validate_inventory_path(topology, "folder", "vm");
  validate_inventory_path(topology, "template", "vm");
  validate_resource_pool(topology);
  const std::size_t networks = topology.items("networks").size();
  if (networks > 1) topology.error_at("networks", "has {} networks, must have one", networks);
  validate_tags(topology);
}

// The vCenter and the datacenter of a failure domain must be listed in vcenters.
void validate_vcenter_of(const Section& domain, const std::vector<Section>& vcenters) {
  if (!domain.has("server")) return;
  const auto vcenter =
      std::ranges::find_if(vcenters, [&](const Section& each) { return each.text("server") == domain.text("server"); });
  if (vcenter == vcenters.end()) {
    domain.error_at("server", "'{}' is not in platform.vsphere.vcenters", domain.text("server"));
    return;
  }
  const Section topology = domain.at("topology");
  const std::vector<Section> datacenters = vcenter->items("datacenters");
  const bool is_known =
      std::ranges::any_of(datacenters, [&](const Section& each) { return each.text() == topology.text("datacenter"); });
  if (topology.has("datacenter") && !is_known && !datacenters.empty()) {
    topology.error_at("datacenter", "'{}' is not in {}", topology.text("datacenter"), vcenter->path("datacenters"));
  }
}

void validate_failure_domains(const Section& platform) {
  const std::vector<Section> vcenters = platform.items("vcenters");
  Distinct names;
  for (const Section& domain : platform.items("failureDomains")) {
    names.add(domain.at("name"));
    validate_vcenter_of(domain, vcenters);
    validate_topology(domain.at("topology"));
  }
}

}  // namespace

void validate_vsphere(const Section& platform) {
  platform.need("vcenters", "server, user, password and datacenters of the vCenter");
  platform.need("failureDomains", "where machines are created");
  validate_vcenters(platform);
  validate_failure_domains(platform);
  // On vSphere, load balancers are often outside of the machine networks.
  validate_virtual_addresses(platform, {.are_needed = false, .are_of_machine_networks = false});
  validate_vsphere_hosts(platform);
}

void validate_vsphere_pool(const Section& pool, const Section& platform, bool) {
  constexpr std::int64_t default_cores = 4;  // both per socket and per machine
  for (const std::string_view name : {"cpus", "coresPerSocket", "memoryMB"}) pool.not_negative(name);
  pool.at("osDisk").not_negative("diskSizeGB");
  const auto given = [&](std::string_view name) {
    const std::int64_t number = pool.number(name).value_or(0);
    return number > 0 ? number : default_cores;
  };
  if (given("cpus") % given("coresPerSocket") != 0) {
    pool.error_at("cpus", "must be a multiple of coresPerSocket, {}, got {}", given("coresPerSocket"), given("cpus"));
  }
  const std::vector<Section> domains = platform.items("failureDomains");
  for (const Section& zone : pool.items("zones")) {
    const bool is_known = std::ranges::any_of(domains, [&](const Section& domain) { return domain.text("name") == zone.text(); });
    if (!is_known) zone.error("'{}' is not the name of a failure domain in platform.vsphere.failureDomains", zone.text());
  }
}

}  // namespace slipway::config
