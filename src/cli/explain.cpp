#include "cli/explain.h"

#include "base/json.h"
#include "config/schema/explain.h"
#include "config/schema/json_schema.h"
#include "config/schema/reference.h"

namespace slipway::cli {

namespace {

Result<> explain(const Environment& environment, const Arguments& arguments) {
  const int asked = arguments.has("PATH") + arguments.has("--schema") + arguments.has("--reference");
  if (asked != 1) {
    return error(Code::invalid,
                 "nothing to explain: give the path of a field, for example installconfig.platform, or --schema or --reference");
  }
  if (arguments.has("--schema")) {
    environment.print(emit_json(config::install_config_json_schema(), JsonStyle::pretty));
  } else if (arguments.has("--reference")) {
    environment.print(config::install_config_reference());
  } else {
    environment.print(TRY(config::explain(arguments["PATH"], arguments.has("--recursive"))));
  }
  return Ok{};
}

}  // namespace

Command explain_command() {
  return {.words = "explain",
          .summary = "Describe fields of install-config.yaml",
          .positionals = {{.name = "PATH",
                           .help = "installconfig, or the path of a field, for example installconfig.platform.baremetal.hosts"}},
          .options = {{.name = "--recursive", .help = "print the names of all nested fields, without descriptions"},
                      {.name = "--schema", .help = "print a JSON Schema (draft 2020-12) of the file"},
                      {.name = "--reference", .help = "print a Markdown page of all fields (docs/install-config-reference.md)"}},
          .run = explain};
}

}  // namespace slipway::cli
