#include "node/os_update/updater.h"

#include "base/text.h"
#include "machineconfig/update_plan.h"
#include "node/os_update/image.h"

namespace slipway::node {

Result<Images> images_of(const machineconfig::MachineConfig& config) {
  TRY(machineconfig::check_kernel_type(config));
  Images images{.os = config.os_image_url, .wanted_extensions = machineconfig::wanted_extensions(config)};
  if (images.wanted_extensions.empty()) return images;
  images.extensions = config.extensions_image;
  if (images.extensions.empty()) {
    return error(Code::invalid, "{}: empty, so there is no image with {}", extensions_image_field,
                 join(images.wanted_extensions, ", "));
  }
  return images;
}

}  // namespace slipway::node
