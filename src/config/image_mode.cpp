#include "config/image_mode.h"

namespace slipway::config {

std::string_view to_string(ImageMode mode) {
  switch (mode) {
    case ImageMode::build_on_bootstrap: return "BuildOnBootstrap";
    case ImageMode::pre_built: return "PreBuilt";
    case ImageMode::none: break;
  }
  return "None";
}

std::optional<ImageMode> find_image_mode(std::string_view policy) {
  for (const ImageMode mode : {ImageMode::none, ImageMode::build_on_bootstrap, ImageMode::pre_built}) {
    if (policy == to_string(mode)) return mode;
  }
  return std::nullopt;
}

}  // namespace slipway::config
