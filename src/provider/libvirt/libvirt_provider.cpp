#include "provider/libvirt/libvirt_provider.h"

#include "assets/identity/identity.h"
#include "assets/store.h"
#include "base/text.h"
#include "config/names.h"
#include "provider/host_names.h"
#include "provider/libvirt/cluster_plan.h"
#include "provider/libvirt/config_drive.h"
#include "provider/libvirt/connection.h"
#include "provider/libvirt/documents.h"
#include "provider/libvirt/preflight.h"
#include "provider/libvirt/resources.h"
#include "provider/libvirt/xml.h"
#include "provider/plan/apply.h"
#include "provider/planned_machines.h"
#include "release/disk_image.h"
#include "sys/programs.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

namespace slipway::provider::libvirt {

namespace {

// virtlogd rotates a console log at 2 MiB.
constexpr std::uint64_t largest_console_log = 16ull << 20;

// A machine of the cluster on the host.
struct Existing {
  Domain domain;
  MachineMark mark;
  std::vector<Interface> interfaces;
  std::vector<std::string> files;
  std::string virtualization;
};

// A network of the cluster has a DNS server with the names of the API; a bridge of the host may not.
ApiNames names_of(const config::InstallConfig& config) {
  return text_of(config.platform.section, {"network", "bridge"}).empty() ? ApiNames::of_network : ApiNames::in_hosts;
}

std::string uri_of(const std::string& place, const std::string& uri) {
  if (!place.empty()) return place;
  return uri.empty() ? "qemu:///system" : uri;
}

class LibvirtProvider final : public Provider {
 public:
  LibvirtProvider(const net::Environment& environment, ClusterSelection selection)
      : environment_(environment),
        uri_(uri_of(selection.options["place"], selection.options["uri"])),
        infra_id_(selection.options["infra-id"]),
        directory_(selection.options["directory"]),
        os_image_{.file = selection.options["os-image"],
                  .repository = selection.options["os-repo"],
                  .programs = selection.options["programs"],
                  .work_folder = directory_ + "/.slipway"} {}

  Capabilities capabilities() const override { return {.plans_resources = true}; }

  std::string place() const override { return uri_; }

  Result<> check_config(const config::InstallConfig& config) const override { return libvirt::check_config(config); }

  Result<std::vector<Machine>> plan(const config::InstallConfig& config) const override { return addressed_machines(config); }

  Result<> check_name(const std::string& name) const override { return check_machine_name(name); }

  Result<int> pace(const sys::Context&) override { return TRY(best_virtualization()) == "kvm" ? 1 : pace_of_emulation; }

  Result<ExistingCluster> find(const assets::ClusterId&) override {
    ExistingCluster found;
    if (infra_id_.empty()) return found;
    for (const Existing& machine : TRY(machines())) {
      found = {ExistingCluster::Of::this_cluster, machine.mark.release, machine.mark.release_version};
    }
    if (found.of == ExistingCluster::Of::nothing && !TRY(scan()).empty()) {
      found.of = ExistingCluster::Of::this_cluster;
    }
    return found;
  }

  Result<> preflight(const sys::Context& context, const ClusterRequest& request,
                     const std::vector<MachineGroup>& groups) override {
    const std::shared_ptr<Connection> kept = TRY(connection());
    Connection& host = *kept;
    HostState state;
    state.host = TRY(host.host_facts());
    state.has_kvm = TRY(best_virtualization()) == "kvm";
    state.networks = TRY(host.networks());
    if (!state.has_kvm && !TRY(host.offers("qemu"))) {
      return error(Code::invalid, "{}: offers no x86-64 machines (install QEMU on the host: apt-get install qemu-system-x86)",
                   uri_);
    }
    if (const std::string pool = text_of(request.config.platform.section, {"storagePool"}); !pool.empty()) {
      state.pool = TRY(host.find_pool(pool));
      if (state.pool) TRY(folder_of_pool(host, pool));
    }
    std::vector<Machine> missing = TRY(addressed_machines(request.config));
    for (const Existing& machine : TRY(machines()))
      std::erase_if(missing, [&](const Machine& m) { return m.name == machine.mark.machine; });
    Findings found = check_host(request.config, infra_id_, state, missing);
    if (!os_image_.file.empty() && !TRY(environment_.files.info(os_image_.file))) {
      found.error({}, "--os-image", "{}: not found", os_image_.file);
    }
    if (!missing.empty()) TRY(check_own_host(found, request, groups));
    for (const Finding& finding : found.all()) {
      if (finding.severity != Severity::warning) continue;
      const std::string hint = finding.hint.empty() ? "" : fmt::format(" ({})", finding.hint);
      context.log.warn("{}: {}{}; continuing", finding.field, finding.message, hint);
    }
    return found.to_result();
  }

