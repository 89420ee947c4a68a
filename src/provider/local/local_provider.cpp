#include "provider/local/local_provider.h"

#include "base/text.h"
#include "data/data.h"
#include "provider/local/client.h"
#include "provider/local/cluster_plan.h"
#include "provider/local/forwarder.h"
#include "provider/local/registry.h"
#include "provider/local/registry_access.h"
#include "provider/local/shell.h"
#include "sys/event_lines.h"
#include "sys/stolen_time.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::provider::local {

namespace {

constexpr Milliseconds query_timeout = Seconds(10);

provider::MachineStatus status_of(const MachineStatus& machine) {
  return {.name = machine.name,
          .state = std::string(to_string(machine.state)),
          .reason = machine.reason,
          .address = machine.address,
          .is_on = is_on(machine.state),
          .is_booting = machine.state == State::booting};
}

class LocalProvider final : public Provider {
 public:
  LocalProvider(const net::Environment& environment, ClusterSelection selection, Images images)
      : environment_(environment),
        choice_{.state = selection.options["state"],
                .cluster = std::move(selection.cluster),
                .program = selection.options["program"]},
        os_repo_(std::move(selection.options["os-repo"])),
        images_(std::move(images)) {}

  Capabilities capabilities() const override { return {.runs_commands = true, .adds_masters = true}; }

  std::string place() const override { return choice_.state; }

  Result<> check_config(const config::InstallConfig&) const override { return Ok{}; }

  Result<int> pace(const sys::Context&) override { return 1; }

  Result<std::vector<Machine>> plan(const config::InstallConfig& config) const override { return planned_machines(config); }

  Result<> check_name(const std::string& name) const override { return local::check_name("machine", name); }

  Result<ExistingCluster> find(const assets::ClusterId& id) override {
    const auto existing = read_cluster(environment_.files, choice_);
    if (!existing.ok() && existing.error().code() == Code::not_found) return ExistingCluster{};
    // The record is broken, for instance by a kill: treat the cluster as this one, so that it can be completed or removed.
    if (!existing.ok()) return ExistingCluster{.of = ExistingCluster::Of::this_cluster};
    return ExistingCluster{
        .of = was_created_with(existing.value(), id) ? ExistingCluster::Of::this_cluster : ExistingCluster::Of::another_cluster,
        .release = existing->release,
        .release_version = existing->release_version};
  }

  Result<> preflight(const sys::Context& context, const ClusterRequest& request,
                     const std::vector<provider::MachineGroup>& groups) override {
    std::vector<MachineGroup> checked;
    for (const provider::MachineGroup& group : groups) checked.push_back(local_group(group));
    return local::preflight(context, environment_.files, environment_.runner, choice_, TRY(options_for(request)), checked);
  }

  Result<> create(const sys::Context& context, const ClusterRequest& request,
                  const std::vector<provider::MachineGroup>& groups) override {
    const std::vector<Machine> planned = TRY(planned_machines(request.config));
    TRY(ensure_cluster(environment_.files, environment_.random, choice_, TRY(options_for(request))));
    TRY(keep_access(context, request));
    TRY(ensure_owner(context, environment_.files, choice_));
    TRY(check_virtual_addresses(context, request.config));
    for (const provider::MachineGroup& group : groups) {
      TRY(ask(context, choice_,
              {.order = Order::create, .machines = group.names, .ignition = group.ignition, .after = group.after}));
    }
    return check_addresses(context, planned);
  }

  Result<> start(const sys::Context& context, const ClusterRequest& request) override {
    TRY(ensure_cluster(environment_.files, environment_.random, choice_, TRY(options_for(request))));
    TRY(preflight_start(context, environment_.files, environment_.runner, choice_));
    TRY(keep_access(context, request));
    TRY(ensure_owner(context, environment_.files, choice_));
    TRY(ask(context, choice_, {.order = Order::start}));
    return Ok{};
  }

