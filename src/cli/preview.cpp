#include "cli/preview.h"

#include "assets/preview/preview.h"
#include "cli/asset_inputs.h"
#include "cli/create_assets.h"
#include "cli/output_option.h"

#include <algorithm>
#include <array>

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
  assets::Plan plan;
};

// Takes no lock, because a lock is a file. While another command runs, the preview may be inconsistent.
Result<Preview> preview(const Environment& environment, const Arguments& arguments) {
  assets::Folder folder = TRY(open_assets(environment, arguments["--dir"]));
  const assets::Request request = target_request(environment, target_of(arguments));
  assets::Environment inputs;
  if (request.target != Target::install_config) {
    inputs = TRY(asset_inputs(environment, arguments, folder.config.config, std::nullopt, false));
  }
  assets::Plan plan = TRY(assets::plan_target(request, folder, inputs, environment.random));
  for (const std::string& warning : plan.warnings) environment.context.log.warn("{}", warning);
  return Preview{std::move(folder), std::move(plan)};
}

Result<> show_plan(const Environment& environment, const Arguments& arguments) {
  const assets::Plan plan = TRY(preview(environment, arguments)).plan;
  const Target target = target_of(arguments);
  environment.print(arguments["--output"] == "json" ? emit_json(plan_json(target, plan), JsonStyle::pretty)
                                                    : plan_text(target, plan));
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
  Command made = command("plan", "Show which files a target of `create` would write, change and consume, and why", show_plan);
  made.options.push_back(output_option());
  return made;
}

Command diff_command() {
  return command("diff", "Show what a target of `create` would change in existing files, without secrets", show_difference);
}

}  // namespace slipway::cli
