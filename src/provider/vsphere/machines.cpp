// Machines, and the rules that keep masters apart.
#include "base/digest.h"
#include "ignition/gzip.h"
#include "provider/vsphere/documents.h"
#include "provider/vsphere/work.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::provider::vsphere {

namespace {

constexpr std::string_view config_setting = "guestinfo.ignition.config.data";
constexpr std::string_view encoding_setting = "guestinfo.ignition.config.data.encoding";

// The marks of a machine and what its item calls them.
constexpr std::array marks = {std::pair{role_mark, "role"}, std::pair{after_mark, "after"}, std::pair{release_mark, "release"},
                              std::pair{version_mark, "version"}, std::pair{template_mark, "template"}};

Result<std::string> backing_of(const Work& work, const Reference& network) {
  if (network.type != "DistributedVirtualPortgroup") {
    std::vector<std::string> paths = {"name"};
    if (network.type == "OpaqueNetwork") paths.push_back("summary");
    const Object about = TRY(work.vcenter.read(work.context, network, std::move(paths)));
    return network_backing(about, "");
  }
  const Object about = TRY(work.vcenter.read(work.context, network, {"key", "config.distributedVirtualSwitch"}));
  const Reference owner = reference_of(about.at("config.distributedVirtualSwitch"));
  const Object of_switch = TRY(work.vcenter.read(work.context, owner, {"uuid"}));
  return network_backing(about, of_switch.text("uuid"));
}

std::uint64_t number(const plan::Resource& resource, std::string_view name) {
  const Json* value = find(resource.spec, {name});
  if (!value) return 0;
  return value->is_uint64() ? value->get_uint64() : static_cast<std::uint64_t>(std::max(integer_of(resource.spec, {name}), 0));
}

Result<Options> options_of(const Work& work, const plan::Resource& resource) {
  const auto config = work.configs->find(resource.machine);
  if (config == work.configs->end()) return error(Code::internal, "machine {}: has no Ignition config", resource.machine);
  const std::string packed = TRY(ignition::gzip(config->second));
  Options options;
  options.emplace_back(config_setting, base64_encode(packed));
  options.emplace_back(encoding_setting, "gzip+base64");
  options.emplace_back("disk.EnableUUID", "TRUE");
  options.emplace_back("stealclock.enable", "TRUE");
  options.emplace_back(cluster_mark, work.infra_id);
  options.emplace_back(machine_mark, resource.machine);
  for (const auto& [mark, member] : marks) {
    if (std::string value = text(resource, member); !value.empty()) options.emplace_back(mark, std::move(value));
  }
  return options;
}

Reference machine_reference(const Item& item) { return {"VirtualMachine", item.id}; }

}  // namespace

std::string mark_path(std::string_view mark) { return fmt::format("config.extraConfig[\"{}\"]", mark); }

Result<std::vector<Item>> list_machines(const Work& work) {
  Paths paths;
  std::vector<Properties> wanted = Paths::wanted();
  Properties of_machine{"VirtualMachine",
                        {"name", "parent", "runtime.powerState", "guest.ipAddress", mark_path(cluster_mark),
                         mark_path(machine_mark), mark_path(image_mark)}};
  for (const auto& [mark, member] : marks) of_machine.paths.push_back(mark_path(mark));
  wanted.push_back(std::move(of_machine));
  const std::vector<Object> objects = TRY(work.vcenter.all(work.context, wanted));
  for (const Object& object : objects) paths.add(object);
  const std::string prefix = work.infra_id + "-";
  std::vector<Item> items;
  for (const Object& object : objects) {
    if (object.self.type != "VirtualMachine" || is_os_template(object)) continue;
    const std::string& name = object.text("name");
    std::string machine = object.text(mark_path(cluster_mark)) == work.infra_id ? object.text(mark_path(machine_mark)) : "";
    const bool is_marked = !machine.empty();
    if (!is_marked && !name.starts_with(prefix)) continue;
    if (!is_marked) machine = name.substr(prefix.size());
    Item item{.kind = std::string(machine_kind),
              .name = is_marked ? machine_name(work.infra_id, machine) : name,
              .machine = machine,
              .id = object.self.id,
              // Others that have the unique name of the cluster are its own only in the cluster's folder.
              .is_ours = is_marked || base_name(paths.parent_of(object)) == work.infra_id,
              .is_whole = false,
              .facts = {{"state", object.text("runtime.powerState")}, {"address", object.text("guest.ipAddress")}}};
    for (const auto& [mark, member] : marks) item.facts[member] = object.text(mark_path(mark));
    items.push_back(std::move(item));
  }
  // The inventory keeps the last one of a name.
  std::ranges::stable_sort(items, {}, &Item::is_ours);
  return items;
}

