#include "assets/pointer.h"

#include "ignition/data_url.h"
#include "ignition/parse.h"
#include "net/ip.h"

namespace slipway::assets {

namespace {

constexpr int machine_config_server_port = 22623;

}  // namespace

PointerConfigs make_pointer_configs(const config::InstallConfig& config, const Tls& tls, const ServerToken& token) {
  const std::vector<std::string> vips = config::api_vips(config);
  const std::string host = vips.empty() ? "api-int." + config.cluster_domain() : vips.front();
  auto pointer = [&](std::string_view role) {
    ignition::Config made{.ignition = {.version = ignition::Version::v3_2}};
    made.ignition.config.merge = {
        {.source = fmt::format("https://{}/config/{}", net::host_and_port(host, machine_config_server_port), role),
         .http_headers = {{.name = "Authorization", .value = "Bearer " + token.text.reveal()}}}};
    made.ignition.security.tls.certificate_authorities = {
        {.source = ignition::encode_data_url(tls.find("root-ca")->second.pem, ignition::DataEncoding::base64)}};
    return made;
  };
  return {pointer("master"), pointer("worker")};
}

std::string ignition_text(const ignition::Config& config) { return emit_json(ignition::to_json(config), JsonStyle::compact); }

}  // namespace slipway::assets
