#include "cli/output_option.h"

namespace slipway::cli {

Option output_option(std::string help) {
  return {.name = "--output", .value = "text|json", .help = std::move(help), .fallback = "text", .choices = {"text", "json"}};
}

}  // namespace slipway::cli
