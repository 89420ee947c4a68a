#include "assets/machines/vsphere_topology.h"

#include "assets/manifest_file.h"

namespace slipway::assets {

std::vector<FailureDomain> failure_domains(const config::InstallConfig& config) {
  std::vector<FailureDomain> domains;
  for (const Json& each : find_array(config.platform.section, {"failureDomains"})) {
    auto text = [&](std::initializer_list<std::string_view> keys) { return text_of(each, keys); };
    FailureDomain domain{.name = text({"name"}),
                         .region = text({"region"}),
                         .zone = text({"zone"}),
                         .server = text({"server"}),
                         .datacenter = text({"topology", "datacenter"}),
                         .compute_cluster = text({"topology", "computeCluster"}),
                         .datastore = text({"topology", "datastore"}),
                         .folder = text({"topology", "folder"}),
                         .resource_pool = text({"topology", "resourcePool"}),
                         .template_path = text({"topology", "template"}),
                         .networks = texts_of(each, {"topology", "networks"}),
                         .tag_ids = texts_of(each, {"topology", "tagIDs"})};
    if (domain.resource_pool.empty()) domain.resource_pool = domain.compute_cluster + "/Resources";
    domains.push_back(std::move(domain));
  }
  return domains;
}

std::string template_name(const FailureDomain& domain, const ClusterId& id) {
  return fmt::format("{}-rhcos-{}-{}", id.infra_id, domain.region, domain.zone);
}

std::string machine_folder(const FailureDomain& domain, const ClusterId& id) {
  return domain.folder.empty() ? fmt::format("/{}/vm/{}", domain.datacenter, id.infra_id) : domain.folder;
}

}  // namespace slipway::assets
