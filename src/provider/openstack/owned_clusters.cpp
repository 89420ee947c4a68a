#include "provider/openstack/owned_clusters.h"

#include "assets/identity/identity.h"
#include "provider/openstack/prices.h"
#include "provider/openstack/resources.h"

#include <fmt/core.h>

#include <array>
#include <set>

namespace slipway::provider::openstack {

namespace {

// The marks in descriptions and metadata are of slipway, so they prove that a cluster is.
Result<std::set<std::string>> find_infra_ids(const sys::Context& context, Api& api) {
  std::set<std::string> found;
  const auto add = [&](const std::string& id) {
    if (assets::is_infra_id(id)) found.insert(id);
  };
  const std::string project_id = TRY(api.token(context))->project_id;
  constexpr std::array lists = {std::pair{"networks", "networks"}, std::pair{"security-groups", "security_groups"},
                                std::pair{"ports", "ports"},       std::pair{"floatingips", "floatingips"},
                                std::pair{"routers", "routers"},   std::pair{"subnets", "subnets"}};
  for (const auto& [path, members] : lists) {
    Call call{.service = Service::neutron, .action = fmt::format("List {}", path)};
    call.target = fmt::format("/{}?project_id={}&fields=description", path, net::percent_encode(project_id));
    for (const Json& each : TRY(api.list(context, std::move(call), members))) {
      if (const std::optional<Mark> mark = read_mark(text_of(each, {"description"}))) add(mark->infra_id);
    }
  }
  const auto add_marked = [&](const Json& each) {
    if (!text_of(each, {"metadata", machine_key}).empty()) add(text_of(each, {"metadata", cluster_key}));
  };
  const Call servers{.service = Service::nova, .action = "ListServers", .target = "/servers/detail"};
  for (const Json& each : TRY(api.list(context, servers, "servers"))) add_marked(each);
  if (TRY(api.has_service(context, Service::cinder))) {
    const Call volumes{.service = Service::cinder, .action = "ListVolumes", .target = "/volumes/detail"};
    for (const Json& each : TRY(api.list(context, volumes, "volumes"))) add_marked(each);
  }
  // A bootstrap that ended in the middle may have left nothing else.
  const std::string ending = container_name("");
  if (TRY(api.has_service(context, Service::swift))) {
    Call containers{.service = Service::swift, .action = "ListContainers", .target = "?format=json"};
    containers.expected = {Failure::not_found};
    const Reply reply = TRY(api.send(context, containers));
    for (const Json& each : find_array(reply.json, {})) {
      const std::string name = text_of(each, {"name"});
      if (name.ends_with(ending)) add(name.substr(0, name.size() - ending.size()));
    }
  }
  return found;
}

Result<std::optional<OwnedCluster>> read_cluster(const sys::Context& context, Api& api, const std::string& infra_id) {
  Resources own(api, {.infra_id = infra_id});
  OwnedCluster cluster{.infra_id = infra_id};
  const std::vector<plan::Found> found = TRY(own.scan(context));
  bool has_own = false;
  for (const plan::Found& each : found) {
    if (!each.is_ours) continue;
    cluster.resources.push_back(each.key());
    has_own = has_own || each.kind != image_kind;  // an image that no cluster uses belongs to all of them
  }
  if (!has_own) return std::optional<OwnedCluster>();
  const Work work = own.work(context);
  const std::vector<Item> machines = TRY(work.all(machine_kind));
  for (const Item& machine : machines) {
    const Result<WallTime> created = parse_rfc3339(machine.fact("created"));
    if (created.ok() && (!cluster.created || created.value() < *cluster.created)) cluster.created = created.value();
    const Result<WallTime> expires = parse_rfc3339(machine.fact("expires"));
    if (expires.ok()) cluster.expires = expires.value();
  }
  const std::vector<Flavor> flavors = TRY(work.project.flavors.all(context, api));
  cluster.priced = priced_items(machines, found, flavors);
  return std::optional(std::move(cluster));
}

}  // namespace

Result<std::vector<OwnedCluster>> owned_clusters(const sys::Context& context, Api& api) {
  std::vector<OwnedCluster> clusters;
  for (const std::string& id : TRY(find_infra_ids(context, api))) {
    if (std::optional<OwnedCluster> cluster = TRY(read_cluster(context, api, id))) clusters.push_back(*std::move(cluster));
  }
  return clusters;
}

}  // namespace slipway::provider::openstack
