#include "cli/asset_inputs.h"

#include "assets/ignition/bootstrap_ignition.h"
#include "assets/store.h"
#include "base/text.h"
#include "cli/agent_files.h"
#include "cli/bootstrap_inputs.h"
#include "cli/program_version.h"
#include "cli/release/release_source.h"
#include "cli/secret_option.h"
#include "cli/seed.h"
#include "cluster/planned_nodes.h"
#include "provider/providers.h"
#include "release/manifest.h"
#include "release/oci_layout.h"
#include "sys/environment_variable.h"

namespace slipway::cli {

namespace {

constexpr const char* skip_fips_variable = "OPENSHIFT_INSTALL_SKIP_HOSTCRYPT_VALIDATION";

Result<KnownRelease> of_default_release(const Environment& environment) {
  release::OciLayout layout = TRY(release::OciLayout::open(environment.files, TRY(default_layout(environment))));
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
  Result<KnownRelease> known = of_default_release(environment);
  return known.ok() ? std::move(known).value() : KnownRelease();
}

std::vector<Option> asset_input_options() {
  std::vector<Option> options = {
      {.name = "--release",
       .value = "IMAGE|DIR",
       .help = "the release to install: an image reference, or a folder with an OCI image layout (default "
               "$OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE, else the imported release, or that of the build in a checkout)"}};
  options.push_back(release_info_option());
  options.push_back({.name = "--no-kubeadmin",
                     .value = "",
                     .help = "create no user kubeadmin and no password file; remembered for this directory"});
  options.push_back({.name = "--bootstrap-url",
                     .value = "URL|@FILE",
                     .help = "URL at which you will serve bootstrap.ign, or a file with it, for platforms that limit the size of "
                             "user data: also generates bootstrap-user-data.ign, which fetches it from there; remembered for "
                             "this directory"});
  std::ranges::move(registry_option_rows(), std::back_inserter(options));
  options.push_back({.name = "--key-type",
                     .value = "rsa|ecdsa",
                     .help = "type of generated keys: RSA 2048, or ECDSA P-256, which is about 100 times faster to generate "
                             "(default rsa; on platform local and for agent create image ecdsa)",
                     .choices = {"rsa", "ecdsa"}});
  options.push_back(seed_option());
  return options;
}

Result<sys::FileLock> lock_assets(const Environment& environment, const std::string& folder) {
  const std::optional<sys::FileInfo> info = TRY(environment.files.info(folder));
  if (!info) return error(Code::not_found, "directory {}: not found (create it and add install-config.yaml)", folder);
  const std::string path = fmt::format("{}/{}", folder, assets::lock_file);
  TRY(environment.files.make_directories(path.substr(0, path.rfind('/')), 0700));
  return sys::FileLock::acquire(path, fmt::format("asset directory {}", folder));
}

config::LoadOptions load_options(const Environment& environment, bool strict) {
  const Result<std::optional<std::string>> fips = environment.files.read_if_exists("/proc/sys/crypto/fips_enabled");
  const bool has_fips = fips.ok() && fips.value() && trim(*fips.value()) == "1";
  return {.strict = strict, .host = config::Host{has_fips, !sys::environment_variable(skip_fips_variable).empty()}};
}

ExitStatus read_failure_status(const Environment& environment, const std::string& folder) {
  return assets::usable_until(environment.files, folder).ok() ? ExitStatus::install_config : ExitStatus::failure;
}

Result<config::InstallConfig> read_config(const Environment& environment, const std::string& folder) {
  const config::LoadOptions options = load_options_of(environment, folder);
  return or_exit_unread(environment, folder, assets::read_config(environment.files, folder, options));
}

Result<assets::Folder> open_assets(const Environment& environment, const std::string& folder, bool strict) {
  return or_exit_unread(environment, folder, assets::open_folder(environment.files, folder, load_options(environment, strict)));
}

Result<assets::Environment> asset_inputs(const Environment& environment, const Arguments& arguments,
                                         const config::InstallConfig& config, const std::optional<InstalledRelease>& installed,
                                         bool keeps_release, bool creates_machines) {
  const ChosenRelease chosen = TRY(choose_release(environment, arguments, config, arguments["--dir"], installed));
  if (keeps_release) TRY(remember_release(environment, chosen));
  assets::Environment inputs;
  inputs.now = environment.context.clock.now();
  inputs.release_version = chosen.about.version;
  inputs.release_image = chosen.image;
  inputs.no_kubeadmin = arguments.has("--no-kubeadmin");
  inputs.bootstrap_url = TRY(value_or_file(environment.files, "--bootstrap-url", arguments["--bootstrap-url"]));
  if (const std::string invoker = sys::environment_variable("OPENSHIFT_INSTALL_INVOKER"); !invoker.empty())
    inputs.invoker = invoker;
  if (arguments.has("--key-type")) {
    inputs.key_type = arguments["--key-type"] == "rsa" ? net::KeyType::rsa2048 : net::KeyType::p256;
  }
  if (arguments.has("--seed")) {
    inputs.seed = TRY(read_seed(environment.files, arguments["--seed"]));
    inputs.now = TRY(time_of_seed(sys::environment_variable("SOURCE_DATE_EPOCH"), inputs.now));
  }
  inputs.fips_check_bypassed = config.fips && !load_options(environment).host->has_fips;
  inputs.load_certificates = sys::environment_variable("OPENSHIFT_INSTALL_LOAD_CLUSTER_CERTS") == "true";
  TRY(add_bootstrap_inputs(inputs, environment.context, config, chosen.about, bootstrap_variables(), program_version()));
  if (provider::has_provider(config.platform.type)) {
    const auto machines = TRY(provider::open_provider(environment, config.platform.type, {.cluster = config.name}));
    const bool knows_names = creates_machines || !machines->capabilities().has_foreign_machines;
    if (knows_names && machines->check_config(config).ok()) inputs.nodes = cluster::planned_nodes(TRY(machines->plan(config)));
  }
  return inputs;
}

}  // namespace slipway::cli