  Result<> create(const sys::Context& context, const ClusterRequest& request, const std::vector<MachineGroup>& groups) override {
    Inputs inputs = TRY(inputs_of(request.config, groups));
    TRY(apply(context, TRY(plan_input(context, request)), inputs.planned, std::move(inputs.configs)));
    return start_machines({});
  }

  Result<> start(const sys::Context&, const ClusterRequest&) override { return start_machines({}); }

  Result<MachineStatus> add(const sys::Context& context, const std::string& name, const std::string& ignition) override {
    const std::vector<Existing> existing = TRY(machines());
    if (existing.empty()) return error(Code::not_found, "{}: has no machines of cluster {}", uri_, infra_id_);
    if (std::ranges::any_of(existing, [&](const Existing& each) { return each.mark.machine == name; })) {
      TRY(TRY(connection())->start_domain(machine_name(infra_id_, name)));
      return status_of_one(name);
    }
    const config::InstallConfig config = TRY(assets::read_config(environment_.files, directory_));
    std::string named = TRY(with_names(ignition, name, config, names_of(config)));
    PlannedMachine planned{.machine = {.name = name, .role = "worker"}, .ignition_size = named.size()};
    std::string os_image = TRY(os_image_of(existing.front()));
    std::string virtualization = TRY(best_virtualization());
    TRY(apply(context,
              {.config = config,
               .infra_id = infra_id_,
               .os_image = std::move(os_image),
               .virtualization = std::move(virtualization),
               .release = existing.front().mark.release,
               .release_version = existing.front().mark.release_version},
              {planned}, {{name, std::move(named)}}));
    return status_of_one(name);
  }

  Result<std::vector<MachineStatus>> list(const sys::Context&) override {
    const std::vector<Existing> existing = TRY(machines());
    if (existing.empty()) return error(Code::not_found, "{}: has no machines of cluster {}", uri_, infra_id_);
    const std::vector<Lease> leases = TRY(TRY(connection())->leases(infra_id_));
    std::vector<MachineStatus> all;
    for (const Existing& machine : existing) {
      MachineStatus status{.name = machine.mark.machine, .state = machine.domain.state, .is_on = machine.domain.is_active};
      if (!machine.domain.is_active && machine.domain.reason != "shutdown") status.reason = machine.domain.reason;
      for (const Interface& each : machine.interfaces) {
        const auto lease = std::ranges::find(leases, each.mac, &Lease::mac);
        if (lease != leases.end()) status.address = lease->address;
      }
      all.push_back(std::move(status));
    }
    std::ranges::sort(all, {}, &MachineStatus::name);
    return all;
  }

  Result<> remove(const sys::Context& context, const std::string& name) override {
    plan::Journal journal = TRY(open_journal());
    const std::shared_ptr<Connection> host = TRY(connection());
    Resources own(environment_, *host, infra_id_);
    TRY(plan::destroy(context, own, journal, [&](const plan::Found& found) { return found.machine == name; }));
    return start_machines(name);
  }

  Result<> remove_all(const sys::Context& context) override {
    if (infra_id_.empty()) return Ok{};
    plan::Journal journal = TRY(open_journal());
    const std::shared_ptr<Connection> host = TRY(connection());
    Resources own(environment_, *host, infra_id_);
    return plan::destroy(context, own, journal);
  }

