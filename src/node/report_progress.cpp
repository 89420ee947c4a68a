#include "node/report_progress.h"

#include "kube/kubeconfig.h"
#include "sys/wait_for.h"

namespace slipway::node {

namespace {

constexpr const char* done_file = "/opt/openshift/.bootkube.done";
constexpr std::size_t enough_servers = 2;
// Polls: inotify instances are shared with the host, and a check costs microseconds.
constexpr sys::Pace file_pace{Milliseconds(100), Milliseconds(100)};
// The address of the API may just have moved.
constexpr sys::Pace api_pace{Milliseconds(50), Milliseconds(500)};

Result<std::string> topology(const sys::Context& context, kube::Api& api) {
  std::string found;
  const auto observe = [&]() -> Result<sys::Observation> {
    const auto infrastructure = TRY(kube::find(context, api, kube::types::infrastructures, "", "cluster"));
    found = infrastructure ? find_string(*infrastructure, {"status", "controlPlaneTopology"}).value_or("") : "";
    return found.empty() ? sys::Observation::not_yet("Infrastructure cluster has no controlPlaneTopology")
                         : sys::Observation::done();
  };
  TRY(sys::wait_for(context, "the topology of the control plane", no_limit, observe, nullptr, api_pace));
  return found;
}

std::size_t servers_of(const Json& endpoints) {
  std::size_t addresses = 0;
  for (const Json& subset : find_array(endpoints, {"subsets"})) addresses += find_array(subset, {"addresses"}).size();
  return addresses;
}

// The number of API servers that serve now.
Result<std::size_t> count_servers(const sys::Context& context, kube::Api& api) {
  std::size_t servers = 0;
  const auto observe = [&]() -> Result<sys::Observation> {
    const auto endpoints = TRY(kube::find(context, api, kube::types::endpoints, "default", "kubernetes"));
    servers = endpoints ? servers_of(*endpoints) : 0;
    return sys::Observation::done();
  };
  TRY(sys::wait_for(context, "the API servers to be counted", no_limit, observe, nullptr, api_pace));
  return servers;
}

Result<> wait_for_servers(const sys::Context& context, kube::Api& api) {
  const auto missing = [](const kube::Objects& found) -> Result<std::optional<std::string>> {
    std::size_t servers = 0;
    for (const Json& endpoints : found) servers += servers_of(endpoints);
    if (servers >= enough_servers) return std::optional<std::string>();
    return std::optional(fmt::format("{} of {} API servers are ready", servers, enough_servers));
  };
  return kube::wait_until(context, api, "a second API server", no_limit, kube::types::endpoints, "default",
                          {.fields = "metadata.name=kubernetes"}, missing);
}

Result<> report(const sys::Context& context, kube::Api& api) {
  const Json status = {{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", {{"name", "bootstrap"}, {"namespace", "kube-system"}}},
                       {"data", {{"status", "complete"}}}};
  const auto observe = [&]() -> Result<sys::Observation> {
    const Result<Json> created = kube::create(context, api, kube::types::config_maps, status);
    // An earlier run created it; no other program does.
    if (created.ok() || created.error().code() == Code::conflict) return sys::Observation::done();
    return created.error();
  };
  return sys::wait_for(context, "ConfigMap kube-system/bootstrap to be written", no_limit, observe, nullptr, api_pace);
}

}  // namespace

Result<> report_bootstrap_complete(const Environment& environment, kube::Api& api) {
  const sys::Context& context = environment.context;
  sys::Span span(context.events, context.clock, "report-progress", "bootstrap");
  return span.end([&]() -> Result<> {
    // Two servers are enough in any cluster. The topology is read only if necessary: the first request for an OpenShift type
    // takes up to a second on a new API server.
    const bool has_enough = TRY(count_servers(context, api)) >= enough_servers;
    if (!has_enough && TRY(topology(context, api)) == "HighlyAvailable") TRY(wait_for_servers(context, api));
    return report(context, api);
  }());
}

Result<> run_report_progress(const Environment& environment, const Arguments& arguments) {
  if (arguments.size() != 1) return error(Code::invalid, "usage: report-progress KUBECONFIG");
  const auto observe = [&]() -> Result<sys::Observation> {
    if (TRY(environment.files.info(done_file))) return sys::Observation::done();
    return sys::Observation::not_yet("{} does not exist", done_file);
  };
  TRY(sys::wait_for(environment.context, "the bootstrap to be complete", no_limit, observe, nullptr, file_pace));
  const kube::Access access = TRY(kube::read_kubeconfig(environment.files, arguments[0]));
  kube::Client api(environment.http, access);
  return report_bootstrap_complete(environment, api);
}

}  // namespace slipway::node
