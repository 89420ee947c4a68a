#include "cli/upgrade.h"

#include "assets/ignition/bootstrap_ignition.h"
#include "base/text.h"
#include "cli/cluster_directory.h"
#include "cli/image/image_name.h"
#include "cli/image/registry_files.h"
#include "cli/local_options.h"
#include "cli/release/chosen_release.h"
#include "cluster/upgrade.h"
#include "cluster/upgrade_report.h"
#include "release/mirror.h"
#include "release/oci_layout.h"
#include "release/signature.h"

namespace slipway::cli {

namespace {

const std::string status_word = "status";

Result<> check_options(const Arguments& arguments) {
  std::vector<std::string> actions;
  for (const char* name : {"--to", "--release", "--clear"}) {
    if (arguments.has(name)) actions.emplace_back(name);
  }
  if (arguments.has(status_word)) actions.push_back(status_word);
  if (actions.size() > 1) return error(Code::invalid, "{}: use only one of them", join(actions, ", "));
  const bool is_request = arguments.has("--to") || arguments.has("--release");
  for (const char* name : {"--force", "--allow-upgrade-with-warnings", "--allow-not-recommended"}) {
    if (arguments.has(name) && !is_request) return error(Code::invalid, "{}: needs --to or --release", name);
  }
  if (arguments.has("--wait") && (arguments.has("--clear") || arguments.has(status_word)))
    return error(Code::invalid, "--wait: cannot be used with {}", actions.front());
  return Ok{};
}

Result<> show(const Environment& environment, kube::Api& api, bool with_details) {
  const sys::Context& context = environment.context;
  const Json cluster_version = TRY(cluster::read_cluster_version(context, api));
  std::string text = cluster::upgrade_report(cluster_version);
  if (with_details) {
    const std::vector<Json> pools = TRY(kube::list(context, api, kube::types::machine_config_pools, ""));
    const std::vector<Json> operators = TRY(kube::list(context, api, kube::types::cluster_operators, ""));
    text += "\n" + cluster::upgrade_details(cluster_version, pools, operators);
  }
  environment.print(text);
  return Ok{};
}

// The image layout of a release that the registry of a cluster can serve.
struct LocalRelease {
  release::OciLayout layout;
  release::Reference reference;
  release::Release about;
};

Result<LocalRelease> read_release(const Environment& environment, const std::string& folder) {
  release::OciLayout layout = TRY(release::OciLayout::open(environment.files, folder).context("--release"));
  const release::Reference reference{.registry = std::string(layout_registry), .repository = "release", .tag = "release"};
  release::Release about = TRY(release::load_release(environment.context, layout, reference).context("--release " + folder));
  for (const auto& [name, component] : about.components) {
    if (fmt::format("{}/{}", component.image.registry, component.image.repository) == assets::slipway_repository) continue;
    return error(Code::invalid, "--release {}: component {}: {}: only images of {} can be copied into a cluster", folder, name,
                 to_string(component.image), assets::slipway_repository);
  }
  return LocalRelease{std::move(layout), reference, std::move(about)};
}

// Stores all images of a release in the registry of the cluster, under the names that its manifests use.
Result<> copy_release(const Environment& environment, const std::string& folder, LocalRelease& release) {
  const std::string registry = TRY(registry_address(environment.files, folder));
  const std::string login_file = registry_login_file(folder);
  const Secret login(TRY(environment.files.read(login_file)));
  release::RegistryOptions options;
  options.credentials = TRY(release::Credentials::parse(login.reveal(), login_file));
  options.ca_file = registry_certificates(folder) + "/ca.crt";
  release::RegistryClient client(environment.http, std::move(options));
  const release::Reference name = TRY(release::parse_repository(assets::slipway_repository));
  const release::Reference place = TRY(release::parse_repository(place_in_registry(registry, name)));
  const release::MirrorResult copied =
      TRY(release::mirror_release(environment.context, release.layout, release.reference, client, place));
  environment.context.log.info("release {}: {} copied to the registry of the cluster ({} existed already)", release.about.version,
                               human_size(copied.copied), human_size(copied.skipped));
  return Ok{};
}

cluster::UpgradeRequest request_of(const Arguments& arguments) {
  return {.to = arguments["--to"],
          .is_forced = arguments.has("--force"),
          .ignores_warnings = arguments.has("--allow-upgrade-with-warnings"),
          .takes_not_recommended = arguments.has("--allow-not-recommended")};
}

// Copies the release if there is one, after the check that can refuse the request.
Result<cluster::UpgradeTarget> prepare(const Environment& environment, const Arguments& arguments, kube::Api& api,
                                       const Json& cluster_version) {
  cluster::UpgradeRequest request = request_of(arguments);
  if (arguments.has("--to")) return cluster::choose_target(cluster_version, request);
  const std::string folder = absolute(arguments["--dir"]);
  LocalRelease release = TRY(read_release(environment, absolute(arguments["--release"])));
  request.to = image_name(release.reference, release.about.digest);
  cluster::UpgradeTarget target = TRY(cluster::choose_target(cluster_version, request));
  target.version = release.about.version;
  TRY(copy_release(environment, folder, release));
  const std::vector<std::string> signatures =
      TRY(release::read_signatures(environment.context, release.layout, release.reference, release.about.digest));
  TRY(cluster::store_signatures(environment.context, api, release.about.digest, signatures));
  return target;
}

Result<cluster::PendingUpgrade> request(const Environment& environment, const Arguments& arguments, kube::Api& api,
                                        const Json& cluster_version) {
  const cluster::UpgradeTarget target = TRY(prepare(environment, arguments, api, cluster_version));
  const bool is_forced = arguments.has("--force");
  for (const std::string& warning : cluster::upgrade_warnings(cluster_version)) environment.context.log.warn("{}", warning);
  if (is_forced)
    environment.context.log.warn("--force: the cluster checks neither the signature nor the preconditions of the update");
  cluster::PendingUpgrade pending = TRY(cluster::request_upgrade(environment.context, api, target, is_forced));
  environment.print(fmt::format("Requested update to {}\n", target.name()));
  return pending;
}

Result<> upgrade(const Environment& environment, const Arguments& arguments) {
  TRY(check_options(arguments));
  kube::Client api = TRY(client_of(environment, arguments["--dir"]).context("no cluster was created from this directory yet"));
  if (arguments.has("--clear")) {
    environment.print(TRY(cluster::clear_upgrade(environment.context, api)));
    return Ok{};
  }
  const bool is_request = arguments.has("--to") || arguments.has("--release");
  if (!is_request && !arguments.has("--wait")) return show(environment, api, arguments.has(status_word));
  const Json cluster_version = TRY(cluster::read_cluster_version(environment.context, api));
  cluster::PendingUpgrade pending = cluster::pending_upgrade(cluster_version);
  if (is_request) pending = TRY(request(environment, arguments, api, cluster_version));
  if (!arguments.has("--wait")) return Ok{};
  TRY(cluster::wait_for_upgrade(environment.context, api, pending));
  environment.print(fmt::format("Updated to {}\n", pending.target.name()));
  return Ok{};
}

}  // namespace

Command upgrade_command() {
  return {.words = "upgrade",
          .summary = "Show updates of a running cluster, or update it to another release",
          .positionals = {{.name = status_word,
                           .value = status_word,
                           .help = "also print the pools of machines, and the operators of another version",
                           .choices = {status_word}}},
          .options =
              {{.name = "--to", .value = "IMAGE|VERSION", .help = "release image by digest, or one of the available updates"},
               {.name = "--release",
                .value = "DIR",
                .help = "OCI image layout of a release: copy it to the cluster and update to it (platform local)"},
               {.name = "--wait", .value = "", .help = "wait until the cluster and its machines are updated"},
               {.name = "--clear", .value = "", .help = "remove the request of an update"},
               {.name = "--force", .value = "", .help = "skip the signature and the preconditions that the cluster checks"},
               {.name = "--allow-upgrade-with-warnings",
                .value = "",
                .help = "request the update even if the cluster is updating, fails, or is invalid"},
               {.name = "--allow-not-recommended", .value = "", .help = "allow a VERSION that is available but not recommended"}},
          .run = upgrade,
          .when_interrupted = "a requested update continues; to wait for it: slipway upgrade --wait"};
}

}  // namespace slipway::cli
