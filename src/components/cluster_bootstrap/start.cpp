#include "components/cluster_bootstrap/start.h"

#include "base/text.h"
#include "components/cluster_bootstrap/handover.h"
#include "components/cluster_bootstrap/leave_control.h"
#include "components/cluster_bootstrap/manifests.h"
#include "components/cluster_bootstrap/options.h"
#include "components/cluster_bootstrap/temporary_pods.h"
#include "components/render/inputs.h"
#include "kube/kubeconfig.h"
#include "net/url.h"
#include "sys/wait_for.h"

#include <chrono>

namespace slipway::components::cluster_bootstrap {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds api_limit = 20min;

// Access to a kubeconfig's API server on this machine, whatever name the kubeconfig uses.
Result<kube::Access> local_access(sys::Files& files, const std::string& path) {
  kube::Access access = TRY(kube::read_kubeconfig(files, path));
  const net::Url server = TRY(net::parse_url(access.server).context(path));
  access.connect_to = fmt::format("localhost:{}", server.port);
  return access;
}

Result<InstallConfig> read_install_config(sys::Files& files, const std::string& path) {
  Findings findings;
  const Json config_map = read_document(files, path, findings);
  InstallConfig config = parse_install_config(config_map, path, findings);
  TRY(findings.to_result());
  return config;
}

Result<int> probe(const Environment& environment, const sys::Context& context, const std::string& server, std::string_view path) {
  net::Url url = TRY(net::parse_url(server));
  url.host = "localhost";
  url.target = path;
  net::Request request{.url = std::move(url), .connect_limit = 5s, .idle_limit = 15s};
  request.tls.insecure_skip_verify = true;
  return TRY(environment.http.send(request, context.stop)).status;
}

// The server answers some seconds before it is ready, while it creates its own roles. Manifests can be created then, because the
// client is an administrator.
Result<> wait_for_api(const Environment& environment, const std::string& server) {
  // Most attempts are refused connections, and the whole cluster waits for the last one.
  const sys::Pace pace{50ms, 200ms};
  return sys::wait_for(
      environment.context, "the temporary API server", api_limit,
      [&]() -> Result<sys::Observation> {
        TRY(probe(environment, environment.context, server, "/readyz"));
        return sys::Observation::done();
      },
      nullptr, pace);
}

Result<> wait_for_end(const Environment& environment, const std::string& server, Milliseconds limit) {
  const sys::Pace pace{100ms, 1s};
  return sys::wait_for(
      environment.context, "the end of the temporary API server", limit,
      [&]() -> Result<sys::Observation> {
        const Result<int> status = probe(environment, environment.context, server, "/version");
        if (status.ok()) return sys::Observation::not_yet("it still answers, with status {}", status.value());
        if (status.error().code() == Code::unavailable) return sys::Observation::done();
        return status.error();
      },
      nullptr, pace);
}

}  // namespace

Result<> run_start(const Environment& environment, const Arguments& arguments) {
  const BootstrapOptions options = TRY(parse_bootstrap_options(arguments));
  const sys::Context& context = environment.context;
  sys::Files& files = environment.files;
  std::vector<kube::Manifest> manifests = TRY(read_manifests(files, context.log, options.asset_dir + "/manifests"));
  const InstallConfig config = TRY(read_install_config(files, options.asset_dir + "/manifests/cluster-config.yaml"));
  const std::string host(trim(TRY(files.read_if_exists("/proc/sys/kernel/hostname")).value_or("")));
  const kube::Access access = TRY(local_access(files, options.asset_dir + "/auth/kubeconfig-loopback"));
  // After the temporary API server has ended, the public address leads to a master.
  const kube::Access everywhere =
      options.tear_down_early ? TRY(kube::read_kubeconfig(files, options.asset_dir + "/auth/kubeconfig")) : access;
  kube::Client api(environment.http, access);
  kube::Client api_afterwards(environment.http, everywhere);

  TemporaryPods pods(files, context.log, options);
  bool is_up = true;
  const auto tear_down = [&](kube::Api& local) -> Result<> {
    TRY(leave_control(context, {local, environment.runner, pods, host, config.virtual_ips})
            .context("removing the temporary control plane"));
    is_up = false;
    if (options.termination_limit.count() == 0) return Ok{};
    return wait_for_end(environment, access.server, options.termination_limit);
  };
  const auto work = [&]() -> Result<> {
    TRY(pods.place().context("starting the temporary control plane"));
    TRY(wait_for_api(environment, access.server));
    context.log.info("the temporary API server is ready");
    return run_handover(context, {api, api_afterwards, options, std::move(manifests), needed_masters(config), tear_down});
  };
  const Result<> done = work();
  if (context.stop.stop_requested() || !is_up) return done;
  // The next start begins from scratch. The reason of this failure matters more than an error here, and nothing waits for a
  // control plane that failed.
  const Result<> removed = pods.remove_all();
  if (!removed.ok()) context.log.warn("{}", removed.error().message());
  return done;
}

}  // namespace slipway::components::cluster_bootstrap
