#include "cli/program_version.h"

namespace slipway::cli {

std::string_view program_version() { return SLIPWAY_VERSION; }
std::string_view program_commit() { return SLIPWAY_COMMIT; }

}  // namespace slipway::cli
