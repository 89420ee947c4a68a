// Templates: virtual machines that machines are cloned from.
#include "base/digest.h"
#include "provider/vsphere/documents.h"
#include "provider/vsphere/work.h"
#include "release/ova.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace slipway::provider::vsphere {

namespace {

// vCenter ends a lease without a sign of life after five minutes.
constexpr Milliseconds between_signs(30'000);

// An upload that is going on.
struct Lease {
  Reference self{};
  Reference machine{};
  Xml urls{};
};

Result<Lease> wait_for_lease(const Work& work, const Reference& lease) {
  Lease made{.self = lease};
  std::optional<Fault> fault;
  const Properties wanted{"HttpNfcLease", {"state", "error", "info"}};
  TRY(work.vcenter.watch(work.context, {lease}, wanted, [&](const Object& object) -> Result<bool> {
    const std::string& state = object.text("state");
    if (state == "error") fault = fault_of(object.at("error"));
    if (state == "ready") {
      made.urls = object.at("info");
      made.machine = reference_of(made.urls.at({"entity"}));
    }
    return state != "error" && state != "ready";
  }));
  if (fault) return to_error(*fault, "ImportVApp");
  return made;
}

Result<> keep_alive(const Work& work, const Reference& lease, std::uint64_t sent, std::uint64_t size) {
  const std::uint64_t percent = size == 0 ? 100 : sent * 100 / size;
  TRY(work.vcenter.send(work.context, {.method = "HttpNfcLeaseProgress",
                                       .self = lease,
                                       .arguments = element("percent", std::to_string(percent)),
                                       .object = "import"}));
  return Ok{};
}

// Sends one file of the OVA. The digest in the OVA's manifest is checked before the import is reported as complete.
Result<> upload_file(const Work& work, const Lease& lease, const std::string& url, const std::string& ova,
                     const release::OvaFile& file, const std::vector<release::OvaDigest>& digests) {
  release::OvaStream stream = TRY(release::OvaStream::open(ova, file.name));
  Sha256 digest;
  std::uint64_t sent = 0;
  SteadyTime last_sign = work.context.clock.steady();
  const auto read = [&](char* buffer, std::size_t size) -> Result<std::size_t> {
    const std::size_t got = TRY(stream.read(buffer, size));
    digest.update({buffer, got});
    sent += got;
    if (work.context.clock.steady() - last_sign >= between_signs) {
      TRY(keep_alive(work, lease.self, sent, file.size));
      last_sign = work.context.clock.steady();
    }
    return got;
  };
  TRY(work.vcenter.upload(work.context, url, file.size, read, file.name));
  const std::string got = digest.finish_hex();
  for (const release::OvaDigest& each : digests) {
    if (each.file != file.name || each.algorithm != "sha256" || each.digest == got) continue;
    return error(Code::invalid, "{}: has the SHA-256 {}, not {} as in the manifest of the OVA", file.name, got, each.digest);
  }
  return Ok{};
}

Result<> upload_all(const Work& work, const Lease& lease, const std::vector<ImportFile>& wanted, const std::string& path,
                    const release::Ova& ova) {
  const std::vector<release::OvaDigest> digests = release::parse_ova_manifest(ova.manifest);
  for (const Xml& device : lease.urls.children) {
    if (device.name != "deviceUrl") continue;
    const std::string& key = device.text_at({"importKey"});
    const auto item = std::ranges::find(wanted, key, &ImportFile::device);
    if (item == wanted.end()) continue;  // a device without a file
    const auto file = std::ranges::find(ova.files, item->path, &release::OvaFile::name);
    if (file == ova.files.end()) return error(Code::invalid, "the OVA has no file {}, which its descriptor names", item->path);
    TRY(upload_file(work, lease, device.text_at({"url"}), path, *file, digests));
  }
  return keep_alive(work, lease.self, 1, 1);
}

}  // namespace

bool is_os_template(const Object& machine) {
  return !machine.text(mark_path(image_mark)).empty() && machine.text(mark_path(template_mark)).empty();
}

Result<std::vector<Item>> list_templates(const Work& work) {
  Paths paths;
  std::vector<Properties> wanted = Paths::wanted();
  wanted.push_back(
      {"VirtualMachine",
       {"name", "parent", "config.template", mark_path(cluster_mark), mark_path(image_mark), mark_path(template_mark)}});
  const std::vector<Object> objects = TRY(work.vcenter.all(work.context, wanted));
  std::set<std::string> used;  // by machines of other clusters
  for (const Object& object : objects) {
    paths.add(object);
    const std::string& source = object.text(mark_path(template_mark));
    if (!source.empty() && object.text(mark_path(cluster_mark)) != work.infra_id) used.insert(source);
  }
  std::vector<Item> items;
  for (const Object& object : objects) {
    if (!is_os_template(object)) continue;
    Item item{.kind = std::string(template_kind),
              .name = paths.of(object.self),
              .id = object.self.id,
              .is_whole = object.text("config.template") == "true",
              .facts = {{"image", object.text(mark_path(image_mark))}, {"importer", object.text(mark_path(cluster_mark))}}};
    // That it is used matters for its removal only.
    item.facts["is_free"] = !used.contains(item.name) && (item.is_whole || item.fact("importer") == work.infra_id);
    items.push_back(std::move(item));
  }
  return items;
}

Result<Item> create_template(const Work& work, const plan::Resource& resource) {
  const std::string path = TRY(work.image->file(work.context));
  const release::Ova ova = TRY(release::read_ova(path));
  const Services services = TRY(work.vcenter.services(work.context));
  Import import{.descriptor = ova.descriptor, .name = base_name(resource.name), .disk_type = text(resource, "diskType")};
  import.resource_pool = TRY(object_at(work, text(resource, "resourcePool")));
  import.datastore = TRY(object_at(work, text(resource, "datastore")));
  import.network = TRY(network_of(work, text(resource, "computeCluster"), text(resource, "network")));
  const Reference folder = TRY(object_at(work, parent_path(resource.name)));
  const std::string arguments = TRY(import_arguments(import));
  const Xml answer = TRY(work.vcenter.send(
      work.context,
      {.method = "CreateImportSpec", .self = services.ovf_manager, .arguments = arguments, .object = resource.name}));
  const ImportSpec spec = TRY(import_spec_of(answer.at({"returnval"})));
  const Options marks = {{std::string(cluster_mark), work.infra_id}, {std::string(image_mark), text(resource, "image")}};
  const Xml started =
      TRY(work.vcenter.send(work.context, {.method = "ImportVApp",
                                           .self = import.resource_pool,
                                           .arguments = import_spec_with(spec.spec, marks) + element("folder", folder),
                                           .object = resource.name,
                                           .changes = true}));
  const Reference self = reference_of(started.at({"returnval"}));
  const auto transfer = [&]() -> Result<Lease> {
    Lease lease = TRY(wait_for_lease(work, self));
    TRY(upload_all(work, lease, spec.files, path, ova));
    const Result<Xml> completed = work.vcenter.send(
        work.context, {.method = "HttpNfcLeaseComplete", .self = self, .object = resource.name, .changes = true});
    if (completed.ok()) return lease;
    // The lease has ended: by an earlier call without an answer, or because vCenter has given it up.
    const Code code = completed.error().code() == Code::not_found ? Code::unavailable : completed.error().code();
    return Error(code, completed.error().message());
  };
  Result<Lease> lease = transfer();
  if (!lease.ok()) {
    // vCenter then removes the unfinished machine.
    (void)work.vcenter.send(work.context, {.method = "HttpNfcLeaseAbort", .self = self, .object = resource.name, .changes = true})
        .ok();
    return std::move(lease).error();
  }
  const Result<Xml> marked = work.vcenter.send(
      work.context, {.method = "MarkAsTemplate", .self = lease->machine, .object = resource.name, .changes = true});
  if (!marked.ok()) {
    // An earlier call without an answer may have done it.
    const Object about = TRY(work.vcenter.read(work.context, lease->machine, {"config.template"}));
    if (about.text("config.template") != "true") return marked.error();
  }
  Item item = item_of(resource, lease->machine.id);
  item.facts = {{"image", text(resource, "image")}, {"importer", work.infra_id}};
  return item;
}

Result<> remove_template(const Work& work, const Item& item) {
  if (!item.is_whole && item.fact("importer") != work.infra_id) {
    return error(Code::conflict,
                 "cluster {} is importing it, or was interrupted (run its command again; if that cluster is gone, remove the "
                 "unfinished template)",
                 item.fact("importer"));
  }
  const Result<Xml> removed = work.vcenter.run(
      work.context, {.method = "Destroy_Task", .self = {"VirtualMachine", item.id}, .object = item.name, .changes = true});
  if (removed.ok() || removed.error().code() == Code::not_found) return Ok{};
  return removed.error();
}

}  // namespace slipway::provider::vsphere
