#include "components/kube_controller_manager/policy_controller.h"

#include "base/flags.h"
#include "base/number.h"
#include "base/yaml.h"
#include "components/controller/leader.h"
#include "components/controller/object_parts.h"
#include "kube/kubeconfig.h"
#include "net/http_server.h"
#include "net/url.h"
#include "net/x509.h"
#include "sys/wait_for.h"

#include <map>
#include <optional>
#include <set>

namespace slipway::components::kube_controller_manager {

namespace {

constexpr std::string_view uid_range_key = "openshift.io/sa.scc.uid-range";
constexpr std::string_view groups_key = "openshift.io/sa.scc.supplemental-groups";
constexpr std::string_view mcs_key = "openshift.io/sa.scc.mcs";
constexpr long first_id = 1'000'000'000;
constexpr long block_size = 10'000;
constexpr long labels_of_a_block = 5;

// The index of a block; nothing for a range that an administrator has chosen.
std::optional<int> index_of(std::string_view range) {
  const long first = take_number<long>(range).value_or(0);
  if (range != "/10000" || first < first_id || first >= first_id + block_size * block_count) return std::nullopt;
  if (first % block_size != 0) return std::nullopt;
  return static_cast<int>((first - first_id) / block_size);
}

std::string_view annotation(const Json& object, std::string_view key) {
  return find_string(object, {"metadata", "annotations", key}).value_or("");
}

// Address and certificate for /healthz; without a certificate in the config the controller generates one.
Result<net::ServerOptions> server_options(const Environment& environment, const std::string& config_file) {
  const std::string text = TRY(environment.files.read(config_file).context("reading the config"));
  const YamlDocument config = TRY(parse_yaml(text, config_file));
  const std::string_view bind = find_string(config.value, {"servingInfo", "bindAddress"}).value_or("127.0.0.1:10357");
  const net::Url where = TRY(net::parse_url(fmt::format("https://{}", bind)).context("servingInfo.bindAddress"));
  net::ServerOptions options{.address = where.host, .port = where.port};
  const std::string certificate_file(find_string(config.value, {"servingInfo", "certFile"}).value_or(""));
  const std::string key_file(find_string(config.value, {"servingInfo", "keyFile"}).value_or(""));
  if (!certificate_file.empty() && !key_file.empty()) {
    std::string certificate = TRY(environment.files.read(certificate_file));
    std::string key = TRY(environment.files.read(key_file));
    options.tls = net::ServerTls{std::move(certificate), Secret(std::move(key))};
    return options;
  }
  const WallTime now = environment.context.clock.now();
  net::Certificate own = TRY(net::make_certificate({.subject = {.common_name = "cluster-policy-controller"},
                                                    .server_auth = true,
                                                    .dns_names = {"localhost"},
                                                    .ip_addresses = {"127.0.0.1"},
                                                    .valid_from = now - Seconds(1),
                                                    .valid_for = std::chrono::hours(24 * 365)},
                                                   nullptr));
  options.tls = net::ServerTls{std::move(own.pem), std::move(own.key)};
  return options;
}

Result<> annotate(const sys::Context& context, kube::Api& api, const Annotation& annotation) {
  const Result<Json> patched = sys::retry<Json>(context, 5, {.first = Milliseconds(200)}, [&] {
    return kube::merge_patch(context, api, kube::types::namespaces, "", annotation.name, annotation.patch);
  });
  // The namespace was changed or deleted meanwhile; the watch reports that, which causes another attempt.
  if (!patched.ok() && patched.error().code() != Code::conflict && patched.error().code() != Code::not_found)
    return patched.error();
  return Ok{};
}

Result<> follow_namespaces(const sys::Context& context, kube::Api& api) {
  // The watch reports written annotations one after another. This map avoids writing them again until then.
  std::map<std::string, std::string, std::less<>> written;  // by name: the version of the namespace before the write
  return kube::follow(context, api, kube::types::namespaces, "", {}, [&](const kube::Objects& namespaces) -> Result<> {
    const std::vector<Annotation> missing = TRY(plan_annotations(namespaces));
    for (const Annotation& annotation : missing) {
      const std::string version(find_string(annotation.patch, {"metadata", "resourceVersion"}).value_or(""));
      if (!version.empty() && written[annotation.name] == version) continue;
      TRY(annotate(context, api, annotation));
      written[annotation.name] = version;
    }
    return Ok{};
  });
}

}  // namespace

std::string id_range(int index) { return fmt::format("{}/{}", first_id + index * block_size, block_size); }

std::string mcs_label(int index) {
  // The pairs of different categories in order: c1,c0; c2,c0; c2,c1; c3,c0; ... Before the first pair with `high` there are
  // high * (high - 1) / 2 pairs.
  const long position = index * labels_of_a_block;
  long high = 1;
  while ((high + 1) * high / 2 <= position) ++high;
  return fmt::format("s0:c{},c{}", high, position - high * (high - 1) / 2);
}

Result<std::vector<Annotation>> plan_annotations(const kube::Objects& namespaces) {
  std::set<int> taken;
  for (const Json& object : namespaces) {
    if (const auto index = index_of(annotation(object, uid_range_key))) taken.insert(*index);
  }
  std::vector<Annotation> plan;
  int candidate = 0;
  for (const Json& object : namespaces) {
    if (is_terminating(object)) continue;
    const std::string_view range = annotation(object, uid_range_key);
    const bool complete = !range.empty() && !annotation(object, groups_key).empty() && !annotation(object, mcs_key).empty();
    if (complete) continue;
    std::optional<int> index = index_of(range);
    if (!index && !range.empty()) continue;
    if (!index) {
      while (taken.contains(candidate)) ++candidate;
      if (candidate >= block_count) return error(Code::invalid, "all {} blocks of user IDs are in use", block_count);
      index = candidate;
      taken.insert(candidate);
    }
    JsonObject annotations;
    if (range.empty()) annotations[uid_range_key] = id_range(*index);
    if (annotation(object, groups_key).empty()) annotations[groups_key] = id_range(*index);
    if (annotation(object, mcs_key).empty()) annotations[mcs_key] = mcs_label(*index);
    JsonObject metadata{{"annotations", std::move(annotations)}};
    if (const auto version = find_string(object, {"metadata", "resourceVersion"})) metadata["resourceVersion"] = *version;
    plan.push_back({std::string(kube::name_of(object)), JsonObject{{"metadata", std::move(metadata)}}});
  }
  return plan;
}

Result<> run_policy_controller(const Environment& environment, const Arguments& arguments) {
  const Flags flags = TRY(parse_flags("cluster-policy-controller start",
                                      {{.name = "config", .required = true},
                                       {.name = "kubeconfig", .required = true},
                                       {.name = "namespace"},  // accepted for compatibility; namespaces are cluster-scoped
                                       {.name = "v", .fallback = "2", .letter = 'v'}},
                                      arguments));
  const sys::Context& context = environment.context;
  const std::string& path = flags.text("kubeconfig");
  const std::string kubeconfig = TRY(environment.files.read(path).context("reading the kubeconfig"));
  const kube::Access access =
      TRY(kube::parse_kubeconfig(kubeconfig, path, [&](const std::string& file) { return environment.files.read(file); }));
  const net::ServerOptions options = TRY(server_options(environment, flags.text("config")));
  const net::HttpServer health = TRY(net::HttpServer::listen(options, [](const net::ServerRequest& request) {
    return request.path == "/healthz" ? net::text_answer(200, "ok") : net::text_answer(404, "only /healthz exists here\n");
  }));

  kube::Client api(environment.http, access);
  const std::string host = TRY(environment.files.read_if_exists("/proc/sys/kernel/hostname")).value_or("");
  const std::string suffix = TRY(sys::random_uuid(environment.random));
  const LeaderOptions leader{.space = "kube-system",
                             .name = "cluster-policy-controller-lock",
                             .identity = fmt::format("{}_{}", host.substr(0, host.find('\n')), suffix),
                             // A controller waits on each of the other masters, in case this machine fails.
                             .duration = std::chrono::seconds(30),
                             .renew_deadline = std::chrono::seconds(20),
                             .retry = std::chrono::seconds(5)};
  const Result<> led = lead(context, api, leader, [&](const sys::Context& leading) { return follow_namespaces(leading, api); });
  // A requested stop is not an error.
  if (!led.ok() && context.stop.stop_requested()) return Ok{};
  return led;
}

}  // namespace slipway::components::kube_controller_manager
