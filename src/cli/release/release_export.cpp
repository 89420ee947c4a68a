#include "assets/ignition/bootstrap_ignition.h"
#include "base/text.h"
#include "cli/release/chosen_release.h"
#include "cli/release/release_commands.h"
#include "cli/release/release_source.h"
#include "release/release_archive.h"

#include <algorithm>

namespace slipway::cli {

namespace {

Result<> release_export(const Environment& environment, const Arguments& arguments) {
  const ReleaseSource source = TRY(open_release(environment, arguments));
  const release::Reference& reference = source.reference;
  const std::string repository = reference.registry == layout_registry
                                     ? std::string(assets::slipway_repository)
                                     : fmt::format("{}/{}", reference.registry, reference.repository);
  const std::string& path = arguments["--to"];
  const release::ArchivedRelease archived =
      TRY(release::export_release(environment.context, environment.files, *source.images, reference, repository, path));
  environment.print(
      fmt::format("Release: {}\nDigest:  {}\nWrote:   {} ({})\n\nOn another host, run: slipway release import {} --digest {}\n",
                  archived.version, archived.digest.text(), path, human_size(archived.bytes), path, archived.digest.text()));
  return Ok{};
}

}  // namespace

Command release_export_command() {
  Command command{.words = "release export",
                  .summary = "Write a release with all its images into one file",
                  .positionals = {release_positional()},
                  .options = {{.name = "--to", .value = "FILE", .help = "the file to write", .required = true}},
                  .run = release_export};
  std::ranges::move(registry_option_rows(), std::back_inserter(command.options));
  return command;
}

}  // namespace slipway::cli
