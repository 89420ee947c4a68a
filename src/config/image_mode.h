// imageMode.policy of the install-config.
#pragma once

#include <optional>
#include <string_view>

namespace slipway::config {

// Where the operating system images of the first machines come from.
enum class ImageMode {
  none,                // the release
  build_on_bootstrap,  // the bootstrap machine builds that of the control plane
  pre_built,           // they exist
};

// As in the install-config: "BuildOnBootstrap".
std::string_view to_string(ImageMode mode);

// Nothing for another text.
std::optional<ImageMode> find_image_mode(std::string_view policy);

}  // namespace slipway::config
