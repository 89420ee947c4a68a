#include "cli/asset_inputs.h"

#include "assets/store.h"
#include "cli/release_source.h"
#include "cluster/local_cluster.h"
#include "release/release.h"

#include <cstdlib>

namespace slipway::cli {

namespace {

const std::string default_release = "build/release";

// What a layout's release is called by machines, wherever they get it from (docs/decisions/0003-release-layout.md).
constexpr std::string_view embedded_repository = "registry.slipway.invalid/slipway/release";
constexpr std::string_view layout_registry = "layout.invalid";

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string release_name(const Arguments& arguments) {
  if (arguments.has("--release")) return arguments["--release"];
  const std::string override = environment_variable("OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE");
  return override.empty() ? default_release : override;
}

}  // namespace

std::vector<Option> asset_input_options() {
  std::vector<Option> options = {
      {.name = "--release",
       .value = "IMAGE|DIR",
       .help = "the release to install: an image reference, or a folder with an OCI image layout (default "
               "$OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE, else " +
               default_release + ")"}};
  std::ranges::move(registry_option_rows(), std::back_inserter(options));
  return options;
}

Result<sys::FileLock> lock_assets(const Environment& environment, const std::string& folder) {
  const std::optional<sys::FileInfo> info = TRY(environment.files.info(folder));
  if (!info) return error(Code::not_found, "there is no folder {}; make it and put an install-config.yaml into it", folder);
  return sys::FileLock::acquire(folder + "/.openshift_install.lock", fmt::format("the asset folder {}", folder));
}

Result<assets::Environment> asset_inputs(const Environment& environment, const Arguments& arguments, const std::string& folder) {
  const config::InstallConfig config = TRY(assets::read_config(environment.files, folder));
  const ReleaseSource source = TRY(open_release(environment, arguments, release_name(arguments)));
  const release::Release release =
      TRY(release::load_release(environment.context, *source.images, source.reference).context("reading the release"));
  assets::Environment made;
  made.now = environment.context.clock.now();
  made.release_version = release.version;
  const bool is_layout = source.reference.registry == layout_registry;
  const std::string repository =
      is_layout ? std::string(embedded_repository) : fmt::format("{}/{}", source.reference.registry, source.reference.repository);
  made.release_image = fmt::format("{}@{}", repository, release.digest.text());
  if (const std::string invoker = environment_variable("OPENSHIFT_INSTALL_INVOKER"); !invoker.empty()) made.invoker = invoker;
  if (config.platform.local) made.nodes = cluster::planned_nodes(TRY(cluster::planned_machines(config)));
  return made;
}

}  // namespace slipway::cli
