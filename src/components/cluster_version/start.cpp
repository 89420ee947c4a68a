#include "components/cluster_version/start.h"

#include "base/digest.h"
#include "base/flags.h"
#include "components/cluster_version/reconciler.h"
#include "components/cluster_version/release_manifests.h"
#include "components/cluster_version/settings.h"
#include "components/controller/leader.h"
#include "components/controller/process_metrics.h"
#include "components/program/kube_access.h"
#include "kube/ensure.h"
#include "release/signature.h"
#include "sys/environment_variable.h"
#include "sys/random.h"

#include <chrono>

namespace slipway::components::cluster_version {

namespace {

constexpr Milliseconds namespace_limit = std::chrono::minutes(5);
constexpr Milliseconds graph_limit = std::chrono::minutes(1);
constexpr int signature_attempts = 2;
constexpr std::uint64_t largest_graph = 16u << 20;

// Creates the namespace of the lease if it does not exist yet.
Result<> prepare(const sys::Context& context, kube::Api& api, const std::vector<Manifest>& manifests) {
  std::vector<kube::Manifest> spaces;
  for (const Manifest& manifest : manifests) {
    if (find_string(manifest.object, {"kind"}) != "Namespace" || kube::name_of(manifest.object) != "openshift-cluster-version")
      continue;
    spaces.push_back({manifest.path, manifest.object});
  }
  kube::Mapper mapper(api);
  return kube::ensure_all(context, api, mapper, std::move(spaces),
                          {.manager = "cluster-version-operator", .limit = namespace_limit}, nullptr);
}

// Asks an update service. Whoever may write ClusterVersion chooses it, so its answer is limited in size and time.
Result<std::string> fetch_graph(net::Http& http, const sys::Context& context, const std::string& url) {
  net::Request request{.url = TRY(net::parse_url(url))};
  request.headers = {{"Accept", "application/json"}, {"User-Agent", "ClusterVersionOperator"}};
  request.tls.plain_http = true;
  request.whole_limit = graph_limit;
  request.answer_limit = largest_graph;
  net::Answer answer = TRY(http.send(request, context.stop));
  if (answer.status != 200) return error(Code::unavailable, "{}: HTTP status {}", url, answer.status);
  return std::move(answer.body);
}

// The logins for registries of the cluster. None if there is no pull secret.
Result<release::Credentials> read_logins(const sys::Context& context, kube::Api& api) {
  const std::optional<Json> secret = TRY(kube::find(context, api, kube::types::secrets, "openshift-config", "pull-secret"));
  const auto encoded = secret ? find_string(*secret, {"data", ".dockerconfigjson"}) : std::nullopt;
  if (!encoded) return release::Credentials();
  const Secret text(TRY(base64_decode(*encoded).context("Secret openshift-config/pull-secret")));
  return release::Credentials::parse(text.reveal(), "Secret openshift-config/pull-secret");
}

Result<std::vector<std::string>> read_signatures(const Environment& environment, kube::Api& api, const sys::Context& context,
                                                 const RegistryAccess& registry_access, const std::string& image) {
  const release::Reference reference = TRY(release::parse_reference(image));
  release::RegistryOptions options = TRY(registry_access(context, environment.files));
  options.credentials = TRY(read_logins(context, api));
  options.attempts = signature_attempts;
  // Mirrors for digests do not answer tags, because a tag can change. A signature says itself what it is for.
  for (auto& [registry, endpoints] : options.endpoints) {
    for (release::RegistryEndpoint& endpoint : endpoints) endpoint.serves_tags = true;
  }
  release::RegistryClient registries(environment.http, std::move(options));
  return release::read_signatures(context, registries, reference, *reference.digest);
}

}  // namespace

Result<> run_start(const Environment& environment, const Arguments& arguments, const RegistryAccess& registry_access) {
  const std::vector<Flag> table = {
      {.name = "release-image", .required = true},       {.name = "kubeconfig"},        {.name = "node-name"}, {.name = "listen"},
      {.name = "enable-auto-update", .is_switch = true}, {.name = "v", .fallback = "2"}};
  const Flags flags = TRY(parse_flags("cluster-version-operator start", table, arguments));
  if (!flags.text("listen").empty()) return error(Code::invalid, "--listen: no metrics are served here (use --listen=)");
  if (flags.is_set("enable-auto-update")) return error(Code::invalid, "--enable-auto-update: updates are not supported");
  const sys::Context& context = environment.context;
  std::string version = TRY(version_of_image(environment.files));
  std::string node = flags.text("node-name");
  if (node.empty()) node = sys::environment_variable("NODE_NAME", "bootstrap");
  ReleaseContent release{.version = std::move(version),
                         .image = flags.text("release-image"),
                         .profile = cluster_profile(),
                         .exclude_id = excluded_manifests(),
                         .node = node,
                         .manifests = {}};
  const VersionSettings settings{.release_image = release.image, .profile = release.profile};
  release.manifests = TRY(all_manifests(environment.files, settings));
  const kube::Access access = TRY(kube_access(environment.files, flags.text("kubeconfig")));
  Metrics metrics;
  kube::Client api(environment.http, access, &metrics);
  TRY(prepare(context, api, release.manifests));

  // A container that restarts after a crash has the same identity, so it does not wait for the lease.
  const std::string drawn = TRY(sys::random_hex(environment.random, 16));
  const std::string unique = sys::environment_variable("POD_NAME", drawn);
  const LeaderOptions lease{
      .space = "openshift-cluster-version", .name = "version", .identity = fmt::format("{}_{}", node, unique)};
  const auto offered =
      offer_metrics(context, environment.files, metrics, "cluster-version-operator", lease.identity, release.version);
  return lead(context, api, lease, [&](const sys::Context& leading) {
    Reconciler reconciler(
        api, release,
        [&](const sys::Context& asking, const std::string& url) { return fetch_graph(environment.http, asking, url); },
        [&](const sys::Context& asking, const std::string& image) {
          return read_signatures(environment, api, asking, registry_access, image);
        });
    return reconciler.run(leading);
  });
}

}  // namespace slipway::components::cluster_version
