// Data from registries and files, any bytes. The first byte selects the parser: m manifest, i index, r release documents
// (references, a zero byte, metadata), c credentials, w WWW-Authenticate, l layer.
#include "base/check.h"
#include "release/challenge.h"
#include "release/credentials.h"
#include "release/layer_reader.h"
#include "release/manifest.h"
#include "release/release.h"

#include <algorithm>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway::release;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const RawManifest raw{guess_media_type(text), std::string(text), Digest::of(text)};
  switch (data[0]) {
    case 'm': static_cast<void>(parse_image_manifest(raw).ok()); break;
    case 'i': static_cast<void>(parse_image_index(raw).ok()); break;
    case 'c': static_cast<void>(Credentials::parse(text, "fuzz").ok()); break;
    case 'w': CHECK(parse_challenges(text).size() <= text.size()); break;
    case 'r': {
      const std::size_t end = std::min(text.find('\0'), text.size());
      const auto release = parse_release(raw.digest, text.substr(0, end), text.substr(std::min(end + 1, text.size())));
      if (release.ok()) static_cast<void>(release->component("etc").ok());
      break;
    }
    case 'l': {
      const LayerLimits limits{.file = 1u << 16, .layer = 1u << 20};
      const auto found = [&](LayerName name, const std::string& content) -> slipway::Result<> {
        CHECK(!name.empty() && name.front() != '/' && content.size() <= limits.file);
        return slipway::Ok{};
      };
      static_cast<void>(read_layer(
                            text, [](LayerName name) { return name.size() % 2 == 0; }, found, limits)
                            .ok());
      break;
    }
  }
  return 0;
}
