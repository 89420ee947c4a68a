#include "cli/bootstrap_inputs.h"

#include "assets/bootstrap_ignition.h"
#include "net/ip.h"

#include <algorithm>
#include <cstdlib>

namespace slipway::cli {

namespace {

constexpr const char* image_variable = "SLIPWAY_IMAGE";
constexpr const char* node_ip_variable = "OPENSHIFT_INSTALL_BOOTSTRAP_NODE_IP";

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Ours name their images by a registry that cannot exist (docs/decisions/0003-release-layout.md), also in mirrors.
bool is_of_slipway(const release::Release& release) {
  const std::string_view registry = assets::slipway_repository.substr(0, assets::slipway_repository.find('/'));
  return std::ranges::any_of(release.components, [&](const auto& each) { return each.second.image.registry == registry; });
}

// The release of this program's version in every mirror of slipway's own releases.
std::vector<std::string> mirrored_images(const config::InstallConfig& config, std::string_view version) {
  std::vector<std::string> images;
  for (const auto* list : {&config.image_digest_sources, &config.image_content_sources}) {
    for (const config::MirrorSource& each : *list) {
      if (each.source != assets::slipway_repository) continue;
      for (const std::string& mirror : each.mirrors) {
        if (release::parse_repository(mirror).ok()) images.push_back(fmt::format("{}:{}", mirror, version));
      }
    }
  }
  return images;
}

}  // namespace

BootstrapVariables bootstrap_variables() { return {value_of(image_variable), value_of(node_ip_variable)}; }

Result<> add_bootstrap_inputs(assets::Environment& made, const sys::Context& context, const config::InstallConfig& config,
                              const release::Release& release, const BootstrapVariables& variables, std::string_view version) {
  if (net::is_ip(variables.bootstrap_node_ip)) {
    made.bootstrap_node_ip = variables.bootstrap_node_ip;
  } else if (!variables.bootstrap_node_ip.empty()) {
    context.log.warn("{} is not used: '{}' is no IP address", node_ip_variable, variables.bootstrap_node_ip);
  }
  made.release_has_slipway_node = is_of_slipway(release);
  if (made.release_has_slipway_node) return Ok{};
  if (variables.slipway_image.empty()) {
    made.slipway_images = mirrored_images(config, version);
    return Ok{};
  }
  TRY(release::parse_reference(variables.slipway_image).context(image_variable));
  made.slipway_images = {variables.slipway_image};
  return Ok{};
}

}  // namespace slipway::cli
