#include "cli/preview.h"

#include "assets/preview/preview.h"
#include "cli/asset_inputs.h"
#include "cli/cluster_directory.h"
#include "cli/create_assets.h"
#include "cli/local_options.h"
#include "cli/output_option.h"
#include "cli/prices.h"
#include "cluster/install.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

namespace slipway::cli {

namespace {

using assets::Target;

constexpr std::array<Target, 5> targets = {Target::install_config, Target::manifests, Target::ignition_configs,
                                           Target::single_node_ignition_config, Target::cluster};

Target target_of(const Arguments& arguments) {
  const std::string& name = arguments["TARGET"];
  return *std::ranges::find(targets, name, assets::to_string);  // the parser allows only these choices
}

struct Preview {
  assets::Folder folder;
  assets::Environment inputs;
  assets::Plan plan;
};

// Takes no lock, because a lock is a file. While another command runs, the preview may be inconsistent.
Result<Preview> preview(const Environment& environment, const Arguments& arguments) {
  assets::Folder folder = TRY(open_assets(environment, arguments["--dir"]));
  const assets::Request request = target_request(environment, target_of(arguments));
  assets::Environment inputs;
  if (request.target != Target::install_config) {
    inputs =
        TRY(asset_inputs(environment, arguments, folder.config.config, std::nullopt, false, request.target == Target::cluster));
  }
  assets::Plan plan = TRY(assets::plan_target(request, folder, inputs, environment.random));
  for (const std::string& warning : plan.warnings) environment.context.log.warn("{}", warning);
  return Preview{std::move(folder), std::move(inputs), std::move(plan)};
}

// What `create cluster` would do on the platform. Empty for platforms without resources that slipway plans.
Result<std::optional<provider::plan::Preview>> preview_platform(const Environment& environment, const Arguments& arguments,
                                                                const Preview& seen) {
  const config::InstallConfig& config = seen.folder.config.config;
  if (target_of(arguments) != Target::cluster || !provider::has_provider(config.platform.type)) {
    return std::optional<provider::plan::Preview>();
  }
  ClusterDirectory known = new_cluster_directory(environment, absolute(arguments["--dir"]), config);
  known.id = seen.plan.assets->id;
  const OpenedProvider machines = TRY(open_machines(environment, arguments, known, ProviderUse::new_cluster));
  if (!machines->capabilities().plans_resources) return std::optional<provider::plan::Preview>();
  TRY(machines->check_config(config));
  const provider::ClusterRequest request{
      .config = config, .id = known.id, .release = seen.inputs.release_image, .release_version = seen.inputs.release_version};
  return std::optional(TRY(cluster::preview(environment.context, *machines, request, *seen.plan.assets)));
}

Result<> show_plan(const Environment& environment, const Arguments& arguments) {
  const Preview seen = TRY(preview(environment, arguments));
  const Target target = target_of(arguments);
  const auto platform = TRY(preview_platform(environment, arguments, seen));
  std::optional<provider::plan::Costs> costs;
  if (platform) costs = TRY(costs_on(environment, arguments, seen.folder.config.config.platform.type, platform->priced));
  if (arguments["--output"] == "json") {
    Json document = plan_json(target, seen.plan);
    if (platform) document.as_object()["platform"] = provider::plan::preview_json(*platform, costs);
    environment.print(emit_json(document, JsonStyle::pretty));
  } else {
    environment.print(plan_text(target, seen.plan));
    if (platform) environment.print(provider::plan::preview_text(*platform, costs));
  }
  if (platform && platform->has_work()) environment.exit_status = static_cast<int>(ExitStatus::changes);
  return Ok{};
}

Result<> show_difference(const Environment& environment, const Arguments& arguments) {
  const Preview seen = TRY(preview(environment, arguments));
  environment.print(diff_text(seen.folder.files, seen.plan));
  return Ok{};
}

Command command(std::string words, std::string summary, Result<> (*run_it)(const Environment&, const Arguments&)) {
  std::vector<std::string> names;
  for (const Target target : targets) names.emplace_back(to_string(target));
  return {.words = std::move(words),
          .summary = std::move(summary),
          .positionals = {{.name = "TARGET",
                           .value = "TARGET",
                           .help = "target of `create`",
                           .fallback = std::string(to_string(Target::ignition_configs)),
                           .choices = std::move(names)}},
          .options = asset_input_options(),
          .run = run_it};
}

}  // namespace

Command plan_command() {
  Command made =
      command("plan",
              "Show which files a target of `create` would write, change and consume, and why; for target cluster also "
              "what would be created on the platform, and its costs",
              show_plan);
  made.options.push_back(output_option());
  std::ranges::move(
      std::vector{prices_option(), os_repo_option(), images_option(), os_image_option(), state_of_directory_option()},
      std::back_inserter(made.options));
  return made;
}

Command diff_command() {
  return command("diff", "Show what a target of `create` would change in existing files, without secrets", show_difference);
}

}  // namespace slipway::cli
