#include "cli/prices.h"

#include "data/data.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::cli {

Option prices_option() {
  return {.name = "--prices",
          .value = "FILE",
          .help = "JSON file with prices, in the form of data/provider/aws/prices.json (default: that file, on platform aws)"};
}

Result<std::optional<provider::plan::Costs>> costs_on(const Environment& environment, const Arguments& arguments,
                                                      const std::string& platform,
                                                      const std::vector<provider::plan::Priced>& items) {
  std::string text;
  std::string path = fmt::format("{}/prices.json", platform);
  if (arguments.has("--prices")) {
    path = arguments["--prices"];
    text = TRY(environment.files.read(path));
  } else {
    const auto files = data::provider();
    const auto found = std::ranges::find(files, std::string_view(path), &data::File::path);
    if (found == files.end()) return std::optional<provider::plan::Costs>();
    text = found->content;
  }
  const Json prices = TRY(parse_json(text, path));
  return std::optional(TRY(provider::plan::costs_of(items, prices)));
}

}  // namespace slipway::cli
