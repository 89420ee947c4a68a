#include "machineconfig/machine_state.h"

#include "machineconfig/labels.h"
#include "machineconfig/node_annotations.h"

#include <fmt/core.h>

namespace slipway::machineconfig {

std::string MachineState::text() const { return image.empty() ? config : fmt::format("{} with image {}", config, image); }

MachineConfig with_image(MachineConfig config, const std::string& image) {
  if (image.empty()) return config;
  config.os_image_url = image;
  config.annotations[std::string(image_overridden)] = image;
  return config;
}

// Rendering sets the annotation to "true" if a MachineConfig of a user has an image.
MachineState state_of(const MachineConfig& config) {
  const auto found = config.annotations.find(std::string(image_overridden));
  const bool has_own = found != config.annotations.end() && !config.os_image_url.empty() && found->second == config.os_image_url;
  return {.config = config.name, .image = has_own ? config.os_image_url : ""};
}

namespace {

MachineState state_in(const Json& node, std::string_view config, std::string_view image) {
  MachineState state{.config = text_of(node, {"metadata", "annotations", config})};
  if (!state.config.empty()) state.image = text_of(node, {"metadata", "annotations", image});
  return state;
}

}  // namespace

MachineState desired_state(const Json& node) { return state_in(node, desired_config, desired_image); }

MachineState coming_state(const Json& node) { return state_in(node, coming_config, coming_image); }

}  // namespace slipway::machineconfig
