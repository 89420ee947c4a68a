// make_assets FOLDER: writes the inputs of the render commands of the control plane (tests/support/render_assets.h).
#include "support/render_assets.h"
#include "sys/clock.h"

#include <cstdio>

int main(int argc, char** argv) {
  using namespace slipway;
  if (argc != 2) return 2;
  sys::RealFiles files;
  sys::RealClock clock;
  const Result<> written = testing_support::put_render_assets(files, argv[1], {.now = clock.now()});
  if (written.ok()) return 0;
  fmt::print(stderr, "make_assets: {}\n", written.error().message());
  return 1;
}
