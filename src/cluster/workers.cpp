#include "cluster/workers.h"

#include "base/digest.h"
#include "base/number.h"
#include "base/text.h"
#include "cluster/planned_nodes.h"
#include "cluster/ready.h"
#include "kube/conditions.h"
#include "kube/drain.h"
#include "kube/node_volumes.h"
#include "kube/roles.h"
#include "sys/events.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::cluster {

namespace {

constexpr Milliseconds longest_join = Seconds(30 * 60);
constexpr Milliseconds longest_drain = Seconds(10 * 60);
// Retries after conflicts with other writers of the table, which are few.
constexpr int max_attempts = 5;

constexpr std::string_view config_space = "openshift-machine-api";
constexpr std::string_view config_secret = "worker-user-data";

const provider::MachineStatus* find_machine(const std::vector<provider::MachineStatus>& machines, const std::string& name) {
  const auto found = std::ranges::find(machines, name, &provider::MachineStatus::name);
  return found == machines.end() ? nullptr : &*found;
}

// Runs a step and emits it as an event.
Result<> step(const sys::Context& context, std::string name, std::string description, const std::function<Result<>()>& work) {
  sys::Span span(context.events, context.clock, "step", std::move(name), {{"description", std::move(description)}});
  return span.end(work());
}

// The machines of a cluster, their rows in the machine table, and its nodes.
struct ClusterMachines {
  std::vector<provider::MachineStatus> machines;
  kube::MachineTable rows;
  std::vector<Json> nodes;
};

Result<ClusterMachines> find_machines(const Environment& environment, const Workers& where) {
  const sys::Context& context = environment.context;
  ClusterMachines cluster;
  cluster.machines = TRY(where.machines.list(context));
  const auto table =
      TRY(kube::find(context, where.api, kube::types::config_maps, kube::machine_table_space, kube::machine_table_name));
  if (table) cluster.rows = TRY(kube::parse_machine_table(*table));
  cluster.nodes = TRY(kube::list(context, where.api, kube::types::nodes, ""));
  return cluster;
}

std::optional<Json> node_of(const ClusterMachines& cluster, const std::string& name) {
  const auto found = std::ranges::find_if(cluster.nodes, [&](const Json& node) { return kube::name_of(node) == name; });
  if (found == cluster.nodes.end()) return std::nullopt;
  return *found;
}

std::vector<std::string> names_of(const ClusterMachines& cluster) {
  std::vector<std::string> names;
  for (const provider::MachineStatus& machine : cluster.machines) names.push_back(machine.name);
  for (const kube::MachineRow& row : cluster.rows) names.push_back(row.name);
  for (const Json& node : cluster.nodes) names.emplace_back(kube::name_of(node));
  return names;
}

Result<> check_worker(const provider::Provider& machines, const ClusterMachines& cluster, const std::string& name) {
  TRY(machines.check_name(name));
  const auto problem = worker_name_problem(name, cluster.rows, node_of(cluster, name));
  if (problem) return error(Code::invalid, "{}", *problem);
  return Ok{};
}

// Changes the table. `change` returns whether the table has to be written.
Result<> change_table(const sys::Context& context, kube::Api& api, const std::function<bool(kube::MachineTable&)>& change) {
  for (int attempt = 1;; ++attempt) {
    const auto found =
        TRY(kube::find(context, api, kube::types::config_maps, kube::machine_table_space, kube::machine_table_name));
    kube::MachineTable rows;
    if (found) rows = TRY(kube::parse_machine_table(*found));
    if (!change(rows)) return Ok{};
    const Json fresh = {{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata", {{"namespace", kube::machine_table_space}, {"name", kube::machine_table_name}}}};
    const Json wanted = kube::with_machine_table(found.value_or(fresh), rows);
    const Result<Json> written = found ? kube::update(context, api, kube::types::config_maps, wanted)
                                       : kube::create(context, api, kube::types::config_maps, wanted);
    if (written.ok()) return Ok{};
    if (written.error().code() != Code::conflict || attempt == max_attempts) return written.error();
  }
}

// The Ignition config that points new machines to the cluster, with the current token and CA.
Result<std::string> worker_config(const sys::Context& context, kube::Api& api) {
  const auto secret = TRY(kube::find(context, api, kube::types::secrets, config_space, config_secret));
  if (!secret) {
    return error(Code::not_found, "Secret {}/{}: not found, so there is no Ignition config for new workers", config_space,
                 config_secret);
  }
  return base64_decode(TRY(require_string(*secret, {"data", "userData"}).context(kube::describe(*secret))));
}

Result<> wait_until_ready(const Environment& environment, const Workers& where, const std::vector<std::string>& names) {
  const std::string what =
      names.size() == 1 ? fmt::format("{} to be Ready", names.front()) : fmt::format("{} workers to be Ready", names.size());
  const kube::Selection selection{.fields = names.size() == 1 ? "metadata.name=" + names.front() : ""};
  return kube::wait_until(environment.context, where.api, what, longest_join, kube::types::nodes, "", selection,
                          [&](const kube::Objects& found) -> Result<std::optional<std::string>> {
                            std::optional<std::string> missing = missing_nodes(found, names, "worker");
                            if (!missing) return missing;
                            const auto machines = where.machines.list(environment.context);
                            const std::string why = machines.ok() ? machine_problems(machines.value(), names) : "";
                            if (!why.empty()) *missing += "; " + why;
                            return missing;
                          });
}

// Adds rows of workers to the machine table, or corrects them.
Result<> put_rows(const sys::Context& context, kube::Api& api, const std::vector<kube::MachineRow>& wanted) {
  return change_table(context, api, [&](kube::MachineTable& rows) {
    bool has_changed = false;
    for (const kube::MachineRow& row : wanted) {
      const auto found = std::ranges::find(rows, row.name, &kube::MachineRow::name);
      if (found != rows.end() && *found == row) continue;
      if (found != rows.end()) rows.erase(found);
      rows.push_back(row);
      has_changed = true;
    }
    return has_changed;
  });
}

// The number at the end of a name; -1 if there is none.
int number_of(std::string_view name) { return parse_number<int>(name.substr(name.rfind('-') + 1)).value_or(-1); }

}  // namespace

std::string next_worker_name(const std::vector<std::string>& taken) {
  for (int i = 0;; ++i) {
    std::string name = fmt::format("worker-{}", i);
    if (std::ranges::find(taken, name) == taken.end()) return name;
  }
}

std::optional<std::string> worker_name_problem(const std::string& name, const kube::MachineTable& rows,
                                               const std::optional<Json>& node) {
  if (name == "bootstrap") return "bootstrap is the name of the bootstrap machine";
  const auto row = std::ranges::find(rows, name, &kube::MachineRow::name);
  const bool is_master_row = row != rows.end() && row->role != "worker";
  const bool is_master_node = node && kube::has_role(*node, kube::master_label);
  if (!is_master_row && !is_master_node) return std::nullopt;
  return fmt::format("{} is a control plane node, not a worker", name);
}

bool is_worker(const std::string& name, const kube::MachineTable& rows, const std::optional<Json>& node) {
  if (worker_name_problem(name, rows, node)) return false;
  const auto row = std::ranges::find(rows, name, &kube::MachineRow::name);
  return row != rows.end() || node || name.starts_with("worker-");
}

bool has_other_schedulable_node(const std::vector<Json>& nodes, const std::string& except) {
  return std::ranges::any_of(nodes, [&](const Json& node) {
    const Json* closed = find(node, {"spec", "unschedulable"});
    const bool is_tainted = std::ranges::any_of(find_array(node, {"spec", "taints"}), [](const Json& taint) {
      return find_string(taint, {"effect"}) != "PreferNoSchedule";
    });
    return kube::name_of(node) != except && kube::condition_status(node, "Ready") == "True" &&
           !(closed && *closed == Json(true)) && !is_tainted;
  });
}

Result<std::string> create_worker(const Environment& environment, const Workers& where, const std::string& wanted) {
  const sys::Context& context = environment.context;
  const ClusterMachines cluster = TRY(find_machines(environment, where));
  const std::string name = wanted.empty() ? next_worker_name(names_of(cluster)) : wanted;
  TRY(check_worker(where.machines, cluster, name));
  const bool has_machine = find_machine(cluster.machines, name) != nullptr;
  if (!has_machine && node_of(cluster, name)) {
    return error(Code::conflict,
                 "node {}: still exists, but its machine is gone (run `slipway destroy worker {}` to remove the node)", name,
                 name);
  }
  std::string address;
  TRY(step(context, "worker-machine", fmt::format("machine {} is created", name), [&]() -> Result<> {
    const std::string config = has_machine ? "" : TRY(worker_config(context, where.api));
    address = TRY(where.machines.add(context, name, config)).address;
    return Ok{};
  }));
  TRY(step(context, "worker-row", fmt::format("{} is in the machine table", name), [&] {
    return put_rows(context, where.api, {{name, "worker", addresses_of(address)}});
  }));
  TRY(step(context, "worker-ready", fmt::format("{} is Ready", name),
           [&] { return wait_until_ready(environment, where, {name}); }));
  return name;
}

Result<> destroy_worker(const Environment& environment, const Workers& where, const std::string& name, bool force) {
  const sys::Context& context = environment.context;
  const ClusterMachines cluster = TRY(find_machines(environment, where));
  TRY(check_worker(where.machines, cluster, name));
  const std::optional<Json> node = node_of(cluster, name);
  const std::vector<std::string> names = names_of(cluster);
  if (std::ranges::find(names, name) == names.end()) {
    return error(Code::not_found, "worker {}: not found in the cluster", name);
  }
  if (node && !has_other_schedulable_node(cluster.nodes, name)) {
    context.log.warn("{} is the last schedulable node: applications and routers stop until the cluster has another one", name);
  }
  if (node && !force) {
    // The only copy of their data is on the disk of the machine.
    const std::vector<std::string> volumes =
        kube::wanted_volumes(TRY(kube::list(context, where.api, kube::types::volumes, "")), name);
    if (!volumes.empty()) {
      return error(Code::conflict,
                   "worker {}: has the data of {}, which would be lost (delete these claims, or use --force to lose their data)",
                   name, join(volumes, ", "));
    }
    // A kubelet that does not answer does not stop its pods. They are deleted with the node.
    const bool answers = kube::condition_status(*node, "Ready") == "True";
    TRY(step(context, "worker-drained", fmt::format("{} is drained", name), [&]() -> Result<> {
      TRY(kube::set_schedulable(context, where.api, name, false));
      if (!answers) return Ok{};
      Result<> drained = kube::drain(context, where.api, name, longest_drain);
      if (drained.ok() || drained.error().code() != Code::timeout) return drained;
      return error(Code::timeout, "{} (use --force to remove the worker without draining it)", drained.error().message());
    }));
  }
  TRY(step(context, "worker-removed", fmt::format("machine {} is removed", name),
           [&] { return where.machines.remove(context, name); }));
  // The row is deleted first, so that no machine can join with this name afterwards.
  return step(context, "worker-forgotten", fmt::format("node {} is removed", name), [&]() -> Result<> {
    TRY(change_table(context, where.api, [&](kube::MachineTable& rows) {
      return std::erase_if(rows, [&](const kube::MachineRow& row) { return row.name == name; }) > 0;
    }));
    return kube::remove(context, where.api, kube::types::nodes, "", name);
  });
}

Scaled plan_scale(std::vector<std::string> workers, std::vector<std::string> taken, int count) {
  Scaled plan;
  for (int i = static_cast<int>(workers.size()); i < count; ++i) {
    plan.added.push_back(next_worker_name(taken));
    taken.push_back(plan.added.back());
  }
  std::ranges::sort(workers, [](const std::string& a, const std::string& b) {
    return std::pair(number_of(a), a) > std::pair(number_of(b), b);
  });
  const int surplus = static_cast<int>(workers.size()) - count;
  if (surplus > 0) plan.removed.assign(workers.begin(), workers.begin() + surplus);
  return plan;
}

Result<Scaled> scale_workers(const Environment& environment, const Workers& where, int count, bool force) {
  const sys::Context& context = environment.context;
  const ClusterMachines cluster = TRY(find_machines(environment, where));
  std::vector<std::string> workers;
  for (const provider::MachineStatus& machine : cluster.machines) {
    if (is_worker(machine.name, cluster.rows, node_of(cluster, machine.name))) workers.push_back(machine.name);
  }
  Scaled plan = plan_scale(workers, names_of(cluster), count);
  for (const std::string& name : plan.removed) TRY(destroy_worker(environment, where, name, force));
  std::vector<std::string> wanted = plan.added;
  // A worker without a node has not joined yet. One that joined and is not Ready now is not the business of this call.
  for (const std::string& name : workers) {
    if (std::ranges::find(plan.removed, name) == plan.removed.end() && !node_of(cluster, name)) wanted.push_back(name);
  }
  if (wanted.empty()) return plan;
  // Those that exist may have been left in the middle of their creation.
  TRY(step(context, "worker-machines", fmt::format("{} machines are created", wanted.size()),
           [&]() -> Result<> { return where.machines.add_all(context, wanted, TRY(worker_config(context, where.api))); }));
  TRY(step(context, "worker-rows", fmt::format("{} workers are in the machine table", wanted.size()), [&]() -> Result<> {
    const std::vector<provider::MachineStatus> machines = TRY(where.machines.list(context));
    std::vector<kube::MachineRow> rows;
    for (const std::string& name : wanted) {
      if (const provider::MachineStatus* machine = find_machine(machines, name))
        rows.push_back({name, "worker", addresses_of(machine->address)});
    }
    return put_rows(context, where.api, rows);
  }));
  TRY(step(context, "workers-ready", fmt::format("{} workers are Ready", wanted.size()),
           [&] { return wait_until_ready(environment, where, wanted); }));
  return plan;
}

}  // namespace slipway::cluster
