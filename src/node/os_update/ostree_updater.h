// OstreeUpdater: the OsUpdater of machines with slipway's own OS, by the program ostree.
#pragma once

#include "node/os_update/machine_updater.h"
#include "node/program.h"
#include "release/image_source.h"

#include <functional>

namespace slipway::node {

// Runs on the machine itself, as root, with a writable /sysroot and /boot (sys/own_mounts.h); trial() needs neither.
class OstreeUpdater final : public MachineUpdater {
 public:
  // Called when an image has to be fetched.
  using OpenSource = std::function<Result<std::unique_ptr<release::ImageSource>>()>;

  OstreeUpdater(const Environment& environment, OpenSource open_source);

  Result<> fetch(const Images& images) override;
  Result<> stage(Wanted wanted) override;
  Result<Trial> trial() override;
  Result<> accept() override;
  Result<> forget() override;
  Result<bool> give_up() override;

 private:
  Result<> boot_running_deployment();

  const Environment& environment_;
  OpenSource open_source_;
};

}  // namespace slipway::node
