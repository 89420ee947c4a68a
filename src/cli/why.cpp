#include "cli/cluster_commands.h"

#include "assets/preview/known_secrets.h"
#include "assets/store.h"
#include "cli/agent_files.h"
#include "cli/cluster_directory.h"
#include "cli/local_options.h"
#include "cli/output_option.h"
#include "cluster/look.h"

namespace slipway::cli {

namespace {

// The machines of the directory's cluster; null if slipway did not create them.
Result<OpenedProvider> machines_of(const Environment& environment, const Arguments& arguments, const std::string& folder) {
  const Result<ClusterDirectory> known = read_cluster_directory(environment, folder);
  if (!known.ok() && known.error().code() == Code::not_found) return OpenedProvider();
  if (TRY(known).platform.empty()) return OpenedProvider();
  return open_machines(environment, arguments, known.value());
}

std::string json_of(const cluster::Look& seen) {
  const diagnosis::LookNotes& notes = seen.snapshot.notes;
  JsonObject silent;
  for (const auto& [machine, reason] : notes.silent_machines) silent[machine] = reason;
  const Json document = {{"time", to_rfc3339(notes.time)},
                         {"api_answers", seen.snapshot.knows_objects()},
                         {"silent_machines", std::move(silent)},
                         {"chains", diagnosis::to_json(seen.chains)}};
  return emit_json(document, JsonStyle::pretty);
}

Result<> why(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  const std::string& name = arguments["OBJECT"];
  const diagnosis::Object object = name.empty() ? diagnosis::whole_cluster : TRY(diagnosis::parse_object(name));
  const Result<config::InstallConfig> config =
      assets::read_config(environment.files, folder, load_options_of(environment, folder));
  std::optional<kube::Client> api;
  if (const auto access = kube::read_kubeconfig(environment.files, folder + "/auth/kubeconfig"); access.ok()) {
    api.emplace(environment.http, access.value());
  }
  const OpenedProvider machines = TRY(machines_of(environment, arguments, folder));
  const cluster::Subject subject{.machines = machines.get(),
                                 .config = config.ok() ? &config.value() : nullptr,
                                 .api = api ? &*api : nullptr,
                                 .secrets = assets::known_secrets(environment.files, folder)};
  const cluster::Look seen = TRY(cluster::look(environment, subject, object).context(folder));
  // A silent API does not say whether it exists.
  if (seen.snapshot.knows_objects() && !diagnosis::exists(seen.snapshot, object))
    return error(Code::not_found, "{}: not found in the cluster", object.text());
  if (arguments["--output"] == "json") {
    environment.print(json_of(seen));
  } else if (seen.chains.empty()) {
    environment.print(fmt::format("{}: nothing is broken\n", object.text()));
  } else {
    environment.print(diagnosis::to_text(seen.chains, seen.snapshot.notes.time));
  }
  if (!seen.chains.empty()) environment.exit_status = static_cast<int>(ExitStatus::broken);
  return Ok{};
}

}  // namespace

Command why_command() {
  return {.words = "why",
          .summary = "Say why a cluster, or one object of it, is not as it should be",
          .positionals = {{.name = "OBJECT",
                           .value = "OBJECT",
                           .help = "for example node/NAME, pod/NAMESPACE/NAME, clusteroperator/NAME (default: everything)"}},
          .options = {state_of_directory_option(), output_option("json: for programs")},
          .run = why};
}

}  // namespace slipway::cli
