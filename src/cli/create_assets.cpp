#include "cli/create_assets.h"

#include "assets/ignition/size_report.h"
#include "assets/store.h"
#include "base/text.h"
#include "cli/ask.h"
#include "cli/asset_inputs.h"
#include "cli/cloud_credentials.h"
#include "cli/validate.h"
#include "ignition/validate.h"
#include "sys/environment_variable.h"

namespace slipway::cli {

namespace {

constexpr std::size_t most_folders = 3;  // that are listed one by one, as in openshift-install

// "demo/manifests and demo/openshift"; the asset directory for more than three folders.
std::string where(std::vector<std::string> folders, const std::string& directory) {
  if (folders.size() > most_folders) return directory;
  const std::string last = folders.back();
  folders.pop_back();
  return folders.empty() ? last : fmt::format("{} and {}", join(folders, ", "), last);
}

// The Ignition config of the bootstrap machine; empty for targets without one.
std::string_view bootstrap_file(assets::Target target) {
  if (target == assets::Target::ignition_configs) return "bootstrap.ign";
  return target == assets::Target::single_node_ignition_config ? "bootstrap-in-place-for-live-iso.ign" : "";
}

Result<> print_sizes(const Environment& environment, const std::string& path) {
  const std::string text = TRY(environment.files.read(path));
  environment.print(assets::size_report(TRY(ignition::read_config(text, path)).config));
  return Ok{};
}

// answers: an install-config for a folder without one
Result<assets::Folder> open(const Environment& environment, const std::string& path, bool strict,
                            std::optional<config::LoadedConfig> answers) {
  Result<assets::Folder> folder = assets::open_folder(environment.files, path, load_options(environment, strict));
  if (answers && !folder.ok() && folder.error().code() == Code::not_found) {
    return assets::Folder{.path = path, .config = *std::move(answers)};
  }
  return or_exit_unread(environment, path, std::move(folder));
}

Result<> create(const assets::Request& request, const Environment& environment, const Arguments& arguments,
                std::optional<config::LoadedConfig> answers = std::nullopt) {
  const std::string& path = arguments["--dir"];
  const sys::FileLock lock = TRY(lock_assets(environment, path));
  const assets::Folder folder = TRY(open(environment, path, arguments.has("--strict"), std::move(answers)));
  assets::Environment inputs;
  if (request.target != assets::Target::install_config) {
    inputs = TRY(asset_inputs(environment, arguments, folder.config.config));
    inputs.with_machine_os_config = request.target == assets::Target::manifests && arguments.has("--with-machine-os-config");
  }
  const assets::TargetResult result =
      TRY(assets::create_target(environment.context, environment.files, environment.random, folder, inputs, request));
  environment.context.log.info("{} written to {}", to_string(request.target), where(result.folders, path));
  if (result.usable_until) {
    environment.context.log.info("create the machines before {}: certificate {} expires then",
                                 to_rfc3339(result.usable_until->until), result.usable_until->certificate);
  }
  const std::string_view config = bootstrap_file(request.target);
  if (!config.empty() && arguments.has("--size-report")) TRY(print_sizes(environment, fmt::format("{}/{}", path, config)));
  return Ok{};
}

// Uses the existing file, or asks at the terminal.
Result<> create_install_config(const Environment& environment, const Arguments& arguments) {
  const std::string& folder = arguments["--dir"];
  Result<config::InstallConfig> config = assets::read_config(environment.files, folder);
  std::optional<config::LoadedConfig> answers;
  if (!config.ok() && config.error().code() == Code::not_found) {
    const std::string text =
        TRY(or_exit_with(ExitStatus::install_config, environment, ask_for_install_config(environment, folder)));
    answers = TRY(config::load_install_config(text, "your answers", load_options(environment)));
    config = answers->config;
    TRY(environment.files.make_directories(folder, 0755));
  }
  const config::InstallConfig known = TRY(or_exit_unread(environment, folder, std::move(config)));
  TRY(check_cloud_credentials(environment, known, [](const std::string& name) { return sys::environment_variable(name); }));
  return create(target_request(environment, assets::Target::install_config), environment, arguments, std::move(answers));
}

template <assets::Target target>
Result<> run(const Environment& environment, const Arguments& arguments) {
  return create(target_request(environment, target), environment, arguments);
}

Command command(std::string summary, assets::Target target, Result<> (*run_it)(const Environment&, const Arguments&)) {
  Command made{.words = fmt::format("create {}", to_string(target)),
               .summary = std::move(summary),
               .run = run_it,
               .when_interrupted = "run the same command to continue"};
  if (target != assets::Target::install_config) made.options = asset_input_options();
  made.options.push_back(strict_option());
  if (!bootstrap_file(target).empty()) {
    made.options.push_back(
        {.name = "--size-report", .help = "print the parts of the bootstrap machine's config and their sizes, largest first"});
  }
  return made;
}

}  // namespace

assets::Request target_request(const Environment& environment, assets::Target target) {
  return {.target = target, .consumes_install_config = environment.program == "openshift-install"};
}

Command create_install_config_command() {
  using enum assets::Target;
  return command("Create install-config.yaml, or add all defaults to an existing one", install_config, create_install_config);
}

Command create_manifests_command() {
  using enum assets::Target;
  Command made = command("Generate the manifests of a cluster, for you to read and edit", manifests, run<manifests>);
  made.options.push_back({.name = "--with-machine-os-config",
                          .help = "also write a MachineOSConfig and its Secret for each role, for you to complete (image mode)"});
  return made;
}

Command create_ignition_configs_command() {
  using enum assets::Target;
  return command("Generate the Ignition configs of the machines", ignition_configs, run<ignition_configs>);
}

Command create_single_node_ignition_config_command() {
  using enum assets::Target;
  return command("Generate the Ignition config of a single node that bootstraps itself", single_node_ignition_config,
                 run<single_node_ignition_config>);
}

}  // namespace slipway::cli
