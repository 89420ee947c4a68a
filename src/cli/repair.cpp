#include "cli/repair.h"

#include "cli/output_option.h"

#include "cluster/repair.h"

namespace slipway::cli {

namespace {

Json to_json(const cluster::RepairLine& line) {
  JsonObject object = {{"object", line.object}, {"state", line.state}};
  if (!line.detail.empty()) object["detail"] = line.detail;
  return object;
}

Result<> repair(const Environment& environment, const Arguments& arguments) {
  const std::string& folder = arguments["--dir"];
  const kube::Access access = TRY(kube::read_kubeconfig(environment.files, folder + "/auth/kubeconfig")
                                      .context("no cluster was created from this directory yet"));
  const bool as_json = arguments["--output"] == "json";
  return cluster::repair(environment, access, [&](const cluster::RepairLine& line) {
    if (as_json) return environment.print(emit_json(to_json(line), JsonStyle::compact) + "\n");
    environment.print(fmt::format("{}: {}{}\n", line.object, line.state, line.detail.empty() ? "" : " (" + line.detail + ")"));
  });
}

}  // namespace

Command repair_command() {
  return {.words = "repair",
          .summary = "Apply access rules and policies that a running cluster lacks",
          .options = {output_option("json: one object per line")},
          .run = repair,
          .when_interrupted = "run the same command again to continue"};
}

}  // namespace slipway::cli