Result<Reference> network_of(const Work& work, const std::string& compute_cluster, const std::string& network) {
  if (network.starts_with('/')) return object_at(work, network);
  const Reference cluster = TRY(object_at(work, compute_cluster));
  const Object about = TRY(work.vcenter.read(work.context, cluster, {"network"}));
  for (const Xml& each : about.at("network").children) {
    Reference candidate = reference_of(each);
    const Object found = TRY(work.vcenter.read(work.context, candidate, {"name"}));
    if (found.text("name") == network) return candidate;
  }
  return error(Code::not_found, "{}: its hosts have no network {}", compute_cluster, network);
}

Result<Item> create_machine(const Work& work, const plan::Resource& resource) {
  NewMachine made{.name = resource.name,
                  .cpus = integer_of(resource.spec, {"cpus"}),
                  .cores_per_socket = integer_of(resource.spec, {"coresPerSocket"}),
                  .memory_mib = number(resource, "memoryMiB"),
                  .disk_size = number(resource, "diskGiB") << 30,
                  .is_started = text(resource, "after").empty()};
  const std::string source_path = text(resource, "template");
  const Reference source = TRY(object_at(work, source_path));
  made.folder = TRY(object_at(work, text(resource, "folder")));
  made.datastore = TRY(object_at(work, text(resource, "datastore")));
  made.resource_pool = TRY(object_at(work, text(resource, "resourcePool")));
  const std::string cluster = text(resource, "computeCluster"), network = text(resource, "network");
  made.network_backing = TRY(work.lookups.get<std::string>(fmt::format("{} {}", cluster, network), [&]() -> Result<std::string> {
    return backing_of(work, TRY(network_of(work, cluster, network)));
  }));
  made.options = TRY(options_of(work, resource));
  const Hardware hardware = TRY(work.lookups.get<Hardware>(source_path, [&]() -> Result<Hardware> {
    const Object about = TRY(work.vcenter.read(work.context, source, {"config.hardware.device"}));
    return hardware_of(about.at("config.hardware.device")).context(source_path);
  }));
  if (made.disk_size < hardware.disk_size) {
    return error(Code::invalid, "osDisk.diskSizeGB: {} GiB is less than the disk of template {}, which has {} GiB",
                 made.disk_size >> 30, source_path, hardware.disk_size >> 30);
  }
  const Xml result = TRY(work.vcenter.run(work.context, {.method = "CloneVM_Task",
                                                         .self = source,
                                                         .arguments = clone_arguments(made, hardware),
                                                         .object = resource.name,
                                                         .changes = true}));
  const Reference machine = reference_of(result);
  if (machine.id.empty()) return error(Code::internal, "CloneVM_Task {}: the result names no machine", resource.name);
  TRY(attach_tags(work, machine, texts_of(resource.spec, {"tagIDs"}), resource.name));
  Item item = item_of(resource, machine.id);
  item.facts = {{"state", made.is_started ? "poweredOn" : "poweredOff"}};
  return item;
}