  Result<plan::Preview> preview(const sys::Context& context, const ClusterRequest& request,
                                const std::vector<MachineGroup>& groups) override {
    Inputs inputs = TRY(inputs_of(request.config, groups));
    const std::vector<Existing> existing = TRY(machines());
    PlanInput input = TRY(plan_input(context, request));
    if (!existing.empty()) input.os_image = TRY(os_image_of(existing.front()));
    plan::Plan wanted = TRY(cluster_plan(input, inputs.planned));
    const auto exists = [&](std::string_view name) {
      return std::ranges::any_of(existing, [&](const Existing& each) { return each.mark.machine == name; });
    };
    if (!existing.empty() && !exists("bootstrap")) {
      std::erase_if(wanted, [&](const plan::Resource& each) { return !each.machine.empty() && !exists(each.machine); });
    }
    const std::shared_ptr<Connection> host = TRY(connection());
    Resources own(environment_, *host, infra_id_);
    plan::Preview preview{.place = place()};
    preview.changes = TRY(plan::preview_changes(context, own, TRY(plan::Journal::read(journal_path())), wanted));
    for (const PlannedMachine& each : inputs.planned) {
      preview.user_data.push_back({.machine = each.machine.name, .bytes = each.ignition_size});
    }
    return preview;
  }

  Result<std::vector<plan::Found>> resources(const sys::Context&) override { return scan(); }

  Result<plan::Drift> refresh(const sys::Context& context) override {
    plan::Journal journal = TRY(open_journal());
    const std::shared_ptr<Connection> host = TRY(connection());
    Resources own(environment_, *host, infra_id_);
    return plan::refresh(context, own, journal);
  }

  // Pools and networks have no mark of slipway: those without a machine or a volume count if both have the same name.
  Result<std::vector<OwnedCluster>> clusters(const sys::Context& context) override {
    const std::shared_ptr<Connection> host = TRY(connection());
    std::set<std::string> ids;
    for (const Domain& domain : TRY(host->domains())) {
      const Result<DomainFacts> facts = read_domain(domain.xml);
      if (facts.ok() && facts->mark) ids.insert(facts->mark->cluster);
    }
    for (const Pool& pool : TRY(host->pools())) {
      if (assets::is_infra_id(pool.name)) ids.insert(pool.name);
    }
    std::vector<OwnedCluster> all;
    for (const std::string& id : ids) {
      OwnedCluster cluster{.infra_id = id};
      bool is_proved = false;
      int of_cluster = 0;
      for (const plan::Found& found : TRY(Resources(environment_, *host, id).scan(context))) {
        cluster.resources.push_back(found.key());
        is_proved = is_proved || found.kind == machine_kind || found.kind == volume_kind;
        of_cluster += found.kind == pool_kind || found.kind == network_kind ? 1 : 0;
      }
      if (is_proved || of_cluster == 2) all.push_back(std::move(cluster));
    }
    return all;
  }

  Result<sys::Output> run(const sys::Context&, const std::string& machine, sys::Command) override { return no_commands(machine); }
  Result<std::string> probe(const sys::Context&, const std::string& machine, const ProbeRequest&) override {
    return no_commands(machine);
  }

  Result<> follow(const sys::Context& context) override {
    const std::string prefix = infra_id_ + "-";
    return TRY(connection())->follow(context, [&](const DomainEvent& event) {
      if (!event.domain.starts_with(prefix)) return;
      context.events.emit({.kind = "machine",
                           .name = event.domain.substr(prefix.size()),
                           .phase = event.event == "crashed" ? sys::Phase::failed : sys::Phase::progress,
                           .fields = {{"state", event.event}, {"reason", event.detail}}});
    });
  }

  Result<std::vector<sys::Event>> events() override { return std::vector<sys::Event>(); }

