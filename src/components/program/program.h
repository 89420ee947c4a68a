// What every program in the images is given and how it is listed in main/slipway_operator.cpp.
#pragma once

#include "base/result.h"
#include "net/environment.h"

#include <string>
#include <vector>

namespace slipway::components {

using Arguments = std::vector<std::string>;

using Environment = net::Environment;

// A file that a render command writes, its path below the output folder.
struct RenderedFile {
  std::string path;
  std::string content;
  sys::Mode mode = 0644;

  bool operator==(const RenderedFile&) const = default;
};
using RenderedFiles = std::vector<RenderedFile>;

// Writes the files below a folder, each as one step; folders are 0755.
Result<> write_rendered(sys::Files& files, const std::string& folder, const RenderedFiles& rendered);

// Returns when a stop is asked for: what servers do while their threads serve.
void wait_for_stop(const sys::Context& context);

}  // namespace slipway::components
