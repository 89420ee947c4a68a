#include "components/program/program.h"

namespace slipway::components {

Result<> write_rendered(sys::Files& files, const std::string& folder, const RenderedFiles& rendered) {
  for (const RenderedFile& file : rendered) {
    const std::string path = folder + "/" + file.path;
    TRY(files.make_directories(path.substr(0, path.rfind('/')), 0755));
    TRY(files.write(path, file.content, file.mode));
  }
  return Ok{};
}

void wait_for_stop(const sys::Context& context) {
  while (!context.stop.stop_requested()) {
    context.clock.wait(context.clock.steady() + std::chrono::hours(24), context.stop, nullptr, 0);
  }
}

}  // namespace slipway::components
