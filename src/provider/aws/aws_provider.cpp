#include "provider/aws/aws_provider.h"

#include "assets/ignition/split_config.h"
#include "assets/store.h"
#include "base/digest.h"
#include "config/names.h"
#include "ignition/make.h"
#include "ignition/parse.h"
#include "ignition/validate.h"
#include "provider/aws/cluster_plan.h"
#include "provider/aws/owned_clusters.h"
#include "provider/aws/preflight.h"
#include "provider/aws/prices.h"
#include "provider/aws/resources.h"
#include "provider/os_image.h"
#include "provider/plan/apply.h"
#include "provider/planned_machines.h"
#include "release/disk_image.h"
#include "sys/environment_variable.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace slipway::provider::aws {

namespace {

constexpr Milliseconds between_looks(15'000);  // EC2 has no stream of events

// Ignition writes the names that Nodes have.
Result<std::string> with_name(const std::string& text, const std::string& machine) {
  ignition::Config named = TRY(ignition::read_config(text, "the Ignition config of " + machine)).config;
  ignition::put(named, ignition::make_file("/etc/hostname", machine + "\n", 0644));
  return emit_json(ignition::to_json(named), JsonStyle::compact);
}

std::string variable(const std::string& name) { return sys::environment_variable(name); }

class AwsProvider final : public Provider {
 public:
  AwsProvider(const net::Environment& environment, ClusterSelection selection, const Json& section)
      : environment_(environment),
        infra_id_(selection.options["infra-id"]),
        directory_(selection.options["directory"]),
        region_(selection.options["place"].empty() ? text_of(section, {"region"}) : selection.options["place"]),
        domain_(text_of(section, {"clusterDomain"})),
        expires_(selection.options["expires"]),
        os_image_{.file = selection.options["os-image"],
                  .repository = selection.options["os-repo"],
                  .programs = selection.options["programs"],
                  .work_folder = directory_ + "/.slipway"},
        api_(environment_, {.region = region_, .endpoints = find_array(section, {"serviceEndpoints"})}, variable) {
    const std::string role = text_of(section, {"hostedZoneRole"});
    if (role.empty()) return;
    zone_api_.emplace(environment_,
                      ApiSettings{.region = region_, .endpoints = find_array(section, {"serviceEndpoints"}), .role = role},
                      variable);
  }

  // Users of `create ignition-configs` create machines with the names that EC2 gives.
  Capabilities capabilities() const override {
    return {.plans_resources = true, .marks_expiry = true, .has_foreign_machines = true};
  }

  std::string place() const override { return fmt::format("aws {}", region_); }

  Result<> check_config(const config::InstallConfig& config) const override { return aws::check_config(config); }

  Result<std::vector<Machine>> plan(const config::InstallConfig& config) const override { return planned_machines(config); }

  Result<> check_name(const std::string& name) const override { return check_machine_name(name); }

  Result<int> pace(const sys::Context&) override { return 1; }

  Result<ExistingCluster> find(const assets::ClusterId&) override {
    ExistingCluster found;
    if (infra_id_.empty()) return found;
    Resources own = own_resources();
    const std::vector<Item> machines = TRY(own.machines(environment_.context));
    for (const Item& machine : machines) {
      found = {ExistingCluster::Of::this_cluster, machine.fact("release"), machine.fact("version")};
    }
    if (machines.empty()) {
      const std::vector<plan::Found> others = TRY(own.scan(environment_.context));
      if (std::ranges::any_of(others, &plan::Found::is_ours)) found.of = ExistingCluster::Of::this_cluster;
    }
    return found;
  }

  Result<> preflight(const sys::Context& context, const ClusterRequest& request,
                     const std::vector<MachineGroup>& groups) override {
    const Inputs inputs = TRY(inputs_of(request.config, groups));
    Resources own = resources(request.config, inputs);
    if (!TRY(own.machines(context)).empty()) return Ok{};
    const plan::Plan wanted = TRY(plan_of(own.work(context), request, inputs));
    const std::vector<plan::Change> changes = TRY(changes_of(context, own, wanted));
    return TRY(check(own.work(context), request.config, wanted, changes)).problems.to_result();
  }

  Result<> create(const sys::Context& context, const ClusterRequest& request, const std::vector<MachineGroup>& groups) override {
    Inputs inputs = TRY(inputs_of(request.config, groups));
    Resources own = resources(request.config, inputs);
    const plan::Plan wanted = TRY(plan_of(own.work(context), request, inputs));
    plan::Journal journal = TRY(open_journal());
    return plan::apply(context, own, journal, wanted);
  }

  Result<> start(const sys::Context& context, const ClusterRequest&) override {
    Resources own = own_resources();
    for (const Item& machine : TRY(own.machines(context))) {
      if (is_off(machine)) TRY(start_machine(context, machine));
    }
    return Ok{};
  }

  Result<MachineStatus> add(const sys::Context& context, const std::string& name, const std::string& ignition) override {
    TRY(add_all(context, {name}, ignition));
    Resources own = own_resources();
    for (const Item& machine : TRY(own.machines(context))) {
      if (machine.machine == name) return status_of(machine);
    }
    return error(Code::internal, "machine {}: was created, but {} does not list it", name, place());
  }

  // A machine that exists may lack its registrations with load balancers, after a kill.
  Result<> add_all(const sys::Context& context, const std::vector<std::string>& names, const std::string& ignition) override {
    const config::InstallConfig config = TRY(assets::read_config(environment_.files, directory_));
    Inputs inputs;
    Resources own = resources(config, inputs);
    const std::vector<Item> existing = TRY(own.machines(context));
    if (existing.empty()) return no_machines();
    for (const std::string& name : names) {
      const Machine planned{.name = name, .role = "worker"};
      const auto machine = std::ranges::find(existing, name, &Item::machine);
      if (machine == existing.end()) {
        TRY(inputs.add(config, planned, ignition, false));
        continue;
      }
      if (is_off(*machine)) TRY(start_machine(context, *machine));
      inputs.planned.push_back({.machine = planned});
    }
    const assets::ClusterId id{.infra_id = infra_id_, .cluster_id = {}};
    const ClusterRequest request{.config = config,
                                 .id = id,
                                 .release = existing.front().fact("release"),
                                 .release_version = existing.front().fact("version")};
    const plan::Plan whole = TRY(plan_of(own.work(context), request, inputs));
    plan::Journal journal = TRY(open_journal());
    return plan::apply(context, own, journal, plan::of_machines(whole, names));
  }

  Result<std::vector<MachineStatus>> list(const sys::Context& context) override {
    Resources own = own_resources();
    const std::vector<Item> existing = TRY(own.machines(context));
    if (existing.empty()) return no_machines();
    std::vector<MachineStatus> all;
    for (const Item& machine : existing) all.push_back(status_of(machine));
    std::ranges::sort(all, {}, &MachineStatus::name);
    return all;
  }

  Result<> remove(const sys::Context& context, const std::string& name) override {
    plan::Journal journal = TRY(open_journal());
    Resources own = own_resources();
    return plan::destroy(context, own, journal, [&](const plan::Found& found) { return found.machine == name; });
  }

  Result<> remove_all(const sys::Context& context) override {
    if (infra_id_.empty()) return Ok{};
    plan::Journal journal = TRY(open_journal());
    Resources own = own_resources();
    return plan::destroy(context, own, journal);
  }

  Result<plan::Preview> preview(const sys::Context& context, const ClusterRequest& request,
                                const std::vector<MachineGroup>& groups) override {
    const Inputs inputs = TRY(inputs_of(request.config, groups));
    Resources own = resources(request.config, inputs);
    plan::Plan wanted = TRY(plan_of(own.work(context), request, inputs));
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
      AccountCheck found = TRY(check(own.work(context), request.config, wanted, preview.changes));
      preview.quotas = std::move(found.quotas);
      preview.missing_permissions = std::move(found.missing_permissions);
      preview.problems = std::move(found.problems);
    }
    for (const PlannedMachine& planned : inputs.planned) {
      const std::string& name = planned.machine.name;
      preview.user_data.push_back({name, inputs.configs.at(name).size(), limit_of(request.config).bytes, planned.has_pointer});
    }
    return preview;
  }

  Result<std::vector<plan::Found>> resources(const sys::Context& context) override {
    Resources own = own_resources();
    std::vector<plan::Found> found = TRY(own.scan(context));
    std::erase_if(found, [](const plan::Found& each) { return !each.is_ours; });
    return found;
  }

  Result<plan::Drift> refresh(const sys::Context& context) override {
    plan::Journal journal = TRY(open_journal());
    Resources own = own_resources();
    return plan::refresh(context, own, journal);
  }

  Result<std::vector<OwnedCluster>> clusters(const sys::Context& context) override { return owned_clusters(context, api_); }

  Result<sys::Output> run(const sys::Context&, const std::string& machine, sys::Command) override { return no_commands(machine); }
  Result<std::string> probe(const sys::Context&, const std::string& machine, const ProbeRequest&) override {
    return no_commands(machine);
  }

  Result<> follow(const sys::Context& context) override {
    Resources own = own_resources();
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
    Resources own = own_resources();
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

  // The API and the applications have names that everybody resolves.
  Result<std::optional<HostAccess>> host_access() override { return std::optional<HostAccess>(); }

 private:
  // The machines to create, and their Ignition configs.
  struct Inputs {
    std::vector<PlannedMachine> planned{};
    std::map<std::string, std::string> configs{};

    // The bucket is removed with the bootstrap machine, so machines that are added later need a small config.
    Result<> add(const config::InstallConfig& config, const Machine& machine, const std::string& ignition,
                 bool may_point = true) {
      const std::string& text = configs[machine.name] = TRY(with_name(ignition, machine.name));
      const bool fits = TRY(assets::fits(text, limit_of(config)));
      if (!fits && !may_point) {
        return error(Code::invalid, "machine {}: its Ignition config has {} bytes, but user data has at most {}", machine.name,
                     text.size(), limit_of(config).bytes);
      }
      planned.push_back({machine, !fits});
      return Ok{};
    }
  };

  static assets::UserDataLimit limit_of(const config::InstallConfig& config) {
    return assets::user_data_limit(config.platform.type)
        .value_or(assets::UserDataLimit{"aws", config::UserDataForm::plain, largest_user_data});
  }

  Result<Inputs> inputs_of(const config::InstallConfig& config, const std::vector<MachineGroup>& groups) const {
    Inputs inputs;
    for (const Machine& machine : planned_machines(config)) {
      if (const MachineGroup* group = group_of(groups, machine.name)) TRY(inputs.add(config, machine, group->ignition));
    }
    return inputs;
  }

  Result<plan::Plan> plan_of(const Work& work, const ClusterRequest& request, const Inputs& inputs) const {
    Region region = TRY(read_region(work, request.config));
    std::string image = TRY(imported_image(work, request.config));
    return cluster_plan({.config = request.config,
                         .infra_id = infra_id_,
                         .region = std::move(region),
                         .image = std::move(image),
                         .release = request.release,
                         .release_version = request.release_version},
                        inputs.planned);
  }

  // What machines without amiID boot: new machines the same as existing ones.
  Result<std::string> imported_image(const Work& work, const config::InstallConfig& config) const {
    if (!imports_image(config)) return std::string();
    for (const Item& machine : TRY(work.all(machine_kind))) {
      const std::string role = machine.fact("role");
      if (!role.empty() && image_of(config, role).empty()) return machine.fact("image");
    }
    return os_image_name(TRY(identify_os_image(environment_.with(work.context), os_image_)));
  }

  Result<std::vector<plan::Change>> changes_of(const sys::Context& context, Resources& own, const plan::Plan& wanted) const {
    return plan::preview_changes(context, own, TRY(plan::Journal::read(journal_path())), wanted);
  }

  // What an interrupted run has created needs no quota any more.
  Result<AccountCheck> check(const Work& work, const config::InstallConfig& config, const plan::Plan& wanted,
                             const std::vector<plan::Change>& changes) const {
    const plan::Plan missing = plan::missing_of(wanted, changes);
    AccountCheck found = TRY(check_account(work, config, missing));
    const bool makes_image =
        os_image_.is_made() && std::ranges::find(missing, image_kind, &plan::Resource::kind) != missing.end();
    if (makes_image) release::check_disk_image_host(found.problems, "raw");
    return found;
  }

  Resources own_resources() {
    return Resources(api_, {.infra_id = infra_id_, .domain = domain_, .zone_api = zone_api_ ? &*zone_api_ : nullptr});
  }

  // `config` and `inputs` must outlive the result.
  Resources resources(const config::InstallConfig& config, const Inputs& inputs) {
    Parameters tags;
    if (!expires_.empty()) tags.emplace_back(expires_tag, expires_);
    for (const auto& tag : find_object(config.platform.section, {"userTags"})) {
      tags.emplace_back(tag.key(), text_of(tag.value(), {}));
    }
    const auto config_of = [&config, &inputs](const std::string& machine, const std::string& url) -> Result<std::string> {
      const auto found = inputs.configs.find(machine);
      if (found == inputs.configs.end()) return error(Code::internal, "machine {}: has no Ignition config", machine);
      if (url.empty()) return found->second;
      const ignition::Config pointer = TRY(assets::make_fetching_config(found->second, url, config, limit_of(config)));
      return emit_json(ignition::to_json(pointer), JsonStyle::compact);
    };
    const auto os_image_file = [this](const sys::Context& context, const std::string& name) {
      return provider::os_image_file(environment_.with(context), os_image_, "aws", "raw", name);
    };
    const auto forget_os_image_file = [this](const std::string& path) -> Result<> {
      return os_image_.file.empty() ? environment_.files.remove(path) : Ok{};
    };
    return Resources(api_, {.infra_id = infra_id_,
                            .domain = config.cluster_domain(),
                            .tags = std::move(tags),
                            .zone_api = zone_api_ ? &*zone_api_ : nullptr,
                            .os_image_file = os_image_file,
                            .forget_os_image_file = forget_os_image_file,
                            .config = config_of});
  }

  static bool is_off(const Item& machine) { return machine.fact("state") == "stopped" || machine.fact("state") == "stopping"; }

  Result<> start_machine(const sys::Context& context, const Item& machine) {
    TRY(api_.send(context, {.action = "StartInstances",
                            .object = machine.name,
                            .effect = Effect::once,
                            .parameters = {{"InstanceId.1", machine.id}}}));
    return Ok{};
  }

  // The end of what the machine has written to its serial console.
  Result<std::string> console_log(const sys::Context& context, const Item& machine) {
    const Reply reply = TRY(
        api_.send(context, {.action = "GetConsoleOutput", .object = machine.name, .parameters = {{"InstanceId", machine.id}}}));
    std::string text = reply.xml.text_at({"output"});
    std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
    return base64_decode(text);
  }

  static MachineStatus status_of(const Item& machine) {
    const std::string state = machine.fact("state");
    const bool is_on = state == "running" || state == "pending";
    return {.name = machine.machine,
            .state = state,
            .reason = is_on ? "" : machine.fact("reason"),
            .address = machine.fact("address"),
            .is_on = is_on};
  }

  Result<plan::Journal> open_journal() { return plan::Journal::open(environment_.context.clock, journal_path()); }

  std::string journal_path() const { return fmt::format("{}/{}", directory_, assets::resources_file); }

  Error no_machines() const { return error(Code::not_found, "{}: has no machines of cluster {}", place(), infra_id_); }
  Error no_commands(const std::string& machine) const {
    return error(Code::unavailable, "machine {}: EC2 runs no commands in machines (log in with SSH)", machine);
  }

  const net::Environment environment_;
  const std::string infra_id_;
  const std::string directory_;
  const std::string region_;
  const std::string domain_;
  const std::string expires_;
  const OsImageSource os_image_;
  Api api_;
  std::optional<Api> zone_api_;  // with hostedZoneRole
};

}  // namespace

Result<std::unique_ptr<Provider>> open_aws_provider(const net::Environment& environment, ClusterSelection selection) {
  const std::string text = selection.options["platform"];
  const Json section = text.empty() ? Json(JsonObject()) : TRY(parse_json(text, "platform.aws"));
  std::unique_ptr<Provider> made = std::make_unique<AwsProvider>(environment, std::move(selection), section);
  return made;
}

}  // namespace slipway::provider::aws
