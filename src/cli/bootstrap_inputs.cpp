#include "cli/bootstrap_inputs.h"

#include "assets/ignition/bootstrap_ignition.h"
#include "config/names.h"
#include "net/ip.h"
#include "release/release.h"
#include "sys/environment_variable.h"

#include <algorithm>

namespace slipway::cli {

namespace {

constexpr const char* image_variable = "SLIPWAY_IMAGE";
constexpr const char* node_ip_variable = "OPENSHIFT_INSTALL_BOOTSTRAP_NODE_IP";
constexpr const char* profile_variable = "OPENSHIFT_INSTALL_EXPERIMENTAL_CLUSTER_PROFILE";
constexpr const char* os_image_variable = "OPENSHIFT_INSTALL_OS_IMAGE_OVERRIDE";
constexpr std::string_view oauth_server = "oauth-server";

// Releases of slipway name their images by a registry that cannot exist (docs/decisions/0003-release-layout.md), also in mirrors.
bool is_of_slipway(const release::Release& release) {
  const std::string_view registry = assets::slipway_repository.substr(0, assets::slipway_repository.find('/'));
  return std::ranges::any_of(release.components, [&](const auto& each) { return each.second.image.registry == registry; });
}

// The release of this version of the program, in every mirror of slipway's releases.
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

// Empty: the default profile, which every release has.
Result<std::string> chosen_profile(const sys::Context& context, const std::string& profile, bool is_own_release) {
  if (profile.empty() || profile == release::default_profile) return std::string();
  if (!config::is_dns_label(profile))
    return error(Code::invalid, "{}: '{}' is not a valid name of a cluster profile", profile_variable, profile);
  if (is_own_release) {
    return error(Code::invalid, "{}: releases of slipway have no manifests for cluster profile {}, only for {}", profile_variable,
                 profile, release::default_profile);
  }
  context.log.warn("using cluster profile {} from {}", profile, profile_variable);
  return profile;
}

}  // namespace

BootstrapVariables bootstrap_variables() {
  return {sys::environment_variable(image_variable), sys::environment_variable(node_ip_variable),
          sys::environment_variable(profile_variable), sys::environment_variable(os_image_variable)};
}

Result<> add_bootstrap_inputs(assets::Environment& inputs, const sys::Context& context, const config::InstallConfig& config,
                              const release::Release& release, const BootstrapVariables& variables, std::string_view version) {
  if (net::is_ip(variables.bootstrap_node_ip)) {
    inputs.bootstrap_node_ip = variables.bootstrap_node_ip;
  } else if (!variables.bootstrap_node_ip.empty()) {
    context.log.warn("{}: ignored, '{}' is not an IP address", node_ip_variable, variables.bootstrap_node_ip);
  }
  if (!variables.os_image.empty()) {
    context.log.warn(
        "{}: ignored, no asset of platform {} names an image of the operating system (you choose the image when you create the "
        "machines)",
        os_image_variable, config.platform.type);
  }
  inputs.release_has_slipway_node = is_of_slipway(release);
  // Every other release has a login, under any component name.
  inputs.release_has_login = !inputs.release_has_slipway_node || release.components.contains(std::string(oauth_server));
  inputs.cluster_profile = TRY(chosen_profile(context, variables.cluster_profile, inputs.release_has_slipway_node));
  if (inputs.release_has_slipway_node) return Ok{};
  if (variables.slipway_image.empty()) {
    inputs.slipway_images = mirrored_images(config, version);
    return Ok{};
  }
  TRY(release::parse_reference(variables.slipway_image).context(image_variable));
  inputs.slipway_images = {variables.slipway_image};
  return Ok{};
}

}  // namespace slipway::cli
