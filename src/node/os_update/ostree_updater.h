// OstreeUpdater: the OsUpdater of machines with slipway's own OS, by the program ostree.
#pragma once

#include "node/os_update/updater.h"
#include "node/program.h"
#include "release/image_source.h"

#include <functional>

namespace slipway::node {

// Runs on the machine itself, as root, with a writable /sysroot and /boot (sys/own_mounts.h); trial() needs neither.
class OstreeUpdater final : public OsUpdater {
 public:
  // Called when an image has to be fetched.
  using OpenSource = std::function<Result<std::unique_ptr<release::ImageSource>>()>;

  OstreeUpdater(const Environment& environment, OpenSource open_source);

  Result<> fetch(const std::string& image) override;
  Result<> stage(Wanted wanted) override;
  Result<Trial> trial() override;
  Result<> accept() override;
  Result<> forget() override;

  // Ends a trial that nobody has accepted in time: records why, and makes the deployment before the next one that boots. Does
  // nothing without a trial. Returns whether the machine has to reboot.
  Result<bool> give_up();

 private:
  Result<> boot_running_deployment();
  Result<std::string> describe_failure();

  const Environment& environment_;
  OpenSource open_source_;
};

}  // namespace slipway::node
