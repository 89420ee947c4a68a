#include "release/release_info.h"
#include "cli/output_option.h"
#include "cli/release/release_commands.h"
#include "cli/release/release_source.h"

#include <algorithm>

namespace slipway::cli {

namespace {

std::string versions_text(const std::map<std::string, std::string>& versions) {
  std::string text;
  for (const auto& [name, version] : versions) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, version);
  return text;
}

// Version:     0.1.0
// Digest:      sha256:0123...
//
// Components (2):
//   NAME   DIGEST             VERSIONS
//   etcd   sha256:0123...     etcd 3.6.5
std::string to_text(const release::Release& release) {
  std::string text;
  auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format("{:<13}{}\n", fmt::format("{}:", name), value);
  };
  const auto description = release.metadata.find("description");
  line("Version", release.version);
  line("Digest", release.digest.text());
  line("Created", release.created);
  line("Versions", versions_text(release.versions()));
  line("Description", description == release.metadata.end() ? "" : description->second);
  line("Manifests", fmt::format("{} files", release.manifests.size()));
  text += fmt::format("\nComponents ({}):\n", release.components.size());
  std::size_t width = 4;
  for (const auto& [name, component] : release.components) width = std::max(width, name.size());
  text += fmt::format("  {:<{}}  {:<71}  {}\n", "NAME", width, "DIGEST", "VERSIONS");
  for (const auto& [name, component] : release.components) {
    std::string row =
        fmt::format("  {:<{}}  {:<71}  {}", name, width, component.image.digest->text(), versions_text(component.versions));
    row.resize(row.find_last_not_of(' ') + 1);
    text += row + '\n';
  }
  return text;
}

}  // namespace

Result<> release_info(const Environment& environment, const Arguments& arguments) {
  const ReleaseSource source = TRY(open_release(environment, arguments));
  const release::Release release = TRY(release::load_release(environment.context, *source.images, source.reference));
  environment.print(arguments["--output"] == "json" ? emit_json(release::release_info(release), JsonStyle::pretty)
                                                    : to_text(release));
  return Ok{};
}

Command release_info_command() {
  Command command{.words = "release info",
                  .summary = "Show the contents of a release",
                  .positionals = {release_positional()},
                  .options = {output_option()},
                  .run = release_info};
  std::ranges::move(registry_option_rows(), std::back_inserter(command.options));
  return command;
}

}  // namespace slipway::cli
