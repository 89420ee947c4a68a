#include "provider/fake/fake_provider.h"

#include <fmt/core.h>

#include <utility>

namespace slipway::provider::fake {

Result<> FakeProvider::changed(std::string call) {
  {
    std::lock_guard lock(mutex_);
    calls.push_back(call);
  }
  if (after_change) return after_change(call);
  return Ok{};
}

void FakeProvider::put(const std::string& name, const std::string& ignition) {
  std::lock_guard lock(mutex_);
  if (existing.of == ExistingCluster::Of::nothing) existing.of = ExistingCluster::Of::this_cluster;
  const auto [machine, is_new] = machines.try_emplace(name);
  if (is_new) {
    machine->second = {{.name = name, .state = "running", .address = fmt::format("192.0.2.{}", 9 + machines.size())}, ignition};
  }
  machine->second.status.is_on = true;
}

Result<std::vector<Machine>> FakeProvider::plan(const config::InstallConfig& config) const {
  std::vector<Machine> planned = {{"bootstrap", "bootstrap"}};
  for (int i = 0; i < config.control_plane.replicas; ++i) planned.push_back({fmt::format("master-{}", i), "master"});
  for (int i = 0; i < config.compute_replicas(); ++i) planned.push_back({fmt::format("worker-{}", i), "worker"});
  for (std::size_t i = 0; i < planned.size() && plans_addresses; ++i) planned[i].address = fmt::format("192.0.2.{}", 10 + i);
  return planned;
}

Result<> FakeProvider::check_name(const std::string& name) const {
  if (name.find('/') == std::string::npos) return Ok{};
  return error(Code::invalid, "'{}' is not the name of a machine", name);
}

Result<ExistingCluster> FakeProvider::find(const assets::ClusterId&) { return existing; }

Result<> FakeProvider::preflight(const sys::Context&, const ClusterRequest&, const std::vector<MachineGroup>&) {
  if (existing.of == ExistingCluster::Of::another_cluster) return error(Code::conflict, "the name belongs to another cluster");
  return Ok{};
}

Result<> FakeProvider::create(const sys::Context&, const ClusterRequest&, const std::vector<MachineGroup>& groups) {
  for (const MachineGroup& group : groups) {
    for (const std::string& name : group.names) put(name, group.ignition);
  }
  return changed("create");
}

Result<> FakeProvider::start(const sys::Context&, const ClusterRequest&) {
  {
    std::lock_guard lock(mutex_);
    for (auto& [name, machine] : machines) machine.status.is_on = true;
  }
  return changed("start");
}

Result<MachineStatus> FakeProvider::add(const sys::Context&, const std::string& name, const std::string& ignition) {
  put(name, ignition);
  TRY(changed("add " + name));
  std::lock_guard lock(mutex_);
  return machines.at(name).status;
}

Result<std::vector<MachineStatus>> FakeProvider::list(const sys::Context&) {
  std::lock_guard lock(mutex_);
  if (existing.of == ExistingCluster::Of::nothing) return error(Code::not_found, "there is no such cluster");
  std::vector<MachineStatus> all;
  for (const auto& [name, machine] : machines) all.push_back(machine.status);
  return all;
}

Result<> FakeProvider::remove(const sys::Context&, const std::string& name) {
  {
    std::lock_guard lock(mutex_);
    if (existing.of == ExistingCluster::Of::nothing) return error(Code::not_found, "there is no such cluster");
    if (machines.erase(name) == 0) return Ok{};
  }
  return changed("remove " + name);
}

Result<> FakeProvider::remove_all(const sys::Context&) {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(existing, {}).of == ExistingCluster::Of::nothing) return Ok{};
    machines.clear();
  }
  return changed("remove all");
}

Result<> FakeProvider::check_machine(const std::string& name) {
  std::lock_guard lock(mutex_);
  if (machines.contains(name)) return Ok{};
  return error(Code::conflict, "machine {} does not run", name);
}

Result<sys::Output> FakeProvider::run(const sys::Context&, const std::string& machine, sys::Command command) {
  TRY(check_machine(machine));
  return answer ? answer(machine, command) : Result(sys::Output{});
}

Result<std::string> FakeProvider::probe(const sys::Context&, const std::string& machine, const ProbeRequest& request) {
  TRY(check_machine(machine));
  std::string lines = "clock 2026-11-22T06:10:00Z\n";
  for (const std::string& port : request.ports) lines += fmt::format("port {} open\n", port);
  return lines;
}

Result<> FakeProvider::follow(const sys::Context& context) {
  context.clock.wait(SteadyTime::max(), context.stop, nullptr, 0);
  return error(Code::cancelled, "stopped");
}

Result<std::vector<sys::Event>> FakeProvider::events() { return std::vector<sys::Event>(); }

Result<std::vector<BundleFile>> FakeProvider::bundle_files(const sys::Context& context) {
  std::string table;
  for (const MachineStatus& machine : TRY(list(context))) table += fmt::format("{{\"name\":\"{}\"}}\n", machine.name);
  return std::vector<BundleFile>{{"host/machines.jsonl", std::move(table)}};
}

Result<std::optional<HostAccess>> FakeProvider::host_access() { return std::optional<HostAccess>(); }

}  // namespace slipway::provider::fake
