// A provider with machines in memory, for tests of code that uses providers. Machines run as soon as they are created.
#pragma once

#include "provider/provider.h"

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace slipway::provider::fake {

// Threads: any for calls; a test reads and changes the members only while no call runs.
class FakeProvider final : public Provider {
 public:
  struct FakeMachine {
    MachineStatus status;
    std::string ignition;
  };

  std::map<std::string, FakeMachine, std::less<>> machines{};
  ExistingCluster existing{};
  Capabilities can{.runs_commands = true, .adds_masters = true};
  bool plans_addresses = true;
  int usual_pace = 1;
  std::vector<std::string> calls{};  // "create", "add worker-0"
  // Answers of run(), by the machine's name and the first word of the command.
  std::function<Result<sys::Output>(const std::string& machine, const sys::Command& command)> answer{};
  // Called after each call that changed something. If it fails, the call fails with the same error, although the change was made.
  std::function<Result<>(const std::string& call)> after_change{};

  Capabilities capabilities() const override { return can; }
  std::string place() const override { return "memory"; }
  Result<> check_config(const config::InstallConfig&) const override { return Ok{}; }
  Result<int> pace(const sys::Context&) override { return usual_pace; }
  Result<std::vector<Machine>> plan(const config::InstallConfig& config) const override;
  Result<> check_name(const std::string& name) const override;
  Result<ExistingCluster> find(const assets::ClusterId& id) override;
  Result<> preflight(const sys::Context& context, const ClusterRequest& request,
                     const std::vector<MachineGroup>& groups) override;
  Result<> create(const sys::Context& context, const ClusterRequest& request, const std::vector<MachineGroup>& groups) override;
  Result<> start(const sys::Context& context, const ClusterRequest& request) override;
  Result<MachineStatus> add(const sys::Context& context, const std::string& name, const std::string& ignition) override;
  Result<std::vector<MachineStatus>> list(const sys::Context& context) override;
  Result<> remove(const sys::Context& context, const std::string& name) override;
  Result<> remove_all(const sys::Context& context) override;
  Result<sys::Output> run(const sys::Context& context, const std::string& machine, sys::Command command) override;
  Result<std::string> probe(const sys::Context& context, const std::string& machine, const ProbeRequest& request) override;
  Result<> follow(const sys::Context& context) override;
  Result<std::vector<sys::Event>> events() override;
  Result<std::vector<BundleFile>> bundle_files(const sys::Context& context) override;
  Result<std::optional<HostAccess>> host_access() override;

 private:
  Result<> changed(std::string call);
  void put(const std::string& name, const std::string& ignition);
  Result<> check_machine(const std::string& name);

  std::mutex mutex_;
};

}  // namespace slipway::provider::fake
