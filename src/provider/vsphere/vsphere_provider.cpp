#include "provider/vsphere/vsphere_provider.h"

#include "assets/ignition/split_config.h"
#include "assets/store.h"
#include "base/digest.h"
#include "base/number.h"
#include "base/text.h"
#include "config/names.h"
#include "ignition/gzip.h"
#include "provider/host_names.h"
#include "provider/plan/apply.h"
#include "provider/planned_machines.h"
#include "provider/vsphere/owned_clusters.h"
#include "provider/vsphere/preflight.h"
#include "provider/vsphere/resources.h"
#include "release/disk_image.h"
#include "sys/environment_variable.h"
#include "sys/task_group.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace slipway::provider::vsphere {

namespace {

constexpr std::string_view is_on = "poweredOn";
// The variable of govc, vSphere's command line: files with certificates, separated by colons.
const std::string authorities_variable = "GOVC_TLS_CA_CERTS";

std::string variable(const std::string& name) { return sys::environment_variable(name); }

Result<std::string> read_authorities(sys::Files& files, const std::string& list) {
  std::string all;
  for (const std::string_view path : split(list, ':')) {
    if (!path.empty()) all += TRY(files.read(std::string(path)).context(authorities_variable)) + "\n";
  }
  return all;
}

// As in metadata.json, for a vCenter that --place names: "vcenter.example.com" or "vcenter.example.com:8443".
Json section_of(const std::string& place) {
  const std::size_t colon = place.find(':');
  const bool has_port = colon != std::string::npos && colon == place.rfind(':');
  const std::optional<int> port = has_port ? parse_number<int>(place.substr(colon + 1)) : std::optional<int>();
  JsonObject vcenter = {{"vCenter", port ? place.substr(0, colon) : place}};
  if (port) vcenter["port"] = *port;
  return {{"VCenters", JsonArray{std::move(vcenter)}}};
}

class VsphereProvider final : public Provider {
 public:
  VsphereProvider(const net::Environment& environment, ClusterSelection selection, Json section)
      : environment_(environment),
        infra_id_(selection.options["infra-id"]),
        directory_(selection.options["directory"]),
        section_(selection.options["place"].empty() ? std::move(section) : section_of(selection.options["place"])),
        image_(environment_,
               {.url = text_of(section_, {"clusterOSImage"}),
                .repository = selection.options["os-repo"],
                .programs = selection.options["programs"],
                .work_folder = directory_ + "/.slipway"},
               "vmware", "ova") {}

  Capabilities capabilities() const override { return {.plans_resources = true}; }

  std::string place() const override {
    const Result<Login> login = read_login(section_, variable);
    return fmt::format("vCenter {}", login.ok() ? login->server : "");
  }

  Result<> check_config(const config::InstallConfig& config) const override { return vsphere::check_config(config); }

  Result<std::vector<Machine>> plan(const config::InstallConfig& config) const override { return planned_machines(config); }

  Result<> check_name(const std::string& name) const override { return check_machine_name(name); }

  Result<int> pace(const sys::Context&) override { return 1; }

  Result<ExistingCluster> find(const assets::ClusterId&) override {
    ExistingCluster found;
    if (infra_id_.empty()) return found;
    Resources own(*TRY(vcenter()), infra_id_);
    const std::vector<Item> machines = TRY(own.machines(environment_.context));
    for (const Item& machine : machines) {
      found = {ExistingCluster::Of::this_cluster, machine.fact("release"), machine.fact("version")};
    }
    if (machines.empty()) {
      const std::vector<plan::Found> others = TRY(own.scan(environment_.context));
      const auto is_own = [](const plan::Found& each) { return each.is_ours && each.kind != template_kind; };
      if (std::ranges::any_of(others, is_own)) found.of = ExistingCluster::Of::this_cluster;
    }
    return found;
  }

  Result<> preflight(const sys::Context& context, const ClusterRequest& request,
                     const std::vector<MachineGroup>& groups) override {
    Resources own(*TRY(vcenter()), infra_id_);
    if (!TRY(own.machines(context)).empty()) return Ok{};
    const Inputs inputs = TRY(inputs_of(request.config, groups));
    plan::Plan missing;
    for (plan::Resource& resource : TRY(plan_of(context, request, inputs))) {
      if (!TRY(own.find(context, resource))) missing.push_back(std::move(resource));
    }
    const Findings found = TRY(check(own.work(context), request.config, missing));
    for (const Finding& finding : found.all()) {
      if (finding.severity == Severity::warning) context.log.warn("{}: {}; continuing", finding.field, finding.message);
    }
    return found.to_result();
  }

