#include "cli/image/image_options.h"

#include "base/text.h"
#include "cli/local_options.h"
#include "cli/release/release_store.h"
#include "ignition/translate.h"
#include "ignition/validate.h"
#include "provider/local/layout.h"
#include "release/commit_metadata.h"

#include <algorithm>

namespace slipway::cli {

namespace {

// Of the Ignition in the machine OS.
constexpr ignition::Version machine_version = ignition::Version::v3_3;

std::vector<std::string> platform_names() {
  std::vector<std::string> names;
  for (const release::DiskPlatform& platform : release::disk_platforms()) names.emplace_back(platform.name);
  return names;
}

// --os-repo, else the repository of the default release.
Result<std::string> repository_of(const Environment& environment, const Arguments& arguments) {
  if (arguments.has("--os-repo")) return absolute(arguments["--os-repo"]);
  const provider::local::ReleaseFolder release = TRY(default_release(environment.files, TRY(own_program()), store_folder()));
  return provider::local::os_repo_in(release.payload());
}

// Boot loaders split arguments at blanks and give these characters a meaning.
void check_kernel_arguments(Findings& found, const std::string& option, const std::vector<std::string>& arguments) {
  constexpr std::string_view refused = "\"'\\$`{};#<>|&";
  for (const std::string& argument : arguments) {
    const bool is_usable = !argument.empty() && std::ranges::all_of(argument, [&](char character) {
      return character > ' ' && character < 0x7f && refused.find(character) == std::string_view::npos;
    });
    if (!is_usable) {
      found.error({}, option, "'{}' is not a kernel argument", argument)
          .hint("one argument for each option, without blanks, quotes and characters of a shell");
    }
  }
}

}  // namespace

Result<std::string> ignition_of_file(const Environment& environment, const std::string& file) {
  const ignition::Parsed parsed = TRY(ignition::read_config(TRY(environment.files.read(file)), file));
  for (const Finding& finding : parsed.findings.all()) environment.context.log.warn("{}", to_string(finding));
  if (parsed.config.ignition.version <= machine_version) return emit_json(ignition::to_json(parsed.config), JsonStyle::compact);
  const ignition::Config older = TRY(ignition::translate(parsed.config, machine_version).context(file));
  return emit_json(ignition::to_json(older), JsonStyle::compact);
}

std::vector<Option> image_options(std::string_view default_platform) {
  std::vector<std::string> uses;
  for (const release::DiskPlatform& platform : release::disk_platforms())
    uses.push_back(fmt::format("{} ({})", platform.name, platform.used_for));
  return {{.name = "--platform",
           .value = "PLATFORM",
           .help = "where machines boot the image: " + join(uses, ", "),
           .fallback = std::string(default_platform),
           .choices = platform_names()},
          {.name = "--ignition",
           .value = "FILE",
           .help = "the Ignition config of the first boot, in the image; default: the platform provides it"},
          {.name = "--append-karg", .value = "ARGUMENT", .help = "a kernel argument of every boot; repeatable", .repeats = true},
          {.name = "--first-boot-karg",
           .value = "ARGUMENT",
           .help = "a kernel argument of the first boot, for example ip=ADDRESS::GATEWAY:NETMASK:NAME:INTERFACE:none; repeatable",
           .repeats = true},
          {.name = "--os-repo",
           .value = "DIR",
           .help = "OSTree repository of the machine OS (default: that of the default release)"}};
}

Result<release::DiskImageRequest> image_request(const Environment& environment, const Arguments& arguments) {
  release::DiskImageRequest request;
  request.first_boot.kernel_arguments = arguments.list("--append-karg");
  request.first_boot.first_boot_arguments = arguments.list("--first-boot-karg");
  Findings found;
  check_kernel_arguments(found, "--append-karg", request.first_boot.kernel_arguments);
  check_kernel_arguments(found, "--first-boot-karg", request.first_boot.first_boot_arguments);
  TRY(found.to_result());
  if (arguments.has("--ignition")) request.first_boot.ignition = TRY(ignition_of_file(environment, arguments["--ignition"]));
  request.repository = TRY(repository_of(environment, arguments));
  request.ref = release::machine_os_ref;
  request.programs = TRY(helper_folder());
  request.platform = release::find_disk_platform(arguments["--platform"]);
  request.format = request.platform->format;
  return request;
}

}  // namespace slipway::cli
