// What every program in the images gets. main/slipway_operator.cpp has the list of the programs.
#pragma once

#include "base/result.h"
#include "net/environment.h"

#include <string>
#include <vector>

namespace slipway::components {

using Arguments = std::vector<std::string>;

using Environment = net::Environment;

// A file that a render command writes. The path is relative to the output folder.
struct RenderedFile {
  std::string path;
  std::string content;
  sys::Mode mode = 0644;

  bool operator==(const RenderedFile&) const = default;
};
using RenderedFiles = std::vector<RenderedFile>;

// Writes the files below a folder, each atomically. Folders have mode 0755.
Result<> write_rendered(sys::Files& files, const std::string& folder, const RenderedFiles& rendered);

// Blocks until a stop is requested. For servers whose threads do the work.
void wait_for_stop(const sys::Context& context);

}  // namespace slipway::components
