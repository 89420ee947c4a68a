// Any text as an install-config: loading never crashes, and the effective config of an effective config is the same.
#include "base/check.h"
#include "base/yaml.h"
#include "config/install_config.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  const auto loaded = config::load_install_config({reinterpret_cast<const char*>(data), size}, "f");
  if (!loaded.ok()) return 0;
  const auto again = config::load_install_config(emit_yaml(loaded->config.effective), "f");
  CHECK(again.ok());
  CHECK(again->config.effective == loaded->config.effective);
  return 0;
}
