#include "provider/vsphere/preflight.h"

#include "base/number.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace slipway::provider::vsphere {

namespace {

// What a template needs on its datastore, besides the disks of the machines.
constexpr std::uint64_t least_space = 4ull << 30;

struct Wanted {
  std::string_view field;  // of the topology
  std::string_view where;  // of Privilege; empty: none is needed
  std::string path;
};

std::vector<Wanted> objects_of(const assets::FailureDomain& domain) {
  std::vector<Wanted> wanted = {
      {"computeCluster", "cluster", domain.compute_cluster},
      {"resourcePool", "pool", domain.resource_pool},
      {"datastore", "datastore", domain.datastore},
      {"folder", "folder", domain.folder.empty() ? fmt::format("/{}/vm", domain.datacenter) : domain.folder}};
  if (!domain.template_path.empty()) wanted.push_back({"template", "", domain.template_path});
  return wanted;
}

// Names of the privileges that the user lacks on an object.
Result<std::vector<std::string>> missing_privileges(const Work& work, const Reference& object, std::string_view where) {
  const Services services = TRY(work.vcenter.services(work.context));
  std::string arguments = element("entity", object) + element("sessionId", TRY(work.vcenter.session_key(work.context)));
  for (const Privilege& privilege : privileges()) {
    if (privilege.where == where) arguments += element("privId", privilege.name);
  }
  const Xml answer = TRY(work.vcenter.send(
      work.context,
      {.method = "HasPrivilegeOnEntities", .self = services.authorization_manager, .arguments = std::move(arguments)}));
  std::vector<std::string> missing;
  for (const Xml& available : answer.at({"returnval"}).children) {
    if (available.name == "privAvailability" && available.text_at({"isGranted"}) != "true") {
      missing.push_back(available.text_at({"privId"}));
    }
  }
  return missing;
}

Result<> check_privileges(const Work& work, Findings& findings, const std::string& field, const std::string& path,
                          const Reference& object, std::string_view where) {
  const std::vector<std::string> missing = TRY(missing_privileges(work, object, where));
  if (missing.empty()) return Ok{};
  findings.error({}, field, "{}: user {} lacks privileges: {}", path, work.vcenter.user(), join(missing, ", "))
      .hint("give the user a role with them; docs/vsphere.md lists all");
  return Ok{};
}

Result<> check_domain(const Work& work, Findings& findings, const assets::FailureDomain& domain, const std::string& place) {
  for (const Wanted& wanted : objects_of(domain)) {
    const std::string field = fmt::format("{}.topology.{}", place, wanted.field);
    const std::optional<Reference> found = TRY(work.vcenter.find(work.context, wanted.path));
    if (!found) {
      findings.error({}, field, "{}: vCenter has nothing at this path, or user {} may not see it", wanted.path,
                     work.vcenter.user());
      continue;
    }
    if (!wanted.where.empty()) TRY(check_privileges(work, findings, field, wanted.path, *found, wanted.where));
    if (wanted.field != "template") continue;
    const Object about = TRY(work.vcenter.read(work.context, *found, {"runtime.powerState"}));
    if (about.text("runtime.powerState") != "poweredOff") {
      findings.error({}, field, "{}: is switched on", wanted.path).hint("use a template, or switch the machine off");
    }
  }
  const std::string field = fmt::format("{}.topology.networks[0]", place);
  const std::string name = domain.networks.empty() ? "" : domain.networks.front();
  const Result<Reference> network = network_of(work, domain.compute_cluster, name);
  if (!network.ok() && network.error().code() != Code::not_found) return network.error();
  if (!network.ok()) {
    findings.error({}, field, "{}", network.error().message());
    return Ok{};
  }
  return check_privileges(work, findings, field, name, network.value(), "network");
}

// Disks of machines grow, so too little space for all of them is a warning.
Result<> check_space(const Work& work, Findings& findings, const plan::Plan& missing) {
  std::map<std::string, std::uint64_t> disks, templates;
  for (const plan::Resource& resource : missing) {
    if (resource.kind == machine_kind) {
      disks[text(resource, "datastore")] += static_cast<std::uint64_t>(integer_of(resource.spec, {"diskGiB"})) << 30;
    }
    if (resource.kind == template_kind) templates[text(resource, "datastore")] += least_space;
  }
  for (const auto& [path, size] : disks) {
    const std::optional<Reference> datastore = TRY(work.vcenter.find(work.context, path));
    if (!datastore) continue;
    const Object about = TRY(work.vcenter.read(work.context, *datastore, {"summary.freeSpace"}));
    const std::uint64_t free = parse_number<std::uint64_t>(about.text("summary.freeSpace")).value_or(0);
    const std::uint64_t least = templates[path];
    if (free < least) {
      findings
          .error({}, "datastore", "{}: has {} free, but the machine OS alone needs {}", path, human_size(free), human_size(least))
          .hint("free space, or use another datastore");
    } else if (free < size + least) {
      findings.warning({}, "datastore", "{}: has {} free, but the disks of the machines can grow to {}", path, human_size(free),
                       human_size(size));
    }
  }
  return Ok{};
}

}  // namespace