  Result<> create(const sys::Context& context, const ClusterRequest& request, const std::vector<MachineGroup>& groups) override {
    const Inputs inputs = TRY(inputs_of(request.config, groups));
    const plan::Plan wanted = TRY(plan_of(context, request, inputs));
    TRY(apply(context, inputs, wanted));
    return start_machines(context, "");
  }

  Result<> start(const sys::Context& context, const ClusterRequest&) override { return start_machines(context, ""); }

  Result<MachineStatus> add(const sys::Context& context, const std::string& name, const std::string& ignition) override {
    std::vector<Item> existing;
    {
      Resources own(*TRY(vcenter()), infra_id_);
      existing = TRY(own.machines(context));
      if (existing.empty()) return no_machines();
      const auto machine = std::ranges::find(existing, name, &Item::machine);
      if (machine != existing.end()) {
        if (machine->fact("state") != is_on) TRY(start_machine(own.work(context), *machine));
        return status_of(*machine);
      }
    }
    const config::InstallConfig config = TRY(assets::read_config(environment_.files, directory_));
    Inputs inputs;
    TRY(inputs.add(config, {.name = name, .role = "worker"}, ignition, ""));
    const assets::ClusterId id{.infra_id = infra_id_, .cluster_id = {}};
    const ClusterRequest request{.config = config,
                                 .id = id,
                                 .release = existing.front().fact("release"),
                                 .release_version = existing.front().fact("version")};
    const plan::Plan wanted = TRY(plan_with_image(request, inputs, image_of(existing)));
    TRY(apply(context, inputs, plan::of_machines(wanted, {name})));
    Resources own(*TRY(vcenter()), infra_id_);
    for (const Item& machine : TRY(own.machines(context))) {
      if (machine.machine == name) return status_of(machine);
    }
    return error(Code::internal, "machine {}: was created, but {} does not list it", name, place());
  }

  Result<std::vector<MachineStatus>> list(const sys::Context& context) override {
    Resources own(*TRY(vcenter()), infra_id_);
    const std::vector<Item> existing = TRY(own.machines(context));
    if (existing.empty()) return no_machines();
    std::vector<MachineStatus> all;
    for (const Item& machine : existing) all.push_back(status_of(machine));
    std::ranges::sort(all, {}, &MachineStatus::name);
    return all;
  }

  Result<> remove(const sys::Context& context, const std::string& name) override {
    plan::Journal journal = TRY(open_journal());
    Resources own(*TRY(vcenter()), infra_id_);
    TRY(plan::destroy(context, own, journal, [&](const plan::Found& found) { return found.machine == name; }));
    return start_machines(context, name);
  }

  Result<> remove_all(const sys::Context& context) override {
    if (infra_id_.empty()) return Ok{};
    plan::Journal journal = TRY(open_journal());
    Resources own(*TRY(vcenter()), infra_id_);
    return plan::destroy(context, own, journal);
  }

  Result<plan::Preview> preview(const sys::Context& context, const ClusterRequest& request,
                                const std::vector<MachineGroup>& groups) override {
    const Inputs inputs = TRY(inputs_of(request.config, groups));
    Resources own(*TRY(vcenter()), infra_id_);
    const std::vector<Item> machines = TRY(own.machines(context));
    const auto exists = [&](const std::string& name) {
      return std::ranges::find(machines, name, &Item::machine) != machines.end();
    };
    const bool is_complete = !machines.empty() && !exists("bootstrap");
    plan::Plan wanted =
        is_complete ? TRY(plan_with_image(request, inputs, image_of(machines))) : TRY(plan_of(context, request, inputs));
    if (is_complete) {
      std::erase_if(wanted, [&](const plan::Resource& each) { return !each.machine.empty() && !exists(each.machine); });
    }
    plan::Preview preview{.place = place()};
    preview.changes = TRY(plan::preview_changes(context, own, TRY(plan::Journal::read(journal_path())), wanted));
    if (preview.has_work()) {
      preview.problems = TRY(check(own.work(context), request.config, plan::missing_of(wanted, preview.changes)));
    }
    const std::optional<assets::UserDataLimit> limit = assets::user_data_limit("vsphere");
    for (const PlannedMachine& planned : inputs.planned) {
      const std::string& name = planned.machine.name;
      const std::string packed = TRY(ignition::gzip(inputs.configs.at(name)));
      preview.user_data.push_back({.machine = name, .bytes = base64_encode(packed).size(), .limit = limit ? limit->bytes : 0});
    }
    return preview;
  }

  Result<std::vector<plan::Found>> resources(const sys::Context& context) override {
    Resources own(*TRY(vcenter()), infra_id_);
    std::vector<plan::Found> found = TRY(own.scan(context));
    std::erase_if(found, [](const plan::Found& each) { return !each.is_ours; });
    return found;
  }

