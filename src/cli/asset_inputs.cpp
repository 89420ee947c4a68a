#include "cli/asset_inputs.h"

#include "assets/ignition/bootstrap_ignition.h"
#include "assets/store.h"
#include "cli/bootstrap_inputs.h"
#include "cli/release_source.h"
#include "cli/seed.h"
#include "cli/version.h"
#include "cluster/local_cluster.h"
#include "release/manifest.h"
#include "release/oci_layout.h"
#include "release/release.h"
#include "sys/environment_variable.h"

namespace slipway::cli {

namespace {

const std::string default_release = "build/release";

// A layout's release is slipway's own.
constexpr std::string_view layout_registry = "layout.invalid";

constexpr const char* override_variable = "OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE";

std::string release_name(const Environment& environment, const Arguments& arguments) {
  if (arguments.has("--release")) return arguments["--release"];
  const std::string override = sys::environment_variable(override_variable);
  if (override.empty()) return default_release;
  environment.context.log.warn("the release is {}, as {} says", override, override_variable);
  return override;
}

std::string image_name(const release::Reference& reference, const release::Digest& digest) {
  const bool is_layout = reference.registry == layout_registry;
  const std::string repository =
      is_layout ? std::string(assets::slipway_repository) : fmt::format("{}/{}", reference.registry, reference.repository);
  return fmt::format("{}@{}", repository, digest.text());
}

Result<KnownRelease> default_layout(const Environment& environment) {
  release::OciLayout layout = TRY(release::OciLayout::open(environment.files, default_release));
  const release::Reference reference{.registry = std::string(layout_registry), .repository = "release", .tag = "release"};
  const release::RawManifest raw = TRY(layout.manifest(environment.context, reference));
  KnownRelease known{.image = image_name(reference, raw.digest), .architecture = "multi"};
  if (release::is_index(raw.media_type)) return known;
  const release::ImageManifest manifest = TRY(release::parse_image_manifest(raw));
  const std::string config =
      TRY(release::blob_text(environment.context, layout, reference, manifest.config, release::largest_manifest));
  const Json about = TRY(parse_json(config, "image config"));
  known.architecture = find_string(about, {"architecture"}).value_or("unknown");
  return known;
}

}  // namespace

KnownRelease known_release(const Environment& environment) {
  const std::string override = sys::environment_variable(override_variable);
  if (!override.empty()) return {.image = override, .architecture = "unknown"};
  Result<KnownRelease> known = default_layout(environment);
  return known.ok() ? std::move(known).value() : KnownRelease();
}

std::vector<Option> asset_input_options() {
  std::vector<Option> options = {
      {.name = "--release",
       .value = "IMAGE|DIR",
       .help = "the release to install: an image reference, or a folder with an OCI image layout (default "
               "$OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE, else " +
               default_release + ")"}};
  options.push_back({.name = "--no-kubeadmin",
                     .value = "",
                     .help = "make no user kubeadmin and no file with its password; later commands for the folder remember it"});
  options.push_back({.name = "--bootstrap-url",
                     .value = "URL",
                     .help =
                         "where you will put bootstrap.ign: for a platform that cannot hand that much to a machine, "
                         "bootstrap-user-data.ign is made beside it, which fetches it from there; later commands remember it"});
  std::ranges::move(registry_option_rows(), std::back_inserter(options));
  options.push_back(
      {.name = "--key-type",
       .value = "rsa|ecdsa",
       .help = "type of the keys that are made: RSA 2048, or ECDSA P-256, which takes a hundredth of the time (default rsa, on "
               "platform local ecdsa)",
       .choices = {"rsa", "ecdsa"}});
  options.push_back(seed_option());
  return options;
}

Result<sys::FileLock> lock_assets(const Environment& environment, const std::string& folder) {
  const std::optional<sys::FileInfo> info = TRY(environment.files.info(folder));
  if (!info) return error(Code::not_found, "there is no folder {}; make it and put an install-config.yaml into it", folder);
  const std::string path = fmt::format("{}/{}", folder, assets::lock_file);
  TRY(environment.files.make_directories(path.substr(0, path.rfind('/')), 0700));
  return sys::FileLock::acquire(path, fmt::format("the asset folder {}", folder));
}

ExitStatus status_of_unread(const Environment& environment, const std::string& folder) {
  return assets::usable_until(environment.files, folder).ok() ? ExitStatus::install_config : ExitStatus::failure;
}

Result<config::InstallConfig> read_config(const Environment& environment, const std::string& folder) {
  return or_end_unread(environment, folder, assets::read_config(environment.files, folder));
}

Result<assets::Folder> open_assets(const Environment& environment, const std::string& folder, bool strict) {
  return or_end_unread(environment, folder, assets::open_folder(environment.files, folder, strict));
}

Result<assets::Environment> asset_inputs(const Environment& environment, const Arguments& arguments,
                                         const config::InstallConfig& config) {
  const ReleaseSource source = TRY(open_release(environment, arguments, release_name(environment, arguments)));
  const release::Release release =
      TRY(release::load_release(environment.context, *source.images, source.reference).context("reading the release"));
  assets::Environment made;
  made.now = environment.context.clock.now();
  made.release_version = release.version;
  made.release_image = image_name(source.reference, release.digest);
  made.no_kubeadmin = arguments.has("--no-kubeadmin");
  made.bootstrap_url = arguments["--bootstrap-url"];
  if (const std::string invoker = sys::environment_variable("OPENSHIFT_INSTALL_INVOKER"); !invoker.empty())
    made.invoker = invoker;
  if (arguments.has("--key-type")) {
    made.key_type = arguments["--key-type"] == "rsa" ? net::KeyType::rsa2048 : net::KeyType::p256;
  }
  if (arguments.has("--seed")) {
    made.seed = TRY(read_seed(environment.files, arguments["--seed"]));
    made.now = TRY(time_of_seed(sys::environment_variable("SOURCE_DATE_EPOCH"), made.now));
  }
  made.load_certificates = sys::environment_variable("OPENSHIFT_INSTALL_LOAD_CLUSTER_CERTS") == "true";
  TRY(add_bootstrap_inputs(made, environment.context, config, release, bootstrap_variables(), program_version()));
  if (config.platform.local) made.nodes = cluster::planned_nodes(TRY(cluster::planned_machines(config)));
  return made;
}

}  // namespace slipway::cli