  Result<provider::MachineStatus> add(const sys::Context& context, const std::string& name,
                                      const std::string& ignition) override {
    const std::vector<MachineStatus> before = TRY(list_machines(context, environment_.files, choice_));
    Request request{.order = Order::start, .machines = {name}};
    if (std::ranges::find(before, name, &MachineStatus::name) == before.end()) {
      request.order = Order::create;
      request.ignition = ignition;
      const ClusterConfig made = TRY(read_cluster(environment_.files, choice_));
      TRY(local::preflight(context, environment_.files, environment_.runner, choice_,
                           {.os_repo = made.os_repo, .images = made.images},
                           {local_group({.role = "worker", .names = {name}, .ignition = ignition})}));
    }
    TRY(ensure_owner(context, environment_.files, choice_));
    const Json answer = TRY(ask(context, choice_, request));
    for (const Json& each : find_array(answer, {"machines"})) {
      const MachineStatus machine = TRY(parse_machine_status(each));
      if (machine.name == name) return status_of(machine);
    }
    return error(Code::internal, "machine {}: created, but not in the list of machines", name);
  }

  Result<std::vector<provider::MachineStatus>> list(const sys::Context& context) override {
    std::vector<provider::MachineStatus> machines;
    for (const MachineStatus& machine : TRY(list_machines(context, environment_.files, choice_))) {
      machines.push_back(status_of(machine));
    }
    return machines;
  }

  Result<> remove(const sys::Context& context, const std::string& name) override {
    const std::vector<MachineStatus> machines = TRY(list_machines(context, environment_.files, choice_));
    if (std::ranges::find(machines, name, &MachineStatus::name) == machines.end()) return Ok{};
    TRY(ensure_owner(context, environment_.files, choice_));
    TRY(ask(context, choice_, {.order = Order::destroy, .machines = {name}}));
    return Ok{};
  }

  Result<> remove_all(const sys::Context& context) override { return destroy_cluster(context, environment_.files, choice_); }

  Result<sys::Output> run(const sys::Context& context, const std::string& machine, sys::Command command) override {
    return run_captured(context, environment_.files, environment_.runner, choice_, machine, std::move(command));
  }

  Result<std::string> probe(const sys::Context& context, const std::string& name, const ProbeRequest& request) override {
    const ClusterConfig cluster = TRY(read_cluster(environment_.files, choice_));
    const std::vector<MachineStatus> machines = TRY(list_machines(context, environment_.files, choice_));
    const auto machine = std::ranges::find(machines, name, &MachineStatus::name);
    if (machine == machines.end()) return error(Code::not_found, "machine {} does not exist", name);
    const std::string registry =
        cluster.images.registry.empty() ? "" : fmt::format("{}:{}", cluster.network.gateway(), registry_port);
    sys::Command command{.argv = {"sh", "-c", std::string(data::content(data::provider(), "probe-machine")), "probe-machine",
                                  cluster.domain, registry},
                         .limit = request.limit,
                         .grace = Seconds(1)};
    std::ranges::copy(request.ports, std::back_inserter(command.argv));
    const auto run = machine->leader != 0 ? run_captured : run_on_disk;
    const sys::Output said = TRY(run(context, environment_.files, environment_.runner, choice_, name, std::move(command)));
    return fmt::format("{}stolen {}\n", said.out, sys::stolen_time(environment_.files).count());
  }

  Result<> follow(const sys::Context& context) override {
    TRY(ask(context, choice_, {.order = Order::follow_events}));
    return Ok{};
  }

  Result<std::vector<sys::Event>> events() override {
    return TRY(sys::read_events(environment_.files, choice_.paths().events())).value_or(std::vector<sys::Event>());
  }

  Result<std::vector<BundleFile>> bundle_files(const sys::Context& context) override {
    const ClusterPaths paths = choice_.paths();
    std::vector<BundleFile> files;
    const auto add = [&](std::string path, const std::string& file) -> Result<> {
      if (auto text = TRY(environment_.files.read_if_exists(file))) files.push_back({std::move(path), *std::move(text)});
      return Ok{};
    };
    std::string table;
    for (const MachineStatus& machine : TRY(list_machines(context, environment_.files, choice_))) {
      table += fmt::format("{}\n", emit_json(to_json(machine), JsonStyle::compact));
      TRY(add(fmt::format("host/{}.console.log", machine.name), paths.machine(machine.name).console()));
    }
    files.push_back({"host/machines.jsonl", std::move(table)});
    for (const std::string& file : {paths.events(), paths.owner_log(), paths.registry_log()}) {
      TRY(add("host" + file.substr(file.rfind('/')), file));
    }
    if (auto addresses = addresses_of_network(context); addresses.ok()) {
      files.push_back({"host/network.txt", std::move(addresses).value()});
    }
    return files;
  }

