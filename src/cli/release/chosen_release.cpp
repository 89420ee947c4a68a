#include "cli/release/chosen_release.h"

#include "assets/ignition/bootstrap_ignition.h"
#include "cli/local_options.h"
#include "cli/program_version.h"
#include "cli/release/release_source.h"
#include "cli/release/release_store.h"
#include "release/release_info.h"
#include "sys/environment_variable.h"

namespace slipway::cli {

namespace {

// The version of a release of which only the digest is known.
constexpr std::string_view assumed_version = "4.18";

constexpr std::string_view info_option = "--release-info";

std::string memory_of(const std::string& folder) { return fmt::format("{}/.slipway/release-info.json", folder); }

ChosenRelease chosen(const release::Reference& reference, release::Release release) {
  std::string image = image_name(reference, release.digest);
  return {std::move(release), std::move(image)};
}

// A release of which only version and digest are known. The names of its images show who made it.
release::Release minimal_release(std::string version, const release::Reference& reference) {
  release::Release release{.version = std::move(version),
                           .digest = *reference.digest,
                           .created = {},
                           .metadata = {},
                           .components = {},
                           .manifests = {}};
  release.components["release"].image = reference;
  return release;
}

// The release of an existing cluster.
Result<ChosenRelease> release_of(const InstalledRelease& installed) {
  const release::Reference reference = TRY(release::parse_reference(installed.image).context("the release of the cluster"));
  if (!reference.digest) return error(Code::invalid, "the release of the cluster: {} has no digest", installed.image);
  return ChosenRelease{minimal_release(installed.version, reference), installed.image};
}

Result<ChosenRelease> of_file(const Environment& environment, const release::Reference& reference, const std::string& name,
                              const std::string& file) {
  if (reference.registry == layout_registry) {
    return error(Code::invalid, "{} {}: has no effect, the release is read from the folder {}", info_option, file, name);
  }
  const std::string text = TRY(environment.files.read(file).context(info_option));
  release::Release release = TRY(release::parse_release_info(text, file));
  if (reference.digest && *reference.digest != release.digest) {
    return error(Code::invalid, "{} {}: describes {}, but the release is {}", info_option, file, release.digest.text(),
                 to_string(reference));
  }
  return chosen(reference, std::move(release));
}

// The data that an earlier command read of this digest. Nothing when the file is missing or cannot be parsed.
std::optional<release::Release> read_remembered(const Environment& environment, const release::Reference& reference,
                                                const std::string& folder) {
  const std::string path = memory_of(folder);
  const auto text = environment.files.read_if_exists(path);
  if (!reference.digest || !text.ok() || !text.value()) return std::nullopt;
  Result<release::Release> release = release::parse_release_info(*text.value(), path);
  if (!release.ok() || release->digest != *reference.digest) return std::nullopt;
  return std::move(release).value();
}

bool is_of_slipways_repository(const release::Reference& reference) {
  return fmt::format("{}/{}", reference.registry, reference.repository) == assets::slipway_repository;
}

bool cannot_be_asked(const Error& failure) {
  return failure.code() == Code::unavailable || failure.code() == Code::timeout || failure.code() == Code::denied;
}

ChosenRelease assumed(const Environment& environment, const release::Reference& reference, const Error& failure) {
  const bool is_own = is_of_slipways_repository(reference);
  release::Release release = minimal_release(is_own ? std::string(program_version()) : std::string(assumed_version), reference);
  environment.context.log.warn(
      "release {}: cannot be read, generating assets as for version {}: {} (on a host that can read it, run `slipway release "
      "info {} --output json` and pass the output with {})",
      to_string(reference), release.version, failure.message(), to_string(reference), info_option);
  std::string image = image_name(reference, release.digest);
  return {std::move(release), std::move(image)};
}

std::vector<release::Mirror> mirrors_of(const config::InstallConfig& config) {
  std::vector<release::Mirror> mirrors;
  for (const auto* list : {&config.image_digest_sources, &config.image_content_sources}) {
    for (const config::MirrorSource& each : *list) {
      if (!each.mirrors.empty()) mirrors.push_back({each.source, each.mirrors});
    }
  }
  return mirrors;
}

Result<ChosenRelease> find_release(const Environment& environment, const Arguments& arguments,
                                   const config::InstallConfig& config, const std::string& folder);

}  // namespace

Option release_info_option() {
  return {.name = std::string(info_option),
          .value = "FILE",
          .help = "output of `slipway release info IMAGE --output json` from another host; the registry is then not asked"};
}

std::string image_name(const release::Reference& reference, const release::Digest& digest) {
  const bool is_layout = reference.registry == layout_registry;
  const std::string repository =
      is_layout ? std::string(assets::slipway_repository) : fmt::format("{}/{}", reference.registry, reference.repository);
  return fmt::format("{}@{}", repository, digest.text());
}

Result<std::string> default_layout(const Environment& environment) {
  return TRY(default_release(environment.files, TRY(own_program()), store_folder())).layout();
}

Result<std::string> release_name(const Environment& environment, const Arguments& arguments) {
  if (arguments.has("--release")) return arguments["--release"];
  const std::string override = sys::environment_variable(override_variable);
  if (override.empty()) return default_layout(environment);
  environment.context.log.warn("using release {} from {}", override, override_variable);
  return override;
}

namespace {

Result<ChosenRelease> find_release(const Environment& environment, const Arguments& arguments,
                                   const config::InstallConfig& config, const std::string& folder) {
  const std::string name = TRY(release_name(environment, arguments));
  const ReleaseSource source = TRY(open_release(environment, arguments, name, {mirrors_of(config), 2}));
  if (arguments.has(std::string(info_option))) {
    return of_file(environment, source.reference, name, arguments[std::string(info_option)]);
  }
  if (std::optional<release::Release> known = read_remembered(environment, source.reference, folder)) {
    return chosen(source.reference, *std::move(known));
  }
  Result<release::Release> read = release::load_release(environment.context, *source.images, source.reference);
  if (read.ok()) {
    ChosenRelease made = chosen(source.reference, std::move(read).value());
    if (source.reference.registry != layout_registry) made.remembered_at = memory_of(folder);
    return made;
  }
  const bool is_layout = source.reference.registry == layout_registry;
  // The registry of slipway's own repository does not exist; only mirrors can serve it.
  const bool has_no_registry = is_of_slipways_repository(source.reference) && read.error().code() == Code::not_found;
  if (is_layout || !(cannot_be_asked(read.error()) || has_no_registry))
    return std::move(read).context("reading the release").error();
  if (source.reference.digest) return assumed(environment, source.reference, read.error());
  return error(read.error().code(), "reading the release: {} (use a reference with a digest, or {})", read.error().message(),
               info_option);
}

}  // namespace

Result<ChosenRelease> choose_release(const Environment& environment, const Arguments& arguments,
                                     const config::InstallConfig& config, const std::string& folder,
                                     const std::optional<InstalledRelease>& installed) {
  if (installed && !arguments.has("--release")) return release_of(*installed);
  ChosenRelease found = TRY(find_release(environment, arguments, config, folder));
  if (installed && installed->image != found.image) {
    return error(Code::conflict,
                 "--release {}: is {}, but the cluster was created with {} (omit --release to continue, or run `{} destroy "
                 "cluster` first)",
                 arguments["--release"], found.image, installed->image, environment.program);
  }
  return found;
}

Result<> remember_release(const Environment& environment, const ChosenRelease& chosen) {
  if (chosen.remembered_at.empty()) return Ok{};
  const std::string& path = chosen.remembered_at;
  TRY(environment.files.make_directories(path.substr(0, path.rfind('/')), 0700));
  return environment.files.write(path, emit_json(release::release_info(chosen.about), JsonStyle::pretty), 0600);
}

}  // namespace slipway::cli
