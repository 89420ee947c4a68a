#include "sys/programs.h"

#include "base/text.h"
#include "sys/environment_variable.h"

#include <unistd.h>

namespace slipway::sys {

bool is_in_path(std::string_view program) {
  const std::string path = environment_variable("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
  for (const std::string_view folder : split(path, ':')) {
    if (::access(fmt::format("{}/{}", folder, program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

void find_missing(Findings& findings, std::span<const NeededProgram> programs) {
  for (const NeededProgram& program : programs) {
    if (is_in_path(program.name)) continue;
    findings.error({}, "host", "program {}: not found", program.name).hint(fmt::format("apt-get install {}", program.package));
  }
}

}  // namespace slipway::sys
