#include "node/first_boot.h"

#include "base/flags.h"
#include "base/text.h"
#include "machineconfig/types.h"
#include "node/os_update/deployments.h"
#include "node/os_update/host_updater.h"
#include "node/os_update/machine_updater.h"
#include "node/os_update/status.h"

#include <algorithm>

namespace slipway::node {

namespace {

using machineconfig::MachineConfig;

Result<bool> has_arguments(const Environment& environment, const MachineConfig& config) {
  const std::string line = TRY(environment.files.read("/proc/cmdline"));
  const std::vector<std::string> running = single_arguments({line});
  return std::ranges::all_of(single_arguments(config.kernel_arguments),
                             [&](const std::string& argument) { return std::ranges::find(running, argument) != running.end(); });
}

// A kernel has its FIPS mode from its first start on.
void report_fips(const Environment& environment, const MachineConfig& config) {
  const auto fips = environment.files.read_if_exists("/proc/sys/crypto/fips_enabled");
  const bool has_fips = fips.ok() && fips.value() && trim(*fips.value()) == "1";
  if (config.fips != has_fips) {
    environment.context.log.warn("the config has FIPS mode {}, the kernel has {}; continuing", config.fips ? "on" : "off",
                                 has_fips ? "on" : "off");
  }
}

Result<> reboot_into(const Environment& environment, OsUpdater& os, const MachineConfig& config, const Images& missing) {
  if (TRY(attempts_left(environment)) == 0) {
    return error(Code::conflict,
                 "the operating system {} with the kernel arguments '{}' did not start completely in three attempts, so this "
                 "machine runs the one that it was created with. See the log of the console; then create the machine again",
                 config.os_image_url, join(config.kernel_arguments, " "));
  }
  if (missing != Images{}) TRY(os.fetch(missing));
  TRY(os.stage(Wanted::first_config));
  environment.context.log.info("rebooting into the operating system, the kernel arguments and the extensions of {}", config.name);
  // systemd stops this program while it waits for systemctl, or afterwards.
  const Result<std::string> reboot = sys::run_checked(environment.runner, environment.context, {.argv = {"systemctl", "reboot"}});
  if (!reboot.ok() && reboot.error().code() != Code::cancelled) return reboot.error();
  // The kubelet must not start before the reboot.
  environment.context.clock.wait(environment.context.clock.steady() + no_limit, environment.context.stop, nullptr, 0);
  return error(Code::cancelled, "the machine reboots");
}

Result<> complete(const Environment& environment, OsUpdater& os) {
  const Json object = TRY(parse_json(TRY(environment.files.read(first_config_file)), first_config_file));
  const MachineConfig config = TRY(machineconfig::parse_machine_config(object, first_config_file));
  report_fips(environment, config);
  const Images images = TRY(images_of(config).context(first_config_file));
  const bool has_all = images == Images{} || TRY(runs_images(environment, images).context(first_config_file));
  if (!has_all || !TRY(has_arguments(environment, config))) {
    return reboot_into(environment, os, config, has_all ? Images{} : images);
  }
  return environment.files.remove(first_config_file);
}

}  // namespace

Result<> complete_first_boot(const Environment& environment, OsUpdater& os) {
  if (!TRY(environment.files.info(first_config_file))) return Ok{};  // an earlier run removed it
  sys::Span span(environment.context.events, environment.context.clock, "first-boot", first_config_file);
  return span.end(complete(environment, os));
}

Result<> run_first_boot(const Environment& environment, const Arguments& arguments) {
  TRY(parse_flags("firstboot-complete-machineconfig", {{.name = "persist-nics", .is_switch = true}}, arguments));
  HostUpdater os(environment);
  return complete_first_boot(environment, os);
}

}  // namespace slipway::node
