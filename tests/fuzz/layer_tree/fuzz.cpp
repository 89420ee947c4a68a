// A layer of any bytes is applied to a tree, twice. Nothing beside the tree changes, whatever links the layer makes.
#include "base/check.h"
#include "release/layer_tree.h"
#include "sys/files.h"
#include "sys/temp_dir.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  static const sys::TempDir folder = sys::TempDir::make("fuzz-layer").value();
  static sys::RealClock clock;
  static Log log(Level::error, [](Level, std::string_view) {});
  static sys::Events events(clock, "fuzz");
  const std::string layer = folder.path() + "/layer", tree = folder.path() + "/tree", outside = folder.path() + "/outside";
  sys::RealFiles files;
  CHECK(files.remove(tree).ok() && files.make_directories(tree, 0755).ok());
  CHECK(files.write(outside + "/file", "content", 0640).ok());
  CHECK(files.write(layer, {reinterpret_cast<const char*>(data), size}, 0600).ok());
  for (int i = 0; i < 2; ++i) static_cast<void>(release::apply_layer({clock, log, events}, {.path = layer}, tree).ok());
  CHECK(files.list(folder.path()).value() == std::vector<std::string>({"layer", "outside", "tree"}));
  CHECK(files.list(outside).value() == std::vector<std::string>({"file"}));
  CHECK(files.read(outside + "/file").value() == "content" && files.info(outside + "/file").value()->mode == 0640);
  return 0;
}