const std::vector<Privilege>& privileges() {
  static const std::vector<Privilege> all = {
      {"vcenter", "InventoryService.Tagging.CreateCategory"},
      {"vcenter", "InventoryService.Tagging.DeleteCategory"},
      {"vcenter", "InventoryService.Tagging.CreateTag"},
      {"vcenter", "InventoryService.Tagging.DeleteTag"},
      {"vcenter", "InventoryService.Tagging.AttachTag"},
      {"cluster", "Host.Inventory.EditCluster"},
      {"pool", "Resource.AssignVMToPool"},
      {"pool", "VApp.Import"},
      {"datastore", "Datastore.AllocateSpace"},
      {"network", "Network.Assign"},
      {"folder", "Folder.Create"},
      {"folder", "Folder.Delete"},
      {"folder", "InventoryService.Tagging.ObjectAttachable"},
      {"folder", "VirtualMachine.Inventory.Create"},
      {"folder", "VirtualMachine.Inventory.CreateFromExisting"},
      {"folder", "VirtualMachine.Inventory.Delete"},
      {"folder", "VirtualMachine.Provisioning.DeployTemplate"},
      {"folder", "VirtualMachine.Provisioning.MarkAsTemplate"},
      {"folder", "VirtualMachine.Config.AddNewDisk"},
      {"folder", "VirtualMachine.Config.AddRemoveDevice"},
      {"folder", "VirtualMachine.Config.AdvancedConfig"},
      {"folder", "VirtualMachine.Config.CPUCount"},
      {"folder", "VirtualMachine.Config.DiskExtend"},
      {"folder", "VirtualMachine.Config.EditDevice"},
      {"folder", "VirtualMachine.Config.Memory"},
      {"folder", "VirtualMachine.Config.Settings"},
      {"folder", "VirtualMachine.Interact.PowerOn"},
      {"folder", "VirtualMachine.Interact.PowerOff"},
  };
  return all;
}

Result<Findings> check_vcenter(const Work& work, const config::InstallConfig& config, const plan::Plan& missing) {
  Findings findings;
  const Services services = TRY(work.vcenter.services(work.context));
  TRY(check_privileges(work, findings, "platform.vsphere.vcenters[0]", work.vcenter.server(), services.root_folder, "vcenter"));
  const std::vector<assets::FailureDomain> domains = assets::failure_domains(config);
  for (std::size_t i = 0; i < domains.size(); ++i) {
    TRY(check_domain(work, findings, domains[i], fmt::format("platform.vsphere.failureDomains[{}]", i)));
  }
  TRY(check_space(work, findings, missing));
  return findings;
}

}  // namespace slipway::provider::vsphere