  Result<plan::Drift> refresh(const sys::Context& context) override {
    plan::Journal journal = TRY(open_journal());
    Resources own(*TRY(vcenter()), infra_id_);
    return plan::refresh(context, own, journal);
  }

  Result<std::vector<OwnedCluster>> clusters(const sys::Context& context) override {
    return owned_clusters(context, *TRY(vcenter()));
  }

  Result<sys::Output> run(const sys::Context&, const std::string& machine, sys::Command) override { return no_commands(machine); }
  Result<std::string> probe(const sys::Context&, const std::string& machine, const ProbeRequest&) override {
    return no_commands(machine);
  }

  Result<> follow(const sys::Context& context) override {
    Vcenter& server = *TRY(vcenter());
    Resources own(server, infra_id_);
    std::map<Reference, std::string> names, states;
    std::vector<Reference> machines;
    for (const Item& machine : TRY(own.machines(context))) {
      machines.push_back({"VirtualMachine", machine.id});
      names[machines.back()] = machine.machine;
    }
    if (machines.empty()) return Ok{};
    const Properties wanted{"VirtualMachine", {"runtime.powerState", "guest.ipAddress"}};
    const Result<> watched = server.watch(context, machines, wanted, [&](const Object& machine) -> Result<bool> {
      const std::string& state = machine.text("runtime.powerState");
      const std::string& address = machine.text("guest.ipAddress");
      if (std::exchange(states[machine.self], state + address) != state + address) {
        context.events.emit({.kind = "machine",
                             .name = names[machine.self],
                             .phase = sys::Phase::progress,
                             .fields = {{"state", state}, {"reason", address}}});
      }
      return true;
    });
    if (!watched.ok() && watched.error().code() == Code::cancelled) return Ok{};
    return watched;
  }

  Result<std::vector<sys::Event>> events() override { return std::vector<sys::Event>(); }

  Result<std::vector<BundleFile>> bundle_files(const sys::Context& context) override {
    std::string table;
    for (const MachineStatus& machine : TRY(list(context))) {
      table +=
          emit_json({{"name", machine.name}, {"state", machine.state}, {"address", machine.address}}, JsonStyle::compact) + "\n";
    }
    return std::vector<BundleFile>{{"host/machines.jsonl", std::move(table)}};
  }

  Result<std::optional<HostAccess>> host_access() override {
    return access_by_virtual_addresses(TRY(assets::read_config(environment_.files, directory_)));
  }

 private:
  // The machines to create, and their Ignition configs.
  struct Inputs {
    std::vector<PlannedMachine> planned{};
    std::map<std::string, std::string> configs{};

    Result<> add(const config::InstallConfig& config, const Machine& machine, const std::string& ignition,
                 const std::string& after) {
      const std::string& text = configs[machine.name] = TRY(with_names(ignition, machine.name, config, ApiNames::in_hosts));
      const std::optional<assets::UserDataLimit> limit = assets::user_data_limit("vsphere");
      if (limit && !TRY(assets::fits(text, *limit))) {
        return error(Code::invalid,
                     "machine {}: its Ignition config has {} bytes, in gzip and base64 more than the {} of guestinfo",
                     machine.name, text.size(), limit->bytes);
      }
      planned.push_back({machine, after});
      return Ok{};
    }
  };

  Result<Inputs> inputs_of(const config::InstallConfig& config, const std::vector<MachineGroup>& groups) const {
    Inputs inputs;
    for (const Machine& machine : planned_machines(config)) {
      if (const MachineGroup* group = group_of(groups, machine.name))
        TRY(inputs.add(config, machine, group->ignition, group->after));
    }
    return inputs;
  }

  Result<plan::Plan> plan_of(const sys::Context& context, const ClusterRequest& request, const Inputs& inputs) {
    const std::vector<assets::FailureDomain> domains = assets::failure_domains(request.config);
    const bool has_import =
        std::ranges::any_of(domains, [](const assets::FailureDomain& domain) { return domain.template_path.empty(); });
    return plan_with_image(request, inputs, has_import ? TRY(image_.identify(context)) : "");
  }

  Result<plan::Plan> plan_with_image(const ClusterRequest& request, const Inputs& inputs, std::string image) const {
    return cluster_plan({.config = request.config,
                         .infra_id = infra_id_,
                         .os_image = std::move(image),
                         .release = request.release,
                         .release_version = request.release_version},
                        inputs.planned);
  }

  // missing: what does not exist yet
  Result<Findings> check(const Work& work, const config::InstallConfig& config, const plan::Plan& missing) const {
    Findings found = TRY(check_vcenter(work, config, missing));
    const bool has_import = std::ranges::any_of(missing, [](const plan::Resource& each) { return each.kind == template_kind; });
    if (has_import && image_.source().is_made()) release::check_disk_image_host(found, "ova");
    return found;
  }

