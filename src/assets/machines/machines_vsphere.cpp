#include "assets/machines/machines_vsphere.h"

#include "assets/machines/machine_objects.h"
#include "assets/machines/vsphere_topology.h"
#include "assets/manifest_file.h"
#include "assets/platform.h"
#include "net/ip.h"

#include <algorithm>

namespace slipway::assets {

namespace {

using config::InstallConfig;
using config::MachinePool;

constexpr std::string_view pool_group = "installer.openshift.io";
constexpr std::string_view address_api = "ipam.cluster.x-k8s.io/v1beta1";

// One pool's machines.
class Pool {
 public:
  Pool(const InstallConfig& config, const ClusterId& id, const MachinePool& pool, std::string_view role)
      : config_(config), id_(id), pool_(pool), role_(role), domains_(failure_domains(config)) {}

  std::vector<std::string> zones() const {
    std::vector<std::string> names = texts_of(pool_.platform, {"zones"});
    if (!names.empty()) return names;
    for (const FailureDomain& domain : domains_) names.push_back(domain.name);
    return names;
  }

  // The hosts of the pool in the order of the install-config. Empty if machines have no static addresses.
  std::vector<Json> hosts() const {
    const std::string_view wanted = role_ == "master" ? "control-plane" : "compute";
    std::vector<Json> found;
    for (const Json& host : find_array(config_.platform.section, {"hosts"})) {
      if (text_of(host, {"role"}) == wanted) found.push_back(host);
    }
    return found;
  }

  Result<const FailureDomain*> domain(const std::string& name) const {
    const auto found = std::ranges::find(domains_, name, &FailureDomain::name);
    if (found != domains_.end()) return &*found;
    return error(Code::invalid, "machine pool {}: '{}' is not a failure domain of the platform", pool_.name, name);
  }

  // The provider spec of a machine. Without a domain, the fields that a ControlPlaneMachineSet fills in stay empty.
  JsonObject provider(const FailureDomain* domain) const {
    JsonObject made = {{"apiVersion", machine_api},
                       {"credentialsSecret", {{"name", "vsphere-cloud-credentials"}}},
                       {"diskGiB", number({"osDisk", "diskSizeGB"})},
                       {"kind", "VSphereMachineProviderSpec"},
                       {"memoryMiB", number({"memoryMB"})},
                       {"metadata", JsonObject()},
                       {"network", JsonObject()},
                       {"numCPUs", number({"cpus"})},
                       {"numCoresPerSocket", number({"coresPerSocket"})},
                       {"snapshot", ""},
                       {"template", ""},
                       {"userDataSecret", {{"name", fmt::format("{}-user-data", role_)}}},
                       {"workspace", JsonObject()}};
    if (!domain) return made;
    JsonArray devices;
    for (const std::string& network : domain->networks) devices.push_back(JsonObject{{"networkName", network}});
    made["network"] = {{"devices", std::move(devices)}};
    made["template"] = domain->template_path.empty() ? template_name(*domain, id_) : domain->template_path;
    made["workspace"] = {{"datacenter", domain->datacenter},
                         {"datastore", domain->datastore},
                         {"folder", machine_folder(*domain, id_)},
                         {"resourcePool", domain->resource_pool},
                         {"server", domain->server}};
    if (!domain->tag_ids.empty()) made["tagIDs"] = array_of(domain->tag_ids);
    return made;
  }

 private:
  // From the effective config.
  Json number(std::initializer_list<std::string_view> keys) const {
    const Json* given = find(pool_.platform, keys);
    return given ? *given : Json(0);
  }

