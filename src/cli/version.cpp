#include "cli/version.h"

namespace slipway::cli {

Result<> version(const Environment& environment, const Arguments& arguments) {
  const Json text = {{"version", SLIPWAY_VERSION}};
  environment.print(arguments["--output"] == "json" ? emit_json(text, JsonStyle::pretty)
                                                    : fmt::format("slipway {}\n", SLIPWAY_VERSION));
  return Ok{};
}

}  // namespace slipway::cli