Result<> remove_machine(const Work& work, const Item& item) {
  const Reference machine = machine_reference(item);
  const auto gone = [](const Error& error) { return error.code() == Code::not_found; };
  if (item.fact("state") != "poweredOff") {
    const Result<Xml> stopped =
        work.vcenter.run(work.context, {.method = "PowerOffVM_Task", .self = machine, .object = item.name, .changes = true});
    if (!stopped.ok() && gone(stopped.error())) return Ok{};
    // It was off already.
    if (!stopped.ok() && stopped.error().code() != Code::conflict) return stopped.error();
  }
  const Result<Xml> removed =
      work.vcenter.run(work.context, {.method = "Destroy_Task", .self = machine, .object = item.name, .changes = true});
  if (removed.ok() || gone(removed.error())) return Ok{};
  return removed.error();
}

Result<> start_machine(const Work& work, const Item& item) {
  const Result<Xml> started = work.vcenter.run(
      work.context, {.method = "PowerOnVM_Task", .self = machine_reference(item), .object = item.name, .changes = true});
  if (started.ok() || started.error().code() == Code::conflict) return Ok{};
  return started.error();
}

Result<std::vector<Item>> list_rules(const Work& work) {
  Paths paths;
  std::vector<Properties> wanted = Paths::wanted();
  wanted.push_back({"ClusterComputeResource", {"name", "parent", "configurationEx"}});
  const std::vector<Object> objects = TRY(work.vcenter.all(work.context, wanted));
  for (const Object& object : objects) paths.add(object);
  std::vector<Item> items;
  for (const Object& object : objects) {
    for (const Rule& rule : rules_of(object.at("configurationEx"))) {
      if (rule.name != rule_name(work.infra_id)) continue;
      items.push_back({.kind = std::string(rule_kind),
                       .name = fmt::format("{}/{}", paths.of(object.self), rule.name),
                       .id = object.self.id,
                       .facts = {{"key", rule.key}}});
    }
  }
  return items;
}

namespace {

Result<std::optional<Rule>> find_rule(const Work& work, const Reference& cluster, std::string_view name) {
  const Object about = TRY(work.vcenter.read(work.context, cluster, {"configurationEx"}));
  for (Rule& rule : rules_of(about.at("configurationEx"))) {
    if (rule.name == name) return std::optional(std::move(rule));
  }
  return std::optional<Rule>();
}

Result<> change_rules(const Work& work, const Reference& cluster, std::string_view change, const std::string& name) {
  const std::string arguments = element_of("spec", change, "ClusterConfigSpecEx") + element("modify", "true");
  TRY(work.vcenter.run(
      work.context,
      {.method = "ReconfigureComputeResource_Task", .self = cluster, .arguments = arguments, .object = name, .changes = true}));
  return Ok{};
}

}  // namespace

Result<Item> create_rule(const Work& work, const plan::Resource& resource) {
  std::vector<Reference> machines;
  for (const std::string& name : texts_of(resource.spec, {"machines"})) {
    const std::optional<Item> machine = TRY(work.inventory.known(work.context, machine_kind, name));
    if (!machine) return error(Code::not_found, "machine {}: does not exist", name);
    machines.push_back(machine_reference(*machine));
  }
  const Reference cluster = TRY(object_at(work, parent_path(resource.name)));
  const std::string name = base_name(resource.name);
  const Result<> changed = change_rules(work, cluster, rule_to_add(name, machines), resource.name);
  // An earlier call without an answer may have done it.
  if (!changed.ok() && !TRY(find_rule(work, cluster, name))) return changed.error();
  return item_of(resource, cluster.id);
}

Result<> remove_rule(const Work& work, const Item& item) {
  const Reference cluster{"ClusterComputeResource", item.id};
  // Keys are given by vCenter, and another rule may have the one of the last listing.
  const std::optional<Rule> rule = TRY(find_rule(work, cluster, base_name(item.name)));
  if (!rule) return Ok{};
  const Result<> changed = change_rules(work, cluster, rule_to_remove(rule->key), item.name);
  if (!changed.ok() && TRY(find_rule(work, cluster, rule->name))) return changed.error();
  return Ok{};
}

}  // namespace slipway::provider::vsphere