  Result<std::vector<BundleFile>> bundle_files(const sys::Context& context) override {
    const std::shared_ptr<Connection> kept = TRY(connection());
    Connection& host = *kept;
    std::vector<BundleFile> files;
    std::string table;
    for (const MachineStatus& machine : TRY(list(context))) {
      table +=
          emit_json({{"name", machine.name}, {"state", machine.state}, {"address", machine.address}, {"reason", machine.reason}},
                    JsonStyle::compact) +
          "\n";
    }
    files.push_back({"host/machines.jsonl", std::move(table)});
    for (const Pool& pool : TRY(host.pools())) {
      if (!pool.is_active) continue;
      for (const Volume& volume : TRY(host.volumes(pool.name, Refresh::yes))) {
        const std::string machine = machine_of_volume(infra_id_, volume.name);
        if (machine.empty() || volume.name != console_log_name(infra_id_, machine)) continue;
        const Result<std::string> log = host.download(context, pool.name, volume.name, largest_console_log);
        files.push_back({fmt::format("host/{}.console.log", machine), log.ok() ? log.value() : log.error().message() + "\n"});
      }
    }
    return files;
  }

  Result<std::optional<HostAccess>> host_access() override {
    return access_by_virtual_addresses(TRY(assets::read_config(environment_.files, directory_)));
  }

 private:
  // The machines to create, and their Ignition configs.
  struct Inputs {
    std::vector<PlannedMachine> planned;
    std::map<std::string, std::string> configs;
  };

  Result<Inputs> inputs_of(const config::InstallConfig& config, const std::vector<MachineGroup>& groups) const {
    Inputs inputs;
    for (const Machine& machine : TRY(addressed_machines(config))) {
      const MachineGroup* group = group_of(groups, machine.name);
      if (!group) continue;
      const std::string& text = inputs.configs[machine.name] =
          TRY(with_names(group->ignition, machine.name, config, names_of(config)));
      inputs.planned.push_back({machine, text.size(), group->after});
      if (os_image_.file.empty() || channel_for(text.size()) == Channel::fw_cfg) continue;
      return error(
          Code::invalid,
          "--os-image: the Ignition config of {} has {} bytes and is too large for an image that reads fw_cfg (leave the "
          "option out: slipway then makes an image that reads a medium)",
          machine.name, text.size());
    }
    return inputs;
  }

  Result<PlanInput> plan_input(const sys::Context& context, const ClusterRequest& request) {
    std::string os_image = TRY(identify_os_image(environment_.with(context), os_image_));
    std::string virtualization = TRY(best_virtualization());
    return PlanInput{.config = request.config,
                     .infra_id = infra_id_,
                     .os_image = std::move(os_image),
                     .virtualization = std::move(virtualization),
                     .release = request.release,
                     .release_version = request.release_version};
  }

  // What slipway itself needs to create machines, on the computer that it runs on.
  Result<> check_own_host(Findings& found, const ClusterRequest& request, const std::vector<MachineGroup>& groups) {
    if (os_image_.file.empty()) release::check_disk_image_host(found, "qcow2");
    const bool has_config_drive = std::ranges::any_of(
        groups, [](const MachineGroup& group) { return channel_for(group.ignition.size()) == Channel::config_drive; });
    if (has_config_drive) sys::find_missing(found, config_drive_programs);
    const std::string bridge = text_of(request.config.platform.section, {"network", "bridge"});
    if (!bridge.empty() && is_on_this_computer(uri_) && !TRY(environment_.files.info("/sys/class/net/" + bridge))) {
      found.error({}, "platform.libvirt.network.bridge", "the host has no network interface {}", bridge)
          .hint("create the bridge, or remove the field: slipway then creates a network for the cluster");
    }
    return Ok{};
  }

  // Callers keep the connection while they use it: another thread may open a new one meanwhile.
  Result<std::shared_ptr<Connection>> connection() {
    std::lock_guard lock(mutex_);
    // A daemon that was restarted has ended its connections.
    if (!connection_ || !connection_->is_open()) connection_ = TRY(Connection::open(uri_));
    return connection_;
  }

  Result<std::vector<plan::Found>> scan() {
    const std::shared_ptr<Connection> host = TRY(connection());
    return Resources(environment_, *host, infra_id_).scan(environment_.context);
  }

  Result<plan::Journal> open_journal() { return plan::Journal::open(environment_.context.clock, journal_path()); }