  const InstallConfig& config_;
  const ClusterId& id_;
  const MachinePool& pool_;
  std::string_view role_;
  std::vector<FailureDomain> domains_;
};

std::string claim_name(const std::string& machine, std::size_t address) { return fmt::format("{}-claim-0-{}", machine, address); }

Json address_pool(std::size_t address) {
  return {{"apiGroup", pool_group}, {"kind", "IPPool"}, {"name", fmt::format("default-{}", address)}};
}

Json address_claim(const std::string& name, std::size_t address) {
  JsonObject object = object_of(address_api, "IPAddressClaim", machine_namespace, name);
  object["metadata"].get_object()["finalizers"] = JsonArray{"machine.openshift.io/ip-claim-protection"};
  object["spec"] = {{"poolRef", address_pool(address)}};
  object["status"] = {{"addressRef", {{"name", name}}}};
  return object;
}

Json address_of(const std::string& name, std::size_t address, const net::Cidr& cidr, const std::string& gateway) {
  JsonObject object = object_of(address_api, "IPAddress", machine_namespace, name);
  object["spec"] = {{"address", net::to_string(cidr.address)},
                    {"claimRef", {{"name", name}}},
                    {"gateway", gateway},
                    {"poolRef", address_pool(address)},
                    {"prefix", cidr.prefix}};
  return object;
}

// The fields of a network device with static addresses.
JsonObject fixed_device(const Json& device) {
  JsonObject made;
  JsonArray pools;
  for (std::size_t i = 0; i < find_array(device, {"ipAddrs"}).size(); ++i) {
    pools.push_back({{"group", pool_group}, {"name", fmt::format("default-{}", i)}, {"resource", "IPPool"}});
  }
  made["addressesFromPools"] = std::move(pools);
  if (const JsonArray& servers = find_array(device, {"nameservers"}); !servers.empty()) made["nameservers"] = servers;
  return made;
}

struct Machines {
  JsonArray objects;
  AssetFiles addresses;
  std::vector<std::string> domains;  // failure domains of the machines
};

Result<> fix_addresses(const Json& device, const std::string& name, JsonObject& provider, AssetFiles& files) {
  const JsonArray& addresses = find_array(device, {"ipAddrs"});
  JsonArray& devices = provider["network"].as_object()["devices"].as_array();
  if (addresses.empty() || devices.empty()) return Ok{};
  const JsonObject fixed = fixed_device(device);
  for (const auto& member : fixed) devices.front().as_object()[member.key()] = member.value();
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const net::Cidr cidr = TRY(net::parse_cidr(find_string(addresses[i], {}).value_or("")).context(name));
    const std::string claim = claim_name(name, i);
    auto put = [&](std::string_view what, const Json& object) {
      files.push_back(manifest_file(fmt::format("openshift/99_openshift-machine-api_{}-{}.yaml", what, claim), object));
    };
    put("claim", address_claim(claim, i));
    put("address", address_of(claim, i, cidr, text_of(device, {"gateway"})));
  }
  return Ok{};
}

// Machine i is in zone i of the pool, modulo the number of zones. The failure domain of a host has precedence.
Result<Machines> make_machines(const Pool& pool, const ClusterId& id, std::string_view role, int replicas) {
  Machines made;
  const std::vector<std::string> zones = pool.zones();
  const std::vector<Json> hosts = pool.hosts();
  for (std::size_t i = 0; i < static_cast<std::size_t>(replicas) && !zones.empty(); ++i) {
    std::string zone = zones[i % zones.size()];
    const Json host = i < hosts.size() ? hosts[i] : Json(nullptr);
    if (const std::string own = text_of(host, {"failureDomain"}); !own.empty()) zone = own;
    const FailureDomain* domain = TRY(pool.domain(zone));
    const std::string name = machine_name(id, role, i);
    JsonObject provider = pool.provider(domain);
    if (const Json* device = find(host, {"networkDevice"})) TRY(fix_addresses(*device, name, provider, made.addresses));
    made.objects.push_back(machine(id, role, name, std::move(provider)));
    if (std::ranges::find(made.domains, zone) == made.domains.end()) made.domains.push_back(zone);
  }
  return made;
}

AssetFile machine_set_of_masters(const Pool& pool, const ClusterId& id, int replicas, const std::vector<std::string>& names) {
  JsonArray domains;
  for (const std::string& name : names) domains.push_back(JsonObject{{"name", name}});
  JsonObject provider = pool.provider(nullptr);
  // Uses the network device of the last machine.
  const std::vector<Json> hosts = pool.hosts();
  if (const auto count = static_cast<std::size_t>(replicas); count > 0 && count <= hosts.size()) {
    if (const Json* device = find(hosts[count - 1], {"networkDevice"})) {
      provider["network"] = {{"devices", JsonArray{fixed_device(*device)}}};
    }
  }
  JsonObject failure_domains = {{"platform", "VSphere"}, {"vsphere", std::move(domains)}};
  return control_plane_machine_set(id, replicas, std::move(failure_domains), std::move(provider));
}

// One MachineSet for each zone. If the replicas cannot be divided evenly, the first zones have one more.
Result<JsonArray> make_sets(const Pool& pool, const ClusterId& id, int replicas) {
  JsonArray sets;
  const std::vector<std::string> zones = pool.zones();
  const int count = static_cast<int>(zones.size());
  for (int i = 0; i < count; ++i) {
    const FailureDomain* domain = TRY(pool.domain(zones[static_cast<std::size_t>(i)]));
    const int share = replicas / count + (i < replicas % count ? 1 : 0);
    sets.push_back(machine_set(id, "worker", machine_name(id, "worker", static_cast<std::size_t>(i)), cluster_label(id), share,
                               pool.provider(domain)));
  }
  return sets;
}

}  // namespace

Result<AssetFiles> vsphere_machines(const InstallConfig& config, const ClusterId& id) {
  AssetFiles files;
  if (!has_machine_api(config)) return files;
  const Pool control_plane(config, id, config.control_plane, "master");
  const int replicas = config.control_plane.replicas;
  Machines masters = TRY(make_machines(control_plane, id, "master", replicas));
  put_numbered(files, "master-machines", masters.objects);
  files.insert(files.end(), masters.addresses.begin(), masters.addresses.end());
  if (replicas > 1) {
    files.push_back(machine_set_of_masters(control_plane, id, replicas, masters.domains));
  }
  const bool is_fixed = !find_array(config.platform.section, {"hosts"}).empty();
  for (const MachinePool& each : config.compute) {
    const Pool pool(config, id, each, "worker");
    // A MachineSet cannot assign static addresses, so each worker with static addresses has its own Machine.
    const JsonArray sets = TRY(make_sets(pool, id, is_fixed ? 0 : each.replicas));
    put_numbered(files, "worker-machineset", sets);
    if (!is_fixed) continue;
    Machines workers = TRY(make_machines(pool, id, "worker", each.replicas));
    put_numbered(files, "worker-machines", workers.objects);
    files.insert(files.end(), workers.addresses.begin(), workers.addresses.end());
  }
  return files;
}

}  // namespace slipway::assets
