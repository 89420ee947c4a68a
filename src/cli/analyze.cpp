#include "cli/analyze.h"

#include "cli/local_options.h"

#include "base/text.h"
#include "cli/output_option.h"
#include "diagnosis/open.h"
#include "diagnosis/rules.h"
#include "diagnosis/why.h"

#include <algorithm>
#include <filesystem>

namespace slipway::cli {

namespace {

// The newest log bundle of a directory. The names contain the time.
Result<std::string> newest_bundle(const Environment& environment, const std::string& folder) {
  std::vector<std::string> names = TRY(environment.files.list(folder));
  std::erase_if(names, [](const std::string& name) { return !name.starts_with("log-bundle-") || !name.ends_with(".tar.gz"); });
  if (names.empty()) {
    return error(Code::not_found, "{}: no log-bundle-*.tar.gz found (run `slipway gather bootstrap --dir {}` to create one)",
                 folder, folder);
  }
  return folder + "/" + *std::ranges::max_element(names);
}

Result<diagnosis::Bundle> open_bundle(const Environment& environment, const std::string& path) {
  const auto info = TRY(environment.files.info(path));
  if (!info) return error(Code::not_found, "{}: not found (run `slipway gather bootstrap` to create a log bundle)", path);
  if (info->kind == sys::FileKind::directory) return diagnosis::read_folder(environment.files, path);
  return diagnosis::unpack(TRY(environment.files.read(path))).context(path);
}

// The bundle to analyze. A relative --file of openshift-install is relative to the asset directory.
Result<std::string> chosen_bundle(const Environment& environment, const Arguments& arguments) {
  if (arguments.has("BUNDLE")) return absolute(arguments["BUNDLE"]);
  const std::string folder = absolute(arguments["--dir"]);
  if (arguments.has("--file")) return (std::filesystem::path(folder) / arguments["--file"]).lexically_normal().string();
  return newest_bundle(environment, folder);
}

Result<> analyze(const Environment& environment, const Arguments& arguments) {
  const std::string path = TRY(chosen_bundle(environment, arguments));
  const diagnosis::Bundle bundle = TRY(open_bundle(environment, path));
  const std::vector<diagnosis::Finding> findings = diagnosis::diagnose(bundle);
  // A bundle of an older version may not tell its time.
  const std::optional<diagnosis::Snapshot> snapshot = diagnosis::snapshot_of(bundle);
  const bool is_installing = snapshot && snapshot->machine("bootstrap");
  const auto situation = is_installing ? diagnosis::Situation::installing : diagnosis::Situation::usual;
  const std::vector<diagnosis::Chain> chains =
      snapshot ? diagnosis::why(*snapshot, diagnosis::whole_cluster, situation) : std::vector<diagnosis::Chain>();
  if (arguments["--output"] == "json") {
    Json document = diagnosis::to_json(findings);
    if (!chains.empty()) document.as_object()["chains"] = diagnosis::to_json(chains);
    environment.print(emit_json(document, JsonStyle::pretty));
  } else if (findings.empty() && chains.empty()) {
    environment.print(fmt::format("No known fault found in {}.\n", path));
  } else {
    std::string text = diagnosis::to_text(findings);
    if (!chains.empty()) text += (text.empty() ? "" : "\n") + diagnosis::to_text(chains, snapshot->notes.time);
    environment.print(text);
  }
  if (!findings.empty() || !chains.empty()) environment.exit_status = 1;
  return Ok{};
}

}  // namespace

Command analyze_command() {
  return {
      .words = "analyze",
      .summary = "Find known faults in a log bundle",
      .positionals = {{.name = "BUNDLE",
                       .value = "BUNDLE",
                       .help =
                           "a log-bundle-*.tar.gz, or the folder it was unpacked to (default: the newest log bundle in --dir)"}},
      .options = {{.name = "--file", .value = "BUNDLE", .help = "same as BUNDLE; a relative path starts at the asset directory"},
                  output_option("json: for programs")},
      .run = analyze};
}

}  // namespace slipway::cli
