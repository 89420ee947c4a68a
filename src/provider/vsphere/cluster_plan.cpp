#include "provider/vsphere/cluster_plan.h"

#include "base/digest.h"
#include "base/findings.h"
#include "provider/os_image.h"
#include "provider/planned_machines.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace slipway::provider::vsphere {

namespace {

using assets::FailureDomain;

constexpr std::string_view template_prefix = "slipway-os-";
constexpr std::size_t location_length = 8;  // hexadecimal digits in the name of a template

std::string key_of(std::string_view kind, std::string_view name) { return fmt::format("{}/{}", kind, name); }

class Builder {
 public:
  explicit Builder(const PlanInput& input) : input_(input), id_{.infra_id = input.infra_id, .cluster_id = {}} {}

  Result<plan::Plan> build(const std::vector<PlannedMachine>& machines) {
    add(tag_kind, input_.infra_id, {}, {{"category", category_name(input_.infra_id)}});
    for (const PlannedMachine& machine : machines) TRY(add_machine(machine));
    for (auto& [path, masters] : masters_) {
      if (masters.size() < 2) continue;
      JsonArray names;
      for (const std::string& key : masters) names.push_back(Json(key.substr(key.find('/') + 1)));
      add(rule_kind, fmt::format("{}/{}", path, rule_name(input_.infra_id)), masters, {{"machines", std::move(names)}});
    }
    return std::move(plan_);
  }

 private:
  // Returns the key.
  std::string add(std::string_view kind, const std::string& name, std::vector<std::string> needs, JsonObject spec,
                  const std::string& machine = "") {
    plan::Resource made{
        .kind = std::string(kind), .name = name, .machine = machine, .needs = std::move(needs), .spec = std::move(spec)};
    made.is_shared = kind == template_kind;
    std::string key = made.key();
    if (std::ranges::find(plan_, key, &plan::Resource::key) == plan_.end()) plan_.push_back(std::move(made));
    return key;
  }

  // Clusters with the same image at the same place share the template.
  std::string add_template(const FailureDomain& domain) {
    const std::string disk_type = text_of(input_.config.platform.section, {"diskType"});
    const std::string location =
        sha256_hex(fmt::format("{}\n{}\n{}", domain.resource_pool, domain.datastore, disk_type)).substr(0, location_length);
    const std::string folder = domain.folder.empty() ? fmt::format("/{}/vm", domain.datacenter) : domain.folder;
    return add(template_kind, fmt::format("{}/{}{}-{}", folder, template_prefix, input_.os_image, location), {},
               {{"image", input_.os_image},
                {"datastore", domain.datastore},
                {"resourcePool", domain.resource_pool},
                {"computeCluster", domain.compute_cluster},
                {"network", domain.networks.empty() ? "" : domain.networks.front()},
                {"diskType", disk_type}});
  }

  Result<> add_machine(const PlannedMachine& planned) {
    const FailureDomain domain = TRY(domain_of(input_.config, planned.machine));
    const std::string folder = assets::machine_folder(domain, id_);
    const std::string tag = key_of(tag_kind, input_.infra_id);
    std::vector<std::string> needs = {tag};
    if (domain.folder.empty()) needs.push_back(add(folder_kind, folder, {tag}, {{"tag", input_.infra_id}}));
    std::string source = domain.template_path;
    if (source.empty()) {
      const std::string key = add_template(domain);
      source = key.substr(key.find('/') + 1);
      needs.push_back(key);
    }
    // A cluster with machines and without its bootstrap machine counts as one whose bootstrap is complete.
    if (!bootstrap_.empty()) needs.push_back(bootstrap_);
    const Size size = size_of(input_.config, planned.machine.role);
    const std::string key = add(machine_kind, machine_name(input_.infra_id, planned.machine.name), std::move(needs),
                                {{"folder", folder},
                                 {"template", source},
                                 {"computeCluster", domain.compute_cluster},
                                 {"resourcePool", domain.resource_pool},
                                 {"datastore", domain.datastore},
                                 {"network", domain.networks.empty() ? "" : domain.networks.front()},
                                 {"cpus", size.cpus},
                                 {"coresPerSocket", size.cores_per_socket},
                                 {"memoryMiB", size.memory >> 20},
                                 {"diskGiB", size.disk >> 30},
                                 {"tagIDs", array_of(domain.tag_ids)},
                                 {"role", planned.machine.role},
                                 {"after", planned.after},
                                 {"release", input_.release},
                                 {"version", input_.release_version}},
                                planned.machine.name);
    if (planned.machine.role == "bootstrap") bootstrap_ = key;
    if (planned.machine.role == "master") masters_[domain.compute_cluster].push_back(key);
    return Ok{};
  }

