// Any bytes as a live image behind its empty first sectors, and as a config area: parts that are found are inside of the image,
// and a config that is found can be embedded again.
#include "base/check.h"
#include "release/cpio.h"
#include "release/live_image.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  using namespace slipway::release;
  constexpr std::uint64_t before = 16 * 2048;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::uint64_t length = before + size;
  const ReadAt read = [&](std::uint64_t offset, std::size_t count) -> Result<std::string> {
    if (offset < before || offset >= length) return std::string(offset < before ? count : 0, '\0');
    return std::string(bytes.substr(static_cast<std::size_t>(offset - before), count));
  };
  if (const auto image = read_live_image(read, length); image.ok()) {
    for (const Extent& part : {image->config, image->kernel, image->initramfs, image->root})
      CHECK(part.offset <= length && part.length <= length - part.offset);
  }
  if (const auto config = embedded_config(bytes); config.ok()) {
    const auto area = embed_config(config.value(), size + 1024);
    CHECK(area.ok() && embedded_config(area.value()).value() == config.value());
  }
  return 0;
}
