#include "cli/create_assets.h"

#include "assets/store.h"
#include "cli/asset_inputs.h"

#include <algorithm>

namespace slipway::cli {

namespace {

using Create = Result<> (*)(const sys::Context&, sys::Files&, sys::Random&, const std::string&, const assets::Environment&);

Result<> run(Create create, std::string_view made, const Environment& environment, const Arguments& arguments) {
  const std::string& folder = arguments["--dir"];
  const sys::FileLock lock = TRY(lock_assets(environment, folder));
  const assets::Environment inputs = TRY(asset_inputs(environment, arguments, folder));
  TRY(create(environment.context, environment.files, environment.random, folder, inputs));
  environment.context.log.info("{} made in {}", made, folder);
  return Ok{};
}

Result<> create_manifests(const Environment& environment, const Arguments& arguments) {
  return run(assets::create_manifests, "manifests/ and openshift/", environment, arguments);
}

Result<> create_ignition_configs(const Environment& environment, const Arguments& arguments) {
  return run(assets::create_ignition_configs, "bootstrap.ign, master.ign, worker.ign, auth/ and metadata.json", environment,
             arguments);
}

Command command(std::string words, std::string summary, Result<> (*run_it)(const Environment&, const Arguments&)) {
  Command made{.words = std::move(words),
               .summary = std::move(summary),
               .options = {{.name = "--dir",
                            .value = "DIR",
                            .help = "the asset directory, with the install-config.yaml",
                            .fallback = "."}},
               .run = run_it};
  std::ranges::move(asset_input_options(), std::back_inserter(made.options));
  return made;
}

}  // namespace

Command create_manifests_command() {
  return command("create manifests", "Make the manifests of a cluster, to look at and to change", create_manifests);
}

Command create_ignition_configs_command() {
  return command("create ignition-configs", "Make the Ignition configs of the machines of a cluster", create_ignition_configs);
}

}  // namespace slipway::cli
