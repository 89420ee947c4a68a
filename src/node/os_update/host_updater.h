// HostUpdater: an OsUpdater for processes that cannot change the OS themselves, because they run in a container of the machine or
// with a read-only /sysroot. It runs `slipway-node os` (command.h) of the machine, in the machine's mounts.
#pragma once

#include "node/os_update/updater.h"
#include "node/program.h"

#include <string>
#include <vector>

namespace slipway::node {

// The process must have the root of the machine and its process IDs.
class HostUpdater final : public OsUpdater {
 public:
  explicit HostUpdater(const Environment& environment) : environment_(environment) {}

  Result<> fetch(const Images& images) override;
  Result<> check(const machineconfig::MachineConfig& from, const machineconfig::MachineConfig& to) override;
  Result<> stage(Wanted wanted) override;
  Result<Trial> trial() override;
  Result<> accept() override;
  Result<> forget() override;

 private:
  Result<std::vector<std::string>> proxies();
  Result<std::string> run(std::vector<std::string> arguments);

  const Environment& environment_;
};

// The arguments of `slipway-node os` that fetch the images. Pure.
std::vector<std::string> fetch_arguments(const Images& images);

// A line of JSON, for the answer of `os trial`. Pure. errors: invalid
std::string to_text(const Trial& trial);
Result<Trial> parse_trial(std::string_view text);
std::string_view to_text(Wanted wanted);

}  // namespace slipway::node
