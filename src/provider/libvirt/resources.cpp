#include "provider/libvirt/resources.h"

#include "provider/libvirt/cluster_plan.h"
#include "provider/libvirt/config_drive.h"
#include "provider/libvirt/documents.h"
#include "provider/libvirt/xml.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

namespace slipway::provider::libvirt {

namespace {

// Types of pools whose volumes are files in one folder.
constexpr std::array pools_of_files = {std::string_view("dir"), std::string_view("fs"), std::string_view("netfs")};

using plan::Found;
using plan::Resource;

// Volumes of all pools with the volumes that they are layers on.
struct Layer {
  Volume volume;
  std::string base;  // path
};

Result<std::vector<Layer>> layers_of(Connection& connection, const std::string& pool) {
  std::vector<Layer> layers;
  for (Volume& volume : TRY(connection.volumes(pool, Refresh::no))) {
    std::string base = TRY(read_volume(volume.xml)).backing_path;
    layers.push_back({std::move(volume), std::move(base)});
  }
  return layers;
}

Result<bool> is_used_by_machine(Connection& connection, const std::string& path) {
  for (const Domain& domain : TRY(connection.domains())) {
    const DomainFacts facts = TRY(read_domain(domain.xml));
    if (std::ranges::find(facts.files, path) != facts.files.end()) return true;
  }
  return false;
}

}  // namespace

Result<std::string> folder_of_pool(Connection& connection, const std::string& name) {
  const std::optional<Pool> pool = TRY(connection.find_pool(name));
  if (!pool) return error(Code::not_found, "storage pool {}: not found on {}", name, connection.uri());
  const PoolFacts facts = TRY(read_pool(pool->xml));
  if (std::ranges::find(pools_of_files, facts.type) != pools_of_files.end()) return facts.path;
  return error(Code::invalid, "storage pool {}: is of type {}, but machines need files (use a pool of type dir, fs or netfs)",
               name, facts.type);
}

Resources::Resources(const net::Environment& environment, Connection& connection, std::string infra_id, OsImageSource os_image,
                     std::map<std::string, std::string> configs)
    : environment_(environment),
      connection_(connection),
      infra_id_(std::move(infra_id)),
      os_image_(std::move(os_image)),
      configs_(std::move(configs)) {}

// The upload of a volume is complete when something uses the volume: layers and machines are created after it.
Result<bool> Resources::is_whole_volume(const Resource& resource, const Volume& volume) {
  const std::string from = text(resource, "from");
  if (from == from_base) return true;
  if (from != from_os_image) return is_used_by_machine(connection_, volume.path);
  return std::ranges::any_of(TRY(layers_of(connection_, volume.pool)),
                             [&](const Layer& layer) { return layer.base == volume.path; });
}

Result<std::optional<Found>> Resources::find(const sys::Context&, const Resource& resource) {
  Found found{.kind = resource.kind, .name = resource.name, .machine = resource.machine};
  if (resource.kind == pool_kind) {
    const auto pool = TRY(connection_.find_pool(resource.name));
    if (!pool) return std::optional<Found>();
    found.is_ours = true;
    found.is_whole = pool->is_active;
  } else if (resource.kind == network_kind) {
    const auto network = TRY(connection_.find_network(resource.name));
    if (!network) return std::optional<Found>();
    found.is_ours = true;
    found.is_whole = network->is_active;
  } else if (resource.kind == volume_kind) {
    found.place = text(resource, "pool");
    const auto volume = TRY(connection_.find_volume(found.place, resource.name));
    if (!volume) return std::optional<Found>();
    found.is_ours = true;
    found.is_whole = TRY(is_whole_volume(resource, *volume));
  } else {
    const auto domain = TRY(connection_.find_domain(resource.name));
    if (!domain) return std::optional<Found>();
    const DomainFacts facts = TRY(read_domain(domain->xml));
    found.is_ours = facts.mark && facts.mark->cluster == infra_id_;
    found.is_whole = domain->is_active || !text(resource, "after").empty();
  }
  return std::optional(found);
}

Result<> Resources::create(const sys::Context& context, const Resource& resource) {
  if (resource.kind == pool_kind) return connection_.create_pool(pool_xml(resource), resource.name);
  if (resource.kind == network_kind) {
    TRY(connection_.define_network(network_xml(resource)));
    return connection_.start_network(resource.name);
  }
  return resource.kind == volume_kind ? create_volume(context, resource) : create_machine(resource);
}

Result<> Resources::create_volume(const sys::Context& context, const Resource& resource) {
  const std::string pool = text(resource, "pool"), from = text(resource, "from");
  if (from == from_os_image) {
    return create_os_volume(environment_.with(context), connection_, os_image_, text(resource, "platform"), pool, resource.name);
  }
  if (from == from_base) {
    const std::string base = text(resource, "base");
    const std::optional<Volume> below = TRY(connection_.find_volume(pool, base));
    if (!below) return error(Code::not_found, "volume {}: not found in pool {}", base, pool);
    const Json* capacity = slipway::find(resource.spec, {"capacity"});
    return connection_.create_volume(pool, volume_xml({.name = resource.name,
                                                       .capacity = capacity ? capacity->to_number<std::uint64_t>() : 0,
                                                       .format = "qcow2",
                                                       .mode = "0600",
                                                       .backing_path = below->path}));
  }
  const auto config = configs_.find(resource.machine);
  if (config == configs_.end()) return error(Code::internal, "machine {}: has no Ignition config", resource.machine);
  if (from == from_ignition) return upload_text(context, resource, config->second);
  return upload_text(context, resource, TRY(make_config_drive(environment_.with(context), config->second)));
}

Result<> Resources::upload_text(const sys::Context& context, const Resource& resource, const std::string& text) {
  const std::string pool = plan::text(resource, "pool");
  TRY(connection_.create_volume(pool,
                                volume_xml({.name = resource.name, .capacity = text.size(), .format = "raw", .mode = "0600"})));
  std::size_t sent = 0;
  return connection_.upload(context, pool, resource.name, text.size(),
                            [&](char* buffer, std::size_t size) -> Result<std::size_t> {
                              const std::size_t piece = text.copy(buffer, size, sent);
                              sent += piece;
                              return piece;
                            });
}

Result<> Resources::create_machine(const Resource& resource) {
  const std::string folder = TRY(folder_of_pool(connection_, text(resource, "pool")));
  TRY(connection_.define_domain(machine_xml(resource, folder)));
  if (!text(resource, "after").empty()) return Ok{};
  return connection_.start_domain(resource.name);
}

Result<> Resources::remove(const sys::Context&, const Found& found) {
  if (found.kind == machine_kind) return connection_.remove_domain(found.name);
  if (found.kind == volume_kind) return connection_.remove_volume(found.place, found.name);
  return found.kind == network_kind ? connection_.remove_network(found.name) : connection_.remove_pool(found.name);
}

Result<std::vector<Found>> Resources::scan(const sys::Context&) {
  std::vector<Found> machines, volumes, others;
  for (const Domain& domain : TRY(connection_.domains())) {
    const Result<DomainFacts> facts = read_domain(domain.xml);
    if (!facts.ok() || !facts->mark || facts->mark->cluster != infra_id_) continue;
    machines.push_back(
        {.kind = std::string(machine_kind), .name = domain.name, .machine = facts->mark->machine, .is_ours = true});
  }
  for (const Pool& pool : TRY(connection_.pools())) {
    const auto is_own = [&](const Volume& volume) {
      return pool.name == infra_id_ || !machine_of_volume(infra_id_, volume.name).empty() ||
             os_image_of_volume(infra_id_, volume.name);
    };
    // Only pools with volumes of the cluster are refreshed: libvirt stops a pool whose refresh fails.
    std::vector<Volume> all = TRY(connection_.volumes(pool.name, Refresh::no));
    if (std::ranges::any_of(all, is_own) || pool.name == infra_id_) all = TRY(connection_.volumes(pool.name, Refresh::yes));
    for (const Volume& volume : all) {
      if (!is_own(volume)) continue;
      volumes.push_back({.kind = std::string(volume_kind),
                         .name = volume.name,
                         .machine = machine_of_volume(infra_id_, volume.name),
                         .is_ours = true,
                         .place = pool.name});
    }
    if (pool.name == infra_id_) others.push_back({.kind = std::string(pool_kind), .name = pool.name, .is_ours = true});
  }
  if (TRY(connection_.find_network(infra_id_))) {
    others.insert(others.begin(), {.kind = std::string(network_kind), .name = infra_id_, .is_ours = true});
  }
  std::vector<Found> all = std::move(machines);
  for (std::vector<Found>* group : {&volumes, &others}) std::ranges::move(*group, std::back_inserter(all));
  return all;
}

}  // namespace slipway::provider::libvirt
