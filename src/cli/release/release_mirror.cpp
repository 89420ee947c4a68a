#include "base/text.h"
#include "base/yaml.h"
#include "cli/release/release_commands.h"
#include "cli/release/release_source.h"
#include "release/mirror.h"

#include <algorithm>

namespace slipway::cli {

namespace {

// imageDigestSources:
// - mirrors:
//   - registry.example.com/slipway/release
//   source: registry.slipway.invalid/slipway/release
std::string digest_sources(const std::vector<release::Mirror>& mirrors) {
  JsonArray sources;
  for (const release::Mirror& mirror : mirrors) {
    sources.push_back({{"mirrors", JsonArray(mirror.mirrors.begin(), mirror.mirrors.end())}, {"source", mirror.source}});
  }
  return emit_yaml({{"imageDigestSources", std::move(sources)}});
}

}  // namespace

Result<> release_mirror(const Environment& environment, const Arguments& arguments) {
  const release::Reference target = TRY(release::parse_repository(arguments["--to"]).context("--to"));
  const ReleaseSource source = TRY(open_release(environment, arguments));
  release::RegistryClient client(environment.http, TRY(registry_options(environment, arguments)));
  const release::MirrorResult result =
      TRY(release::mirror_release(environment.context, *source.images, source.reference, client, target));
  environment.print(fmt::format(
      "Release: {}\nCopied:  {} ({} existed already)\n\nTo install from this copy, add to install-config.yaml:\n\n{}",
      to_string(result.release), human_size(result.copied), human_size(result.skipped), digest_sources(result.mirrors)));
  return Ok{};
}

Command release_mirror_command() {
  Command command{.words = "release mirror",
                  .summary = "Copy a release to a registry",
                  .positionals = {release_positional()},
                  .options = {{.name = "--to", .value = "REGISTRY/REPOSITORY", .help = "target repository", .required = true}},
                  .run = release_mirror};
  std::ranges::move(registry_option_rows(), std::back_inserter(command.options));
  return command;
}

}  // namespace slipway::cli
