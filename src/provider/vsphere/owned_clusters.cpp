#include "provider/vsphere/owned_clusters.h"

#include "assets/identity/identity.h"
#include "provider/vsphere/resources.h"

#include <map>

namespace slipway::provider::vsphere {

namespace {

// When the first machine of a cluster was created, by infraID.
using Candidates = std::map<std::string, std::optional<WallTime>>;

Result<Candidates> find_candidates(const sys::Context& context, Vcenter& vcenter) {
  Candidates found;
  const Properties wanted{
      "VirtualMachine",
      {"config.createDate", "config.template", mark_path(cluster_mark), mark_path(image_mark), mark_path(template_mark)}};
  for (const Object& machine : TRY(vcenter.all(context, {wanted}))) {
    const std::string& id = machine.text(mark_path(cluster_mark));
    // A complete template proves no cluster: others use it.
    const bool is_template = is_os_template(machine) && machine.text("config.template") == "true";
    if (is_template || !assets::is_infra_id(id)) continue;
    std::optional<WallTime>& first = found[id];
    const Result<WallTime> created = parse_rfc3339(machine.text("config.createDate"));
    if (created.ok() && (!first || created.value() < *first)) first = created.value();
  }
  for (const std::string& id : TRY(list_tagged_clusters(context, vcenter))) {
    if (assets::is_infra_id(id)) found.try_emplace(id);
  }
  return found;
}

}  // namespace

Result<std::vector<OwnedCluster>> owned_clusters(const sys::Context& context, Vcenter& vcenter) {
  std::vector<OwnedCluster> clusters;
  for (const auto& [id, created] : TRY(find_candidates(context, vcenter))) {
    OwnedCluster cluster{.infra_id = id, .created = created};
    Resources own(vcenter, id);
    for (const plan::Found& each : TRY(own.scan(context))) {
      if (each.is_ours) cluster.resources.push_back(each.key());
    }
    if (!cluster.resources.empty()) clusters.push_back(std::move(cluster));
  }
  return clusters;
}

}  // namespace slipway::provider::vsphere
