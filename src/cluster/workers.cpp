#include "cluster/workers.h"

#include "base/digest.h"
#include "cluster/local_cluster.h"
#include "cluster/ready.h"
#include "kube/conditions.h"
#include "kube/drain.h"
#include "kube/roles.h"
#include "sys/events.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::cluster {

namespace local = provider::local;

namespace {

constexpr Milliseconds longest_join = Seconds(30 * 60);
constexpr Milliseconds longest_drain = Seconds(10 * 60);
// Of writers of the table; there are few.
constexpr int conflicts = 5;

constexpr std::string_view config_space = "openshift-machine-api";
constexpr std::string_view config_secret = "worker-user-data";

const local::MachineStatus* find_machine(const std::vector<local::MachineStatus>& machines, const std::string& name) {
  const auto found = std::ranges::find(machines, name, &local::MachineStatus::name);
  return found == machines.end() ? nullptr : &*found;
}

// One step of the way, told as an event.
Result<> step(const sys::Context& context, std::string name, std::string description, const std::function<Result<>()>& work) {
  sys::Span span(context.events, context.clock, "step", std::move(name), {{"description", std::move(description)}});
  return span.end(work());
}

// What is known of a cluster's machines.
struct Known {
  std::vector<local::MachineStatus> machines;
  std::vector<MachineRow> rows;
  std::vector<Json> nodes;
};

Result<Known> look_around(const Environment& environment, const WorkerGround& where) {
  const sys::Context& context = environment.context;
  Known known;
  known.machines = TRY(local::list_machines(context, environment.files, where.ground.choice(where.cluster)));
  const auto table = TRY(kube::find(context, where.api, kube::types::config_maps, machine_table_space, machine_table_name));
  if (table) known.rows = TRY(machine_rows(*table));
  known.nodes = TRY(kube::list(context, where.api, kube::types::nodes, ""));
  return known;
}

std::optional<Json> node_of(const Known& known, const std::string& name) {
  const auto found = std::ranges::find_if(known.nodes, [&](const Json& node) { return kube::name_of(node) == name; });
  if (found == known.nodes.end()) return std::nullopt;
  return *found;
}

std::vector<std::string> names_of(const Known& known) {
  std::vector<std::string> names;
  for (const local::MachineStatus& machine : known.machines) names.push_back(machine.name);
  for (const MachineRow& row : known.rows) names.push_back(row.name);
  for (const Json& node : known.nodes) names.emplace_back(kube::name_of(node));
  return names;
}

Result<> check_worker(const Known& known, const std::string& name) {
  TRY(local::check_name("machine", name));
  const auto problem = no_worker(name, known.rows, node_of(known, name));
  if (problem) return error(Code::invalid, "{}", *problem);
  return Ok{};
}

// Changes the table; `change` says whether it has to be written.
Result<> change_table(const sys::Context& context, kube::Api& api, const std::function<bool(std::vector<MachineRow>&)>& change) {
  for (int tried = 1;; ++tried) {
    const auto found = TRY(kube::find(context, api, kube::types::config_maps, machine_table_space, machine_table_name));
    std::vector<MachineRow> rows;
    if (found) rows = TRY(machine_rows(*found));
    if (!change(rows)) return Ok{};
    const Json fresh = {{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata", {{"namespace", machine_table_space}, {"name", machine_table_name}}}};
    const Json wanted = with_machine_rows(found.value_or(fresh), rows);
    const Result<Json> written = found ? kube::update(context, api, kube::types::config_maps, wanted)
                                       : kube::create(context, api, kube::types::config_maps, wanted);
    if (written.ok()) return Ok{};
    if (written.error().code() != Code::conflict || tried == conflicts) return written.error();
  }
}

// The config with which machines ask the cluster for theirs: it has the token and the CA of today.
Result<std::string> worker_config(const sys::Context& context, kube::Api& api) {
  const auto secret = TRY(kube::find(context, api, kube::types::secrets, config_space, config_secret));
  if (!secret) {
    return error(Code::not_found, "Secret {}/{} is missing: it has the config that new workers begin with", config_space,
                 config_secret);
  }
  return base64_decode(TRY(require_string(*secret, {"data", "userData"}).context(kube::describe(*secret))));
}

// Makes the machine, or switches on the one that is there; its address.
Result<std::string> ensure_machine(const Environment& environment, const WorkerGround& where, const std::string& name,
                                   bool is_there) {
  const sys::Context& context = environment.context;
  const local::ClusterChoice choice = where.ground.choice(where.cluster);
  local::Request request{.order = local::Order::start, .machines = {name}};
  if (!is_there) {
    request.order = local::Order::create;
    request.ignition = TRY(worker_config(context, where.api));
    const local::ClusterConfig made = TRY(local::read_cluster(environment.files, choice));
    TRY(local::preflight(
        context, environment.files, choice, {.os_repo = made.os_repo, .images = made.images},
        {{.names = {name}, .ignition = request.ignition, .inotify_instances = local::inotify_of_worker, .is_of_cluster = true}}));
  }
  TRY(local::ensure_owner(context, environment.files, choice));
  const Json answer = TRY(local::ask(context, choice, request));
  for (const Json& each : find_array(answer, {"machines"})) {
    const local::MachineStatus machine = TRY(local::parse_machine_status(each));
    if (machine.name == name) return machine.address;
  }
  return error(Code::internal, "the machine {} was made and is not there", name);
}

Result<> wait_until_ready(const Environment& environment, const WorkerGround& where, const std::string& name) {
  const local::ClusterChoice choice = where.ground.choice(where.cluster);
  return kube::wait_until(environment.context, where.api, fmt::format("{} to be Ready", name), longest_join, kube::types::nodes,
                          "", {.fields = "metadata.name=" + name},
                          [&](const kube::Objects& found) -> Result<std::optional<std::string>> {
                            std::optional<std::string> missing = missing_nodes(found, {name}, "worker");
                            if (!missing) return missing;
                            const auto machines = local::list_machines(environment.context, environment.files, choice);
                            const std::string why = machines.ok() ? machine_troubles(machines.value(), {name}) : "";
                            if (!why.empty()) *missing += "; " + why;
                            return missing;
                          });
}

}  // namespace

std::string next_worker_name(const std::vector<std::string>& taken) {
  for (int i = 0;; ++i) {
    std::string name = fmt::format("worker-{}", i);
    if (std::ranges::find(taken, name) == taken.end()) return name;
  }
}

std::optional<std::string> no_worker(const std::string& name, const std::vector<MachineRow>& rows,
                                     const std::optional<Json>& node) {
  if (name == "bootstrap") return "bootstrap is the name of the bootstrap machine";
  const auto row = std::ranges::find(rows, name, &MachineRow::name);
  const bool is_master_row = row != rows.end() && row->role != "worker";
  const bool is_master_node = node && kube::has_role(*node, kube::master_label);
  if (!is_master_row && !is_master_node) return std::nullopt;
  return fmt::format("{} is of the control plane, not a worker", name);
}

bool has_other_home(const std::vector<Json>& nodes, const std::string& leaving) {
  return std::ranges::any_of(nodes, [&](const Json& node) {
    const Json* closed = find(node, {"spec", "unschedulable"});
    const bool is_tainted = std::ranges::any_of(find_array(node, {"spec", "taints"}), [](const Json& taint) {
      return find_string(taint, {"effect"}) != "PreferNoSchedule";
    });
    return kube::name_of(node) != leaving && kube::condition_status(node, "Ready") == "True" &&
           !(closed && *closed == Json(true)) && !is_tainted;
  });
}

Result<std::string> create_local_worker(const Environment& environment, const WorkerGround& where, const std::string& wanted) {
  const sys::Context& context = environment.context;
  const Known known = TRY(look_around(environment, where));
  const std::string name = wanted.empty() ? next_worker_name(names_of(known)) : wanted;
  TRY(check_worker(known, name));
  const bool is_there = find_machine(known.machines, name) != nullptr;
  if (!is_there && node_of(known, name)) {
    return error(Code::conflict,
                 "the cluster still has a node {}, whose machine is gone; `slipway destroy worker {}` makes it forget it", name,
                 name);
  }
  std::string address;
  TRY(step(context, "worker-machine", fmt::format("the machine {} is made", name), [&]() -> Result<> {
    address = TRY(ensure_machine(environment, where, name, is_there));
    return Ok{};
  }));
  TRY(step(context, "worker-row", fmt::format("{} may join", name), [&] {
    return change_table(context, where.api, [&](std::vector<MachineRow>& rows) {
      const MachineRow row{name, "worker", {address}};
      const auto found = std::ranges::find(rows, name, &MachineRow::name);
      if (found != rows.end() && *found == row) return false;
      if (found != rows.end()) rows.erase(found);
      rows.push_back(row);
      return true;
    });
  }));
  TRY(step(context, "worker-ready", fmt::format("{} is Ready", name),
           [&] { return wait_until_ready(environment, where, name); }));
  return name;
}

Result<> destroy_local_worker(const Environment& environment, const WorkerGround& where, const std::string& name, bool force) {
  const sys::Context& context = environment.context;
  const local::ClusterChoice choice = where.ground.choice(where.cluster);
  const Known known = TRY(look_around(environment, where));
  TRY(check_worker(known, name));
  const std::optional<Json> node = node_of(known, name);
  const std::vector<std::string> names = names_of(known);
  if (std::ranges::find(names, name) == names.end()) {
    return error(Code::not_found, "there is no worker {} in cluster {}", name, where.cluster);
  }
  if (node && !has_other_home(known.nodes, name)) {
    context.log.warn(
        "{} is the last node that takes ordinary pods: what people run, and the routers in front of it, stop until "
        "there is another",
        name);
  }
  if (node && !force) {
    // A kubelet that does not answer ends no pod; they go with the node.
    const bool answers = kube::condition_status(*node, "Ready") == "True";
    TRY(step(context, "worker-drained", fmt::format("pods leave {}", name), [&]() -> Result<> {
      TRY(kube::set_schedulable(context, where.api, name, false));
      if (!answers) return Ok{};
      Result<> drained = kube::drain(context, where.api, name, longest_drain);
      if (drained.ok() || drained.error().code() != Code::timeout) return drained;
      return error(Code::timeout, "{}; with --force they are not waited for", drained.error().message());
    }));
  }
  TRY(step(context, "worker-removed", fmt::format("the machine {} is removed", name), [&]() -> Result<> {
    if (!find_machine(known.machines, name)) return Ok{};
    TRY(local::ensure_owner(context, environment.files, choice));
    TRY(local::ask(context, choice, {.order = local::Order::destroy, .machines = {name}}));
    return Ok{};
  }));
  // First the row, so that nobody joins by this name any more.
  return step(context, "worker-forgotten", fmt::format("the cluster forgets {}", name), [&]() -> Result<> {
    TRY(change_table(context, where.api, [&](std::vector<MachineRow>& rows) {
      return std::erase_if(rows, [&](const MachineRow& row) { return row.name == name; }) > 0;
    }));
    return kube::remove(context, where.api, kube::types::nodes, "", name);
  });
}

}  // namespace slipway::cluster