  Result<std::optional<HostAccess>> host_access() override {
    return std::optional(host_access_of(TRY(read_cluster(environment_.files, choice_))));
  }

  Result<std::optional<ImageRegistry>> image_registry() override {
    const ClusterConfig cluster = TRY(read_cluster(environment_.files, choice_));
    if (!cluster.has_own_images) return std::optional<ImageRegistry>();
    return registry_access(environment_.files, choice_.paths(), cluster);
  }

 private:
  static MachineGroup local_group(const provider::MachineGroup& group) {
    return {.names = group.names,
            .ignition = group.ignition,
            .has_control_plane = group.role != "worker",
            .after = group.after,
            .is_of_cluster = true};
  }

  Result<> keep_access(const sys::Context& context, const ClusterRequest& request) {
    const ClusterConfig cluster = TRY(read_cluster(environment_.files, choice_));
    if (!cluster.has_own_images) return Ok{};
    return keep_registry_access(environment_.files, environment_.random, context.clock.now(), choice_.paths(), cluster, request);
  }

  // The options of the existing cluster, or those for a new one.
  Result<ClusterOptions> options_for(const ClusterRequest& request) {
    ClusterOptions options = cluster_options(request.config, request.id, os_repo_, images_, Forwarder::is_free);
    options.release = request.release;
    options.release_version = request.release_version;
    const auto existing = read_cluster(environment_.files, choice_);
    if (!existing.ok()) return existing.error().code() == Code::not_found ? Result(std::move(options)) : existing.error();
    if (!was_created_with(existing.value(), request.id)) {
      return error(Code::conflict,
                   "cluster-name-taken: cluster {} already exists in {}, created from another asset directory (change "
                   "metadata.name, or remove the other cluster with its own directory: slipway destroy cluster --dir DIR)",
                   choice_.cluster, choice_.state);
    }
    options.forwards = existing->forwards;  // the cluster itself uses these ports
    return options;
  }

  Result<std::string> addresses_of_network(const sys::Context& context) {
    return TRY(run_in_network(context, environment_.files, environment_.runner, choice_,
                              {.argv = {"ip", "-4", "-oneline", "address", "show"}, .limit = query_timeout}))
        .out;
  }

  // Checks that the host side of the network does not have one of the virtual IPs.
  Result<> check_virtual_addresses(const sys::Context& context, const config::InstallConfig& config) {
    const std::string existing = TRY(addresses_of_network(context));
    std::vector<std::string> wanted = config::api_vips(config);
    std::ranges::move(config::ingress_vips(config), std::back_inserter(wanted));
    for (const std::string& address : wanted) {
      if (existing.find(fmt::format(" inet {}/", address)) == std::string::npos) continue;
      return error(Code::conflict,
                   "address-in-use: {} is already in use on the host side of the cluster network (remove it there, or choose "
                   "another address in platform.local of install-config.yaml)",
                   address);
    }
    return Ok{};
  }

  // The machine approver compares addresses with the machine table, so the machines must have the planned addresses.
  Result<> check_addresses(const sys::Context& context, const std::vector<Machine>& planned) {
    const std::vector<MachineStatus> made = TRY(list_machines(context, environment_.files, choice_));
    for (const Machine& machine : planned) {
      const auto found = std::ranges::find(made, machine.name, &MachineStatus::name);
      if (found == made.end() || found->address == machine.address) continue;
      return error(Code::conflict,
                   "machine {}: has address {}, expected {}, because machines were created in another order (destroy the cluster "
                   "and create it again)",
                   machine.name, found->address, machine.address);
    }
    return Ok{};
  }

  const net::Environment environment_;
  const ClusterChoice choice_;
  const std::string os_repo_;
  const Images images_;
};

}  // namespace

Result<std::unique_ptr<Provider>> open_local_provider(const net::Environment& environment, ClusterSelection selection) {
  Images images;
  if (const std::string& folder = selection.options["images"]; !folder.empty()) {
    images = TRY(find_images(environment.files, folder));
  }
  std::unique_ptr<Provider> made = std::make_unique<LocalProvider>(environment, std::move(selection), std::move(images));
  return made;
}

}  // namespace slipway::provider::local