  const PlanInput& input_;
  const assets::ClusterId id_;
  plan::Plan plan_;
  std::string bootstrap_;                                    // key of the bootstrap machine, which exists before all others
  std::map<std::string, std::vector<std::string>> masters_;  // keys, by the path of the compute cluster
};

void check_images(Findings& findings, const config::InstallConfig& config) {
  const Place place{"install-config.yaml"};
  const std::string url = text_of(config.platform.section, {"clusterOSImage"});
  if (url.starts_with("http:") && digest_of_url(url).empty()) {
    findings.error(place, "platform.vsphere.clusterOSImage", "an image that arrives without TLS needs a checksum")
        .hint("append ?sha256= and the SHA-256 of the file, or use https");
  }
  const std::vector<FailureDomain> domains = assets::failure_domains(config);
  const auto has_template = [](const FailureDomain& domain) { return !domain.template_path.empty(); };
  if (domains.empty() || std::ranges::none_of(domains, has_template)) return;
  if (std::ranges::all_of(domains, has_template) && !url.empty()) {
    findings.error(place, "platform.vsphere.clusterOSImage", "has no effect: all failure domains have a template")
        .hint("remove it, or remove template from the failure domains");
  }
  if (!text_of(config.platform.section, {"diskType"}).empty()) {
    findings.error(place, "platform.vsphere.diskType", "has no effect in failure domains with a template, which has its own")
        .hint("remove it, or remove template from the failure domains");
  }
}

}  // namespace

std::string machine_name(std::string_view infra_id, std::string_view machine) { return fmt::format("{}-{}", infra_id, machine); }
std::string category_name(std::string_view infra_id) { return fmt::format("openshift-{}", infra_id); }
std::string rule_name(std::string_view infra_id) { return fmt::format("{}-masters", infra_id); }

std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }
std::string parent_path(std::string_view path) { return std::string(path.substr(0, std::min(path.rfind('/'), path.size()))); }

std::string image_of_template(std::string_view path) {
  const std::string name = base_name(path);
  const std::size_t dash = name.rfind('-');
  if (!name.starts_with(template_prefix) || dash == std::string::npos || dash <= template_prefix.size()) return "";
  return name.substr(template_prefix.size(), dash - template_prefix.size());
}

Result<> check_config(const config::InstallConfig& config) {
  Findings findings;
  const Place place{"install-config.yaml"};
  if (config::api_vips(config).empty() || config::ingress_vips(config).empty()) {
    findings.error(place, "platform.vsphere", "has no virtual addresses for the API and the applications")
        .hint("add apiVIPs and ingressVIPs with free addresses of the machine network: slipway creates no load balancer");
  }
  if (find_array(config.platform.section, {"vcenters"}).size() > 1) {
    findings.error(place, "platform.vsphere.vcenters", "slipway creates the machines of a cluster in one vCenter only")
        .hint("use one vCenter, or create the machines yourself");
  }
  if (!find_array(config.platform.section, {"hosts"}).empty()) {
    findings.error(place, "platform.vsphere.hosts", "the machine OS gets its addresses by DHCP only")
        .hint("remove the field and reserve addresses on the DHCP server, or create the machines yourself");
  }
  for (const config::MachinePool& pool : config.compute) {
    if (pool.name == "worker" || pool.replicas == 0) continue;
    findings.error(place, "compute", "slipway creates no machines for pool {}", pool.name)
        .hint("set its replicas to 0, or create its machines yourself");
  }
  check_images(findings, config);
  return findings.to_result();
}

Result<FailureDomain> domain_of(const config::InstallConfig& config, const Machine& machine) {
  std::vector<FailureDomain> domains = assets::failure_domains(config);
  std::vector<std::string> zones = texts_of(pool_of(config, machine.role), {"zones"});
  if (zones.empty()) {
    for (const FailureDomain& domain : domains) zones.push_back(domain.name);
  }
  if (zones.empty()) return error(Code::invalid, "platform.vsphere.failureDomains: missing");
  const std::string& zone = zones[number_of(machine.name) % zones.size()];
  const auto found = std::ranges::find(domains, zone, &FailureDomain::name);
  if (found == domains.end()) return error(Code::invalid, "machine {}: '{}' is not a failure domain", machine.name, zone);
  return std::move(*found);
}

Size size_of(const config::InstallConfig& config, std::string_view role) {
  const Json& pool = pool_of(config, role);
  const auto number = [&](std::initializer_list<std::string_view> keys) { return std::max(integer_of(pool, keys), 0); };
  return {.cpus = number({"cpus"}),
          .cores_per_socket = number({"coresPerSocket"}),
          .memory = static_cast<std::uint64_t>(number({"memoryMB"})) << 20,
          .disk = static_cast<std::uint64_t>(number({"osDisk", "diskSizeGB"})) << 30};
}

Result<plan::Plan> cluster_plan(const PlanInput& input, const std::vector<PlannedMachine>& machines) {
  return Builder(input).build(machines);
}

}  // namespace slipway::provider::vsphere