  // New machines are cloned from the templates of the existing ones.
  static std::string image_of(const std::vector<Item>& existing) {
    for (const Item& machine : existing) {
      const std::string image = image_of_template(machine.fact("template"));
      if (!image.empty()) return image;
    }
    return "";
  }

  Result<> apply(const sys::Context& context, const Inputs& inputs, const plan::Plan& wanted) {
    plan::Journal journal = TRY(open_journal());
    Resources own(*TRY(vcenter()), infra_id_, &image_, &inputs.configs);
    return plan::apply(context, own, journal, wanted);
  }

  // Starts the machines that are off, except those that wait for the removal of another one.
  //
  //   removed  only those that waited for this machine; empty: all
  Result<> start_machines(const sys::Context& context, const std::string& removed) {
    Resources own(*TRY(vcenter()), infra_id_);
    const std::vector<Item> existing = TRY(own.machines(context));
    std::vector<Item> meant;
    for (const Item& machine : existing) {
      const std::string after = machine.fact("after");
      const bool waits = std::ranges::any_of(existing, [&](const Item& each) { return each.machine == after; });
      if (machine.fact("state") != is_on && !waits && (removed.empty() || after == removed)) meant.push_back(machine);
    }
    return sys::for_each_at_once(context, meant.size(), plan::calls_at_once, [&](const sys::Context& each, std::size_t i) {
      return start_machine(own.work(each), meant[i]).context(meant[i].machine);
    });
  }

  static MachineStatus status_of(const Item& machine) {
    return {.name = machine.machine,
            .state = machine.fact("state"),
            .address = machine.fact("address"),
            .is_on = machine.fact("state") == is_on};
  }

  Result<Vcenter*> vcenter() {
    std::lock_guard lock(mutex_);
    if (!vcenter_) {
      Login login = TRY(read_login(section_, variable));
      std::string authorities = TRY(read_authorities(environment_.files, variable(authorities_variable)));
      vcenter_ = std::make_unique<Vcenter>(environment_, std::move(login), std::move(authorities));
    }
    return vcenter_.get();
  }

  Result<plan::Journal> open_journal() { return plan::Journal::open(environment_.context.clock, journal_path()); }

  std::string journal_path() const { return fmt::format("{}/{}", directory_, assets::resources_file); }

  Error no_machines() const { return error(Code::not_found, "{}: has no machines of cluster {}", place(), infra_id_); }
  Error no_commands(const std::string& machine) const {
    return error(Code::unavailable, "machine {}: slipway runs no commands in machines of vSphere (log in with SSH)", machine);
  }

  const net::Environment environment_;
  const std::string infra_id_;
  const std::string directory_;
  const Json section_;
  OsImage image_;
  std::mutex mutex_;  // of vcenter_
  std::unique_ptr<Vcenter> vcenter_;
};

}  // namespace

Result<Login> read_login(const Json& section, const std::function<std::string(const std::string& name)>& variables) {
  // openshift-install writes metadata.json with other names.
  const JsonArray& given = find_array(section, {"vcenters"});
  const JsonArray& recorded = find_array(section, {"VCenters"});
  const bool is_config = !given.empty();
  if (given.empty() && recorded.empty())
    return error(Code::denied, "platform vsphere: no vCenter is named (vcenters, or --place)");
  const Json& first = is_config ? given.front() : recorded.front();
  Login login{.server = text_of(first, {is_config ? "server" : "vCenter"}),
              .user = text_of(first, {is_config ? "user" : "username"}),
              .password = Secret(text_of(first, {"password"}))};
  if (const int port = integer_of(first, {"port"}); port > 0) login.port = port;
  if (login.user.empty()) login.user = variables("GOVC_USERNAME");
  if (login.password.empty()) login.password = Secret(variables("GOVC_PASSWORD"));
  if (login.server.empty()) return error(Code::denied, "platform vsphere: the first vCenter has no server");
  if (!login.user.empty() && !login.password.empty()) return login;
  return error(Code::denied, "{}: no user or password (looked in: {}; GOVC_USERNAME and GOVC_PASSWORD)", login.server,
               is_config ? "platform.vsphere.vcenters of install-config.yaml" : "vsphere.VCenters of metadata.json");
}

Result<std::unique_ptr<Provider>> open_vsphere_provider(const net::Environment& environment, ClusterSelection selection) {
  const std::string text = selection.options["platform"];
  Json section = text.empty() ? Json(JsonObject()) : TRY(parse_json(text, "platform.vsphere"));
  std::unique_ptr<Provider> made = std::make_unique<VsphereProvider>(environment, std::move(selection), std::move(section));
  return made;
}

}  // namespace slipway::provider::vsphere
