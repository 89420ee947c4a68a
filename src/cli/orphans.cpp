// slipway orphans: the clusters of an account or host, whether their asset directories exist or not.
#include "cli/cluster_commands.h"
#include "cli/cluster_directory.h"
#include "cli/local_options.h"
#include "cli/output_option.h"
#include "cli/prices.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

namespace slipway::cli {

namespace {

struct Row {
  provider::OwnedCluster cluster;
  std::optional<provider::plan::Costs> costs;
  bool is_expired = false;
};

std::string age_of(const Row& row, WallTime now) {
  return row.cluster.created ? human_duration(std::chrono::duration_cast<Milliseconds>(now - *row.cluster.created)) : "unknown";
}

std::string to_text(const std::vector<Row>& rows, WallTime now) {
  std::string text =
      fmt::format("{:<28} {:>9} {:<16} {:<22} {}\n", "INFRA ID", "RESOURCES", "AGE", "EXPIRES", "ESTIMATED COST AN HOUR");
  for (const Row& row : rows) {
    std::string expires = row.cluster.expires ? to_rfc3339(*row.cluster.expires) : "never";
    if (row.is_expired) expires = "expired";
    const std::string costs = row.costs ? fmt::format("{:.3f} {}", row.costs->total(), row.costs->currency) : "unknown";
    text += fmt::format("{:<28} {:>9} {:<16} {:<22} {}\n", row.cluster.infra_id, row.cluster.resources.size(), age_of(row, now),
                        expires, costs);
  }
  const auto priced = std::ranges::find_if(rows, [](const Row& row) { return row.costs.has_value(); });
  if (priced != rows.end()) text += fmt::format("Costs: {}; as of {}\n", priced->costs->of, priced->costs->date);
  return text;
}

Json to_json(const std::vector<Row>& rows) {
  JsonArray clusters;
  for (const Row& row : rows) {
    JsonArray resources;
    for (const std::string& key : row.cluster.resources) resources.emplace_back(key);
    const auto time = [](const std::optional<WallTime>& given) { return given ? Json(to_rfc3339(*given)) : Json(nullptr); };
    clusters.push_back({{"infraID", row.cluster.infra_id},
                        {"created", time(row.cluster.created)},
                        {"expires", time(row.cluster.expires)},
                        {"expired", row.is_expired},
                        {"resources", std::move(resources)},
                        {"costs", row.costs ? provider::plan::costs_json(*row.costs) : Json(nullptr)}});
  }
  return {{"clusters", std::move(clusters)}};
}

Result<> orphans(const Environment& environment, const Arguments& arguments) {
  const ClusterDirectory known{.folder = absolute(arguments["--dir"]),
                               .cluster = {},
                               .id = {},
                               .platform = arguments["--platform"],
                               .place = arguments["--place"]};
  const OpenedProvider opened = TRY(open_machines(environment, arguments, known));
  std::vector<Row> rows;
  const WallTime now = environment.context.clock.now();
  for (provider::OwnedCluster& cluster : TRY(opened->clusters(environment.context))) {
    Row row{.cluster = std::move(cluster), .costs = {}};
    row.costs = TRY(costs_on(environment, arguments, known.platform, row.cluster.priced));
    row.is_expired = row.cluster.expires && *row.cluster.expires <= now;
    rows.push_back(std::move(row));
  }
  environment.print(arguments["--output"] == "json" ? emit_json(to_json(rows), JsonStyle::pretty) : to_text(rows, now));
  return Ok{};
}

}  // namespace

Command orphans_command() {
  Command command{.words = "orphans",
                  .summary = "List the clusters of an account or host, with age, expiry and costs",
                  .options = {prices_option(), state_of_directory_option(), output_option()},
                  .run = orphans};
  std::ranges::move(place_options(), std::back_inserter(command.options));
  for (Option& option : command.options) option.required = option.name == "--platform";
  return command;
}

}  // namespace slipway::cli
