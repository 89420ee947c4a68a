#include "provider/host_names.h"

#include "ignition/make.h"
#include "ignition/parse.h"
#include "ignition/validate.h"

#include <fmt/core.h>

namespace slipway::provider {

Result<std::string> with_names(const std::string& text, const std::string& machine, const config::InstallConfig& config,
                               ApiNames names) {
  ignition::Config named = TRY(ignition::read_config(text, "the Ignition config of " + machine)).config;
  ignition::put(named, ignition::make_file("/etc/hostname", machine + "\n", 0644));
  if (names == ApiNames::in_hosts) {
    std::string hosts = "127.0.0.1 localhost\n::1 localhost\n";
    for (const std::string& address : config::api_vips(config)) {
      hosts += fmt::format("{0} api.{1} api-int.{1}\n", address, config.cluster_domain());
    }
    ignition::put(named, ignition::make_file("/etc/hosts", hosts, 0644));
  }
  return emit_json(ignition::to_json(named), JsonStyle::compact);
}

}  // namespace slipway::provider
