#include "cli/validate.h"

#include "base/json.h"
#include "cli/asset_inputs.h"
#include "cli/output_option.h"
#include "config/install_config.h"

#include <algorithm>

namespace slipway::cli {

namespace {

constexpr std::string_view file_name = "install-config.yaml";

std::string path_of(const Arguments& arguments) {
  const std::string& folder = arguments["--dir"];
  return folder == "." ? std::string(file_name) : fmt::format("{}/{}", folder, file_name);
}

Json to_json(const Finding& finding) {
  JsonObject object = {{"severity", finding.severity == Severity::error ? "error" : "warning"}, {"message", finding.message}};
  if (!finding.place.file.empty()) object["file"] = finding.place.file;
  if (finding.place.line > 0) object["line"] = finding.place.line;
  if (finding.place.column > 0) object["column"] = finding.place.column;
  if (!finding.field.empty()) object["field"] = finding.field;
  if (!finding.hint.empty()) object["hint"] = finding.hint;
  return object;
}

std::string as_json(const Findings& findings) {
  JsonArray list;
  for (const Finding& finding : findings.all()) list.push_back(to_json(finding));
  return emit_json(JsonObject{{"valid", !findings.has_errors()}, {"findings", std::move(list)}}, JsonStyle::pretty);
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string as_text(const Findings& findings, const std::string& path) {
  const auto count = [&](Severity severity) {
    return static_cast<std::size_t>(std::ranges::count(findings.all(), severity, &Finding::severity));
  };
  const std::size_t errors = count(Severity::error);
  const std::size_t warnings = count(Severity::warning);
  std::string end = errors == 0 ? fmt::format("{} is valid", path) : fmt::format("{} has {}", path, counted(errors, "error"));
  if (warnings > 0) end += fmt::format("{}{}", errors == 0 ? ", with " : " and ", counted(warnings, "warning"));
  return fmt::format("{}{}\n", findings.to_text(), end);
}

Result<> validate(const Environment& environment, const Arguments& arguments) {
  const std::string path = path_of(arguments);
  const std::string text = TRY(or_exit_with(ExitStatus::install_config, environment, environment.files.read(path)));
  const Findings findings = config::check_install_config(text, path, load_options(environment, arguments.has("--strict")));
  environment.print(arguments["--output"] == "json" ? as_json(findings) : as_text(findings, path));
  // The findings are the result of the command, not an error.
  if (findings.has_errors()) environment.exit_status = static_cast<int>(ExitStatus::install_config);
  return Ok{};
}

}  // namespace

Command validate_command() {
  return {.words = "validate",
          .summary = "Check install-config.yaml in the asset directory; write nothing",
          .options = {strict_option(), output_option("output format")},
          .run = validate};
}

Option strict_option() { return {.name = "--strict", .help = "treat unknown fields of install-config.yaml as errors"}; }

}  // namespace slipway::cli
