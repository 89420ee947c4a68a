#include "provider/libvirt/config_drive.h"

#include "sys/temp_dir.h"

namespace slipway::provider::libvirt {

Result<std::string> make_config_drive(const net::Environment& environment, const std::string& ignition) {
  Findings host;
  sys::find_missing(host, config_drive_programs);
  TRY(host.to_result().context("Ignition config on a medium"));
  const sys::TempDir work = TRY(sys::TempDir::make("config-drive"));
  const std::string content = work.path() + "/content", medium = work.path() + "/medium.iso";
  TRY(environment.files.write(content + "/openstack/latest/user_data", ignition, 0600));
  TRY(environment.files.write(content + "/openstack/latest/meta_data.json", "{}\n", 0600));
  TRY(sys::run_checked(environment.runner, environment.context,
                       {.argv = {"xorriso", "-as", "mkisofs", "-quiet", "-volid", "config-2", "-joliet", "-rational-rock",
                                 "-output", medium, content}}));
  return environment.files.read(medium);
}

}  // namespace slipway::provider::libvirt
