// Any bytes as a state file: parsing terminates, and parsed state is written and parsed to the same state. It names manifests
// only.
#include "assets/state.h"
#include "assets/user_files.h"
#include "base/check.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  const auto state = assets::parse_state({reinterpret_cast<const char*>(data), size});
  if (!state.ok()) return 0;
  for (const auto& [path, content] : state->user.files) {
    CHECK(assets::is_manifest_path(path));
    CHECK(path.find('/') == path.rfind('/'));
  }
  const auto again = assets::parse_state(assets::state_text(state.value()));
  CHECK(again.ok());
  CHECK(again.value() == state.value());
  return 0;
}
