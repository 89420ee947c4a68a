#include "provider/openstack/openstack_provider.h"

#include "assets/ignition/split_config.h"
#include "assets/store.h"
#include "base/digest.h"
#include "config/names.h"
#include "ignition/data_url.h"
#include "ignition/make.h"
#include "ignition/parse.h"
#include "provider/host_names.h"
#include "provider/openstack/owned_clusters.h"
#include "provider/openstack/preflight.h"
#include "provider/openstack/prices.h"
#include "provider/openstack/resources.h"
#include "provider/plan/apply.h"
#include "provider/planned_machines.h"
#include "release/disk_image.h"
#include "sys/environment_variable.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace slipway::provider::openstack {

namespace {

constexpr Milliseconds between_looks(15'000);  // Nova has no stream of events for users
constexpr int fetch_seconds = 120;             // until the server of a config must begin to answer
constexpr std::size_t key_size = 32;           // bytes
constexpr const char* usual_cloud = "openstack";

std::string variable(const std::string& name) { return sys::environment_variable(name); }

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string cloud_of(const Json& section, const std::string& place) {
  std::string cloud = place.empty() ? text_of(section, {"cloud"}) : place;
  // Without an install-config, the variable of OpenStack's own tools counts.
  if (cloud.empty()) cloud = variable("OS_CLOUD");
  return cloud.empty() ? usual_cloud : cloud;
}

class OpenstackProvider final : public Provider {
 public:
  OpenstackProvider(const net::Environment& environment, ClusterSelection selection, const Json& section)
      : environment_(environment),
        infra_id_(selection.options["infra-id"]),
        directory_(selection.options["directory"]),
        cloud_(cloud_of(section, selection.options["place"])),
        expires_(selection.options["expires"]),
        image_(environment_, image_source(selection, section, directory_), "openstack", "qcow2") {}

  Capabilities capabilities() const override { return {.plans_resources = true, .marks_expiry = true}; }

  std::string place() const override { return fmt::format("openstack {}", cloud_); }

  Result<> check_config(const config::InstallConfig& config) const override { return openstack::check_config(config); }

  Result<std::vector<Machine>> plan(const config::InstallConfig& config) const override { return planned_machines(config); }

  Result<> check_name(const std::string& name) const override {
    TRY(check_machine_name(name));
    for (const std::string_view taken : {"api-port", "ingress-port"}) {
      if (name == taken) return error(Code::invalid, "'{}' is the name of a port of the cluster (choose another name)", name);
    }
    return Ok{};
  }

  Result<int> pace(const sys::Context&) override { return 1; }

  Result<ExistingCluster> find(const assets::ClusterId&) override {
    ExistingCluster found;
    if (infra_id_.empty()) return found;
    Resources own(*TRY(api()), {.infra_id = infra_id_});
    const std::vector<Item> machines = TRY(own.machines(environment_.context));
    for (const Item& machine : machines) {
      found = {ExistingCluster::Of::this_cluster, machine.fact("release"), machine.fact("version")};
    }
    if (machines.empty()) {
      const std::vector<plan::Found> others = TRY(own.scan(environment_.context));
      const auto is_own = [](const plan::Found& each) { return each.is_ours && each.kind != image_kind; };
      if (std::ranges::any_of(others, is_own)) found.of = ExistingCluster::Of::this_cluster;
    }
    return found;
  }

  Result<> preflight(const sys::Context& context, const ClusterRequest& request,
                     const std::vector<MachineGroup>& groups) override {
    const Inputs inputs = TRY(inputs_of(request.config, groups));
    Resources own(*TRY(api()), resource_inputs(request.config, inputs));
    if (!TRY(own.machines(context)).empty()) return Ok{};
    const Site site = TRY(read_site(own.work(context), request.config));
    const plan::Plan wanted = TRY(plan_of(own.work(context), request, inputs, site));
    const std::vector<plan::Change> changes = TRY(changes_of(context, own, wanted));
    return TRY(check(own.work(context), request.config, site, plan::missing_of(wanted, changes))).problems.to_result();
  }

  Result<> create(const sys::Context& context, const ClusterRequest& request, const std::vector<MachineGroup>& groups) override {
    const Inputs inputs = TRY(inputs_of(request.config, groups));
    Resources own(*TRY(api()), resource_inputs(request.config, inputs));
    const Site site = TRY(read_site(own.work(context), request.config));
    const plan::Plan wanted = TRY(plan_of(own.work(context), request, inputs, site));
    plan::Journal journal = TRY(open_journal());
    TRY(plan::apply(context, own, journal, wanted));
    // Before the machines have booted: the names must lead to these addresses until then.
    const Addresses addresses = TRY(floating_addresses(own.work(context)));
    if (!addresses.api.empty()) {
      context.log.info("floating IPs: {} of the API, {} of the applications; api.{} and *.apps.{} must lead to them",
                       addresses.api, addresses.applications, request.config.cluster_domain(), request.config.cluster_domain());
    }
    return Ok{};
  }

  Result<> start(const sys::Context& context, const ClusterRequest&) override {
    Resources own(*TRY(api()), {.infra_id = infra_id_});
    for (const Item& machine : TRY(own.machines(context))) {
      if (is_off(machine)) TRY(start_machine(context, machine));
    }
    return Ok{};
  }

  Result<MachineStatus> add(const sys::Context& context, const std::string& name, const std::string& ignition) override {
    TRY(add_all(context, {name}, ignition));
    Resources own(*TRY(api()), {.infra_id = infra_id_});
    for (const Item& machine : TRY(own.machines(context))) {
      if (machine.machine == name) return status_of(machine);
    }
    return error(Code::internal, "machine {}: was created, but {} does not list it", name, place());
  }

  Result<> add_all(const sys::Context& context, const std::vector<std::string>& names, const std::string& ignition) override {
    const config::InstallConfig config = TRY(assets::read_config(environment_.files, directory_));
    Inputs inputs;
    Resources own(*TRY(api()), resource_inputs(config, inputs));
    const std::vector<Item> existing = TRY(own.machines(context));
    if (existing.empty()) return no_machines();
    for (const std::string& name : names) {
      const auto machine = std::ranges::find(existing, name, &Item::machine);
      if (machine == existing.end()) {
        TRY(inputs.add(config, {.name = name, .role = "worker"}, ignition, false));
      } else if (is_off(*machine)) {
        TRY(start_machine(context, *machine));
      }
    }
    if (inputs.planned.empty()) return Ok{};
    const assets::ClusterId id{.infra_id = infra_id_, .cluster_id = {}};
    const ClusterRequest request{.config = config,
                                 .id = id,
                                 .release = existing.front().fact("release"),
                                 .release_version = existing.front().fact("version")};
    const Site site = TRY(read_site(own.work(context), config));
    const plan::Plan whole = TRY(plan_of(own.work(context), request, inputs, site));
    plan::Journal journal = TRY(open_journal());
    return plan::apply(context, own, journal, plan::of_machines(whole, names));
  }

  Result<std::vector<MachineStatus>> list(const sys::Context& context) override {
    Resources own(*TRY(api()), {.infra_id = infra_id_});
    const std::vector<Item> existing = TRY(own.machines(context));
    if (existing.empty()) return no_machines();
    std::vector<MachineStatus> all;
    for (const Item& machine : existing) all.push_back(status_of(machine));
    std::ranges::sort(all, {}, &MachineStatus::name);
    return all;
  }

  Result<> remove(const sys::Context& context, const std::string& name) override {
    plan::Journal journal = TRY(open_journal());
    Resources own(*TRY(api()), {.infra_id = infra_id_});
    return plan::destroy(context, own, journal, [&](const plan::Found& found) { return found.machine == name; });
  }

  Result<> remove_all(const sys::Context& context) override {
    if (infra_id_.empty()) return Ok{};
    plan::Journal journal = TRY(open_journal());
    Resources own(*TRY(api()), {.infra_id = infra_id_});
    return plan::destroy(context, own, journal);
  }

  Result<plan::Preview> preview(const sys::Context& context, const ClusterRequest& request,
                                const std::vector<MachineGroup>& groups) override {
    const Inputs inputs = TRY(inputs_of(request.config, groups));
    Resources own(*TRY(api()), resource_inputs(request.config, inputs));
    const Site site = TRY(read_site(own.work(context), request.config));
    plan::Plan wanted = TRY(plan_of(own.work(context), request, inputs, site));
    const std::vector<Item> machines = TRY(own.machines(context));
    const auto exists = [&](const std::string& name) {
      return std::ranges::find(machines, name, &Item::machine) != machines.end();
    };
    if (!machines.empty() && !exists("bootstrap")) {
      std::erase_if(wanted, [&](const plan::Resource& each) { return !each.machine.empty() && !exists(each.machine); });
    }
    plan::Preview preview{.place = place(), .priced = priced_plan(wanted)};
    preview.changes = TRY(changes_of(context, own, wanted));
    if (preview.has_work()) {
      ProjectCheck found = TRY(check(own.work(context), request.config, site, plan::missing_of(wanted, preview.changes)));
      preview.quotas = std::move(found.quotas);
      preview.missing_permissions = std::move(found.missing_permissions);
      preview.problems = std::move(found.problems);
    }
    for (const PlannedMachine& planned : inputs.planned) {
      const std::string& name = planned.machine.name;
      const std::size_t encoded = base64_encode(inputs.configs.at(name)).size();
      preview.user_data.push_back({name, encoded, limit_of(request.config).bytes, planned.has_pointer});
    }
    return preview;
  }

  Result<std::vector<plan::Found>> resources(const sys::Context& context) override {
    Resources own(*TRY(api()), {.infra_id = infra_id_});
    std::vector<plan::Found> found = TRY(own.scan(context));
    std::erase_if(found, [](const plan::Found& each) { return !each.is_ours; });
    return found;
  }

  Result<plan::Drift> refresh(const sys::Context& context) override {
    plan::Journal journal = TRY(open_journal());
    Resources own(*TRY(api()), {.infra_id = infra_id_});
    return plan::refresh(context, own, journal);
  }

  Result<std::vector<OwnedCluster>> clusters(const sys::Context& context) override {
    return owned_clusters(context, *TRY(api()));
  }

  Result<sys::Output> run(const sys::Context&, const std::string& machine, sys::Command) override { return no_commands(machine); }
  Result<std::string> probe(const sys::Context&, const std::string& machine, const ProbeRequest&) override {
    return no_commands(machine);
  }

  Result<> follow(const sys::Context& context) override {
    Resources own(*TRY(api()), {.infra_id = infra_id_});
    std::map<std::string, std::string> states;
    do {
      const std::vector<Item> machines = TRY(own.machines(context));
      for (const Item& machine : machines) {
        const std::string state = machine.fact("state");
        if (std::exchange(states[machine.machine], state) == state) continue;
        context.events.emit({.kind = "machine",
                             .name = machine.machine,
                             .phase = sys::Phase::progress,
                             .fields = {{"state", state}, {"reason", machine.fact("reason")}}});
      }
    } while (sys::pause(context, between_looks));
    return Ok{};
  }

  Result<std::vector<sys::Event>> events() override { return std::vector<sys::Event>(); }

  Result<std::vector<BundleFile>> bundle_files(const sys::Context& context) override {
    Resources own(*TRY(api()), {.infra_id = infra_id_});
    const std::vector<Item> existing = TRY(own.machines(context));
    if (existing.empty()) return no_machines();
    std::vector<BundleFile> files;
    std::string table;
    for (const Item& machine : existing) {
      table += emit_json({{"name", machine.machine},
                          {"id", machine.id},
                          {"state", machine.fact("state")},
                          {"address", machine.fact("address")},
                          {"reason", machine.fact("reason")}},
                         JsonStyle::compact) +
               "\n";
      const Result<std::string> log = console_log(context, machine);
      files.push_back(
          {fmt::format("host/{}.console.log", machine.machine), log.ok() ? log.value() : log.error().message() + "\n"});
    }
    files.push_back({"host/machines.jsonl", std::move(table)});
    return files;
  }

  Result<std::optional<HostAccess>> host_access() override {
    std::optional<HostAccess> access = access_by_virtual_addresses(TRY(assets::read_config(environment_.files, directory_)));
    if (!access) return access;
    Resources own(*TRY(api()), {.infra_id = infra_id_});
    Addresses addresses = TRY(floating_addresses(own.work(environment_.context)));
    if (!addresses.api.empty()) access->address = std::move(addresses.api);
    if (!addresses.applications.empty()) access->applications = std::move(addresses.applications);
    return access;
  }

 private:
  // The machines to create, and their Ignition configs.
  struct Inputs {
    std::vector<PlannedMachine> planned{};
    std::map<std::string, std::string> configs{};

    // The container is removed with the bootstrap machine, so machines that are added later need a config that fits.
    Result<> add(const config::InstallConfig& config, const Machine& machine, const std::string& ignition,
                 bool may_point = true) {
      const std::string& text = configs[machine.name] = TRY(with_names(ignition, machine.name, config, ApiNames::in_hosts));
      const bool fits = TRY(assets::fits(text, limit_of(config)));
      if (!fits && !may_point) {
        return error(Code::invalid, "machine {}: its Ignition config has {} bytes, in base64 more than the {} of user data",
                     machine.name, text.size(), limit_of(config).bytes);
      }
      planned.push_back({machine, !fits});
      return Ok{};
    }
  };

  // Where clients outside of the cloud reach the cluster; empty: by the virtual addresses.
  struct Addresses {
    std::string api{};
    std::string applications{};
  };

  static OsImageSource image_source(ClusterSelection& selection, const Json& section, const std::string& directory) {
    OsImageSource source{.file = selection.options["os-image"],
                         .repository = selection.options["os-repo"],
                         .programs = selection.options["programs"],
                         .work_folder = directory + "/.slipway"};
    if (source.file.empty()) source.url = image_url(section);
    return source;
  }

  static assets::UserDataLimit limit_of(const config::InstallConfig& config) {
    return *assets::user_data_limit(config.platform.type);
  }

  Result<Inputs> inputs_of(const config::InstallConfig& config, const std::vector<MachineGroup>& groups) const {
    Inputs inputs;
    for (const Machine& machine : planned_machines(config)) {
      if (const MachineGroup* group = group_of(groups, machine.name)) TRY(inputs.add(config, machine, group->ignition));
    }
    return inputs;
  }

  Result<plan::Plan> plan_of(const Work& work, const ClusterRequest& request, const Inputs& inputs, const Site& site) {
    std::string image = TRY(imported_image(work, request.config, site));
    return cluster_plan({.config = request.config,
                         .infra_id = infra_id_,
                         .site = site,
                         .image = std::move(image),
                         .release = request.release,
                         .release_version = request.release_version},
                        inputs.planned);
  }

  // New machines boot the image of the existing ones.
  Result<std::string> imported_image(const Work& work, const config::InstallConfig& config, const Site& site) {
    if (!site.user_image.empty()) return std::string();
    const std::vector<Item> machines = TRY(work.all(machine_kind));
    if (std::ranges::any_of(machines, &Item::is_ours)) {
      for (const Item& image : TRY(work.all(image_kind))) {
        if (image.is_whole) return image.name;
      }
    }
    const std::string identity = TRY(image_.identify(work.context));
    return os_image_name(identity, find_object(config.platform.section, {"clusterOSImageProperties"}));
  }

  Result<std::vector<plan::Change>> changes_of(const sys::Context& context, Resources& own, const plan::Plan& wanted) const {
    return plan::preview_changes(context, own, TRY(plan::Journal::read(journal_path())), wanted);
  }

  // What an interrupted run has created needs no quota any more.
  Result<ProjectCheck> check(const Work& work, const config::InstallConfig& config, const Site& site,
                             const plan::Plan& missing) const {
    ProjectCheck found = TRY(check_project(work, config, site, missing));
    const bool has_import = std::ranges::find(missing, image_kind, &plan::Resource::kind) != missing.end();
    if (has_import && image_.source().is_made()) release::check_disk_image_host(found.problems, "qcow2");
    return found;
  }

  // `config` and `inputs` must outlive the result.
  ResourceInputs resource_inputs(const config::InstallConfig& config, const Inputs& inputs) {
    const auto config_of = [this, &config, &inputs](const std::string& machine,
                                                    const std::optional<Pointer>& pointer) -> Result<std::string> {
      const auto found = inputs.configs.find(machine);
      if (found == inputs.configs.end()) return error(Code::internal, "machine {}: has no Ignition config", machine);
      if (!pointer) return found->second;
      return fetching_config(found->second, *pointer, config);
    };
    return {.infra_id = infra_id_,
            .expires = expires_,
            .os_image = &image_,
            .sha512 = [this](const sys::Context& context, const std::string& path) -> Result<std::string> {
              const std::string output =
                  TRY(sys::run_checked(environment_.runner, context, {.argv = {"sha512sum", path}}).context(path));
              return output.substr(0, output.find(' '));
            },
            .new_key = [this]() -> Result<std::string> { return hex(TRY(environment_.random.bytes(key_size))); },
            .config = config_of};
  }

  // The small config that fetches the whole one. The server may be signed by the authority of the cloud.
  Result<std::string> fetching_config(const std::string& whole, const Pointer& pointer, const config::InstallConfig& config) {
    ignition::Config made = TRY(assets::make_fetching_config(whole, pointer.url, config, limit_of(config)));
    for (const net::Header& header : pointer.headers) {
      made.ignition.config.replace.http_headers.push_back({.name = header.name, .value = header.value});
    }
    made.ignition.timeouts.http_response_headers = fetch_seconds;
    const std::string authority = TRY(api())->login().tls.ca_pem;
    if (!authority.empty()) {
      made.ignition.security.tls.certificate_authorities.push_back(
          {.source = ignition::encode_data_url(authority, ignition::DataEncoding::base64)});
    }
    return emit_json(ignition::to_json(made), JsonStyle::compact);
  }

  Result<Addresses> floating_addresses(const Work& work) {
    Addresses addresses;
    for (const Item& item : TRY(work.all(floating_ip_kind))) {
      if (item.name == named(infra_id_, "api")) addresses.api = item.fact("address");
      if (item.name == named(infra_id_, "ingress")) addresses.applications = item.fact("address");
    }
    const config::InstallConfig config = TRY(assets::read_config(environment_.files, directory_));
    for (const auto& [field, address] :
         {std::pair{"apiFloatingIP", &addresses.api}, {"ingressFloatingIP", &addresses.applications}}) {
      if (std::string given = text_of(config.platform.section, {field}); !given.empty()) *address = std::move(given);
    }
    return addresses;
  }

  static bool is_off(const Item& machine) { return machine.fact("state") == "SHUTOFF"; }

  Result<> start_machine(const sys::Context& context, const Item& machine) {
    TRY(TRY(api())->send(context, {.service = Service::nova,
                                   .action = "StartServer",
                                   .object = machine.name,
                                   .effect = Effect::once,
                                   .method = "POST",
                                   .target = fmt::format("/servers/{}/action", machine.id),
                                   .body = JsonObject{{"os-start", nullptr}},
                                   .expected = {Failure::in_use}}));  // it is on already
    return Ok{};
  }

  // The end of what the machine has written to its serial console.
  Result<std::string> console_log(const sys::Context& context, const Item& machine) {
    const Reply reply = TRY(TRY(api())->send(context, {.service = Service::nova,
                                                       .action = "GetConsoleOutput",
                                                       .object = machine.name,
                                                       .method = "POST",
                                                       .target = fmt::format("/servers/{}/action", machine.id),
                                                       .body = JsonObject{{"os-getConsoleOutput", JsonObject()}}}));
    return text_of(reply.json, {"output"});
  }

  static MachineStatus status_of(const Item& machine) {
    const std::string state = machine.fact("state");
    const bool is_on = state == "ACTIVE" || state == "BUILD";
    return {.name = machine.machine,
            .state = state,
            .reason = is_on ? "" : machine.fact("reason"),
            .address = machine.fact("address"),
            .is_on = is_on};
  }

  Result<Api*> api() {
    std::lock_guard lock(mutex_);
    if (!api_) {
      Login login = TRY(find_login(environment_.files, variable, cloud_));
      api_ = std::make_unique<Api>(environment_, std::move(login));
    }
    return api_.get();
  }

  Result<plan::Journal> open_journal() { return plan::Journal::open(environment_.context.clock, journal_path()); }

  std::string journal_path() const { return fmt::format("{}/{}", directory_, assets::resources_file); }

  Error no_machines() const { return error(Code::not_found, "{}: has no machines of cluster {}", place(), infra_id_); }
  Error no_commands(const std::string& machine) const {
    return error(Code::unavailable, "machine {}: Nova runs no commands in machines (log in with SSH)", machine);
  }

  const net::Environment environment_;
  const std::string infra_id_;
  const std::string directory_;
  const std::string cloud_;
  const std::string expires_;
  OsImage image_;
  std::mutex mutex_;  // of api_
  std::unique_ptr<Api> api_;
};

}  // namespace

Result<std::unique_ptr<Provider>> open_openstack_provider(const net::Environment& environment, ClusterSelection selection) {
  const std::string text = selection.options["platform"];
  const Json section = text.empty() ? Json(JsonObject()) : TRY(parse_json(text, "platform.openstack"));
  std::unique_ptr<Provider> made = std::make_unique<OpenstackProvider>(environment, std::move(selection), section);
  return made;
}

}  // namespace slipway::provider::openstack