  std::string journal_path() const { return fmt::format("{}/{}", directory_, assets::resources_file); }

  // That of the machines that exist; otherwise KVM if it works.
  Result<std::string> best_virtualization() {
    if (!virtualization_.empty()) return virtualization_;
    const std::vector<Existing> existing = TRY(machines());
    if (!existing.empty()) {
      virtualization_ = existing.front().virtualization;
    } else {
      const std::shared_ptr<Connection> host = TRY(connection());
      const bool has_kvm = TRY(host->offers("kvm")) && TRY(host->starts(kvm_probe_xml(infra_id_ + "-kvm-probe")));
      virtualization_ = has_kvm ? "kvm" : "qemu";
    }
    return virtualization_;
  }

  Result<> apply(const sys::Context& context, const PlanInput& input, const std::vector<PlannedMachine>& planned,
                 std::map<std::string, std::string> configs) {
    const plan::Plan wanted = TRY(cluster_plan(input, planned));
    plan::Journal journal = TRY(open_journal());
    const std::shared_ptr<Connection> host = TRY(connection());
    Resources own(environment_, *host, infra_id_, os_image_, std::move(configs));
    return plan::apply(context, own, journal, wanted);
  }

  Result<std::vector<Existing>> machines() {
    std::vector<Existing> found;
    for (Domain& domain : TRY(TRY(connection())->domains())) {
      DomainFacts facts = TRY(read_domain(domain.xml));
      if (!facts.mark || facts.mark->cluster != infra_id_) continue;
      found.push_back({std::move(domain), *std::move(facts.mark), std::move(facts.interfaces), std::move(facts.files),
                       std::move(facts.virtualization)});
    }
    return found;
  }

  // Starts the machines that are off, except those that wait for the removal of another one.
  //
  //   removed  only those that waited for this machine; empty: all
  Result<> start_machines(const std::string& removed) {
    const std::vector<Existing> existing = TRY(machines());
    for (const Existing& machine : existing) {
      const bool waits =
          std::ranges::any_of(existing, [&](const Existing& each) { return each.mark.machine == machine.mark.after; });
      const bool is_meant = removed.empty() || machine.mark.after == removed;
      if (!machine.domain.is_active && !waits && is_meant) TRY(TRY(connection())->start_domain(machine.domain.name));
    }
    return Ok{};
  }

  Result<MachineStatus> status_of_one(const std::string& name) {
    for (MachineStatus& status : TRY(list(environment_.context))) {
      if (status.name == name) return std::move(status);
    }
    return error(Code::internal, "machine {}: was created, but {} does not list it", name, uri_);
  }

  // New machines boot the image of the existing ones.
  Result<std::string> os_image_of(const Existing& machine) {
    const std::string own = disk_name(infra_id_, machine.mark.machine);
    const std::shared_ptr<Connection> host = TRY(connection());
    for (const Pool& pool : TRY(host->pools())) {
      const auto disk = pool.is_active ? TRY(host->find_volume(pool.name, own)) : std::nullopt;
      if (!disk) continue;
      const std::string base = TRY(read_volume(disk->xml)).backing_path;
      if (const auto image = os_image_of_volume(infra_id_, base.substr(base.rfind('/') + 1))) return *image;
    }
    return error(Code::not_found, "volume {}: not found, so the machine OS of the cluster is unknown", own);
  }

  Error no_commands(const std::string& machine) const {
    return error(Code::unavailable, "machine {}: libvirt runs no commands in machines (log in with SSH)", machine);
  }

  const net::Environment environment_;
  const std::string uri_;
  const std::string infra_id_;
  const std::string directory_;
  const OsImageSource os_image_;
  std::mutex mutex_;  // of connection_
  std::shared_ptr<Connection> connection_;
  std::string virtualization_;  // empty: not known yet
};

}  // namespace

Result<std::unique_ptr<Provider>> open_libvirt_provider(const net::Environment& environment, ClusterSelection selection) {
  std::unique_ptr<Provider> made = std::make_unique<LibvirtProvider>(environment, std::move(selection));
  return made;
}

}  // namespace slipway::provider::libvirt
