#include "sys/temp_dir.h"

#include "sys/environment_variable.h"
#include "sys/fd.h"
#include "sys/files.h"

#include <cstdlib>

namespace slipway::sys {

Result<TempDir> TempDir::make(std::string_view purpose) {
  std::string path = fmt::format("{}/slipway-{}-XXXXXX", environment_variable("TMPDIR", "/tmp"), purpose);
  if (!::mkdtemp(path.data())) return system_error("creating a temporary folder " + path);
  return TempDir(std::move(path));
}

TempDir::~TempDir() {
  if (path_.empty()) return;
  // An error cannot be reported here. The name of a folder that is left behind says where it comes from.
  (void)RealFiles().remove(path_).ok();
}

}  // namespace slipway::sys
