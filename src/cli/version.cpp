#include "cli/version.h"

#include "cli/asset_inputs.h"
#include "cli/output_option.h"
#include "cli/program_version.h"

namespace slipway::cli {

namespace {

// The lines and labels are those of openshift-install: scripts parse them.
Result<> version(const Environment& environment, const Arguments& arguments) {
  const KnownRelease release = known_release(environment);
  if (arguments["--output"] == "json") {
    JsonObject document = {{"version", program_version()}};
    if (!program_commit().empty()) document["commit"] = program_commit();
    if (!release.image.empty()) {
      document["releaseImage"] = release.image;
      document["releaseArchitecture"] = release.architecture;
    }
    environment.print(emit_json(document, JsonStyle::pretty));
    return Ok{};
  }
  std::string text = fmt::format("{} {}\n", environment.program, program_version());
  if (!program_commit().empty()) text += fmt::format("built from commit {}\n", program_commit());
  if (!release.image.empty()) {
    text += fmt::format("release image {}\nrelease architecture {}\n", release.image, release.architecture);
  }
  environment.print(text);
  return Ok{};
}

}  // namespace

Command version_command() {
  return {.words = "version",
          .summary = "Print the version, the commit it was built from, and the default release",
          .options = {output_option()},
          .run = version};
}

}  // namespace slipway::cli
