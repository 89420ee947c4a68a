#include "components/render/manifest_files.h"

#include <algorithm>

namespace slipway::components {

namespace {

Result<> collect(sys::Files& files, const std::string& folder, const std::string& prefix, std::vector<std::string>& found) {
  for (const std::string& name : TRY(files.list(folder))) {
    const std::string path = folder + "/" + name;
    const std::optional<sys::FileInfo> info = TRY(files.info(path));
    if (!info) continue;
    if (info->kind == sys::FileKind::directory) {
      TRY(collect(files, path, prefix + name + "/", found));
    } else {
      found.push_back(prefix + name);
    }
  }
  return Ok{};
}

}  // namespace

Result<std::vector<std::string>> files_below(sys::Files& files, const std::string& folder) {
  std::vector<std::string> found;
  TRY(collect(files, folder, "", found));
  std::ranges::sort(found);
  return found;
}

}  // namespace slipway::components
