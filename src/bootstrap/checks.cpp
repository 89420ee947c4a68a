#include "bootstrap/checks.h"

#include "kube/kubeconfig.h"
#include "net/read_tls_options.h"
#include "sys/stages.h"
#include "sys/wait_for.h"

#include <fmt/format.h>
#include <span>

namespace slipway::bootstrap {

namespace {

using sys::Observation;

// The metrics listener also serves the health of the store. An etcd with --listen-client-http-urls, as in OpenShift's pods,
// serves no HTTP on its client port.
constexpr std::string_view etcd_health[] = {"https://localhost:2379/health", "https://localhost:9978/health"};
// Members answer peers before there is a leader; the client port is open by then, too.
constexpr std::string_view etcd_peer[] = {"https://localhost:2380/version"};
constexpr int api_port = 6443;

// Requests each address in turn until an answer is good.
Result<> ask_etcd(const sys::Context& context, sys::Files& files, net::Http& http, const std::string& assets,
                  std::string_view what, std::span<const std::string_view> addresses,
                  const std::function<bool(const Result<net::Answer>&)>& is_good) {
  const std::string stem = assets + "/tls/etcd-";
  const net::TlsOptions tls = TRY(net::read_tls_options(files, stem + "ca-bundle.crt", stem + "client.crt", stem + "client.key"));
  const auto observe = [&]() -> Result<Observation> {
    std::string reason;
    for (const std::string_view address : addresses) {
      const net::Url url = TRY(net::parse_url(address));
      const net::Request request{.url = url, .tls = tls, .connect_limit = Seconds(5), .idle_limit = Seconds(10)};
      const Result<net::Answer> answer = http.send(request, context.stop);
      if (is_good(answer)) return Observation::done();
      if (!answer.ok() && answer.error().code() == Code::cancelled) return Error(answer.error());
      if (!reason.empty()) reason += "; ";
      reason += answer.ok() ? fmt::format("{}: status {}", address, answer->status) : answer.error().message();
    }
    return Observation::not_yet("{}", reason);
  };
  return sys::wait_for(context, what, std::chrono::minutes(20), observe, nullptr, {Milliseconds(25), Milliseconds(500)});
}

}  // namespace

Result<> wait_for_etcd_process(const sys::Context& context, sys::Files& files, net::Http& http, const std::string& assets) {
  // An etcd whose certificate is not valid for this name is running.
  return ask_etcd(context, files, http, assets, "the etcd of this machine to start", etcd_peer,
                  [](const Result<net::Answer>& answer) { return answer.ok() || answer.error().code() == Code::denied; });
}

Result<> wait_for_etcd(const sys::Context& context, sys::Files& files, net::Http& http, const std::string& assets) {
  return ask_etcd(context, files, http, assets, "the etcd of this machine", etcd_health,
                  [](const Result<net::Answer>& answer) { return answer.ok() && answer->status == 200; });
}

Result<> run_check(const sys::Context& context, sys::Files& files, const std::string& assets, const Check& check,
                   const std::function<Result<>()>& probe) {
  const Result<> result = probe();
  if (result.ok()) return files.write(sys::marker_path(assets, check.marker), "", 0644);
  if (result.error().code() == Code::cancelled) return Error(result.error());
  context.log.warn("{}: {}; the bootstrap continues without it", check.stage, result.error().message());
  context.events.emit({.kind = "check", .name = check.stage, .phase = sys::Phase::failed, .error = result.error()});
  return Ok{};
}

Result<std::string> api_host(sys::Files& files, const std::string& assets, const std::string& kubeconfig) {
  const std::string path = assets + "/" + kubeconfig;
  const kube::Access access = TRY(kube::read_kubeconfig(files, path));
  return TRY(net::parse_url(access.server).context(path)).host;
}

Result<> resolve(const sys::Context& context, sys::Runner& runner, const std::string& host) {
  const sys::Output output = TRY(runner.run(context, {.argv = {"getent", "ahosts", host}, .limit = Seconds(15)}));
  if (output.status != 0 || output.out.empty()) {
    return error(Code::unavailable, "{}: has no address (add a DNS record)", host);
  }
  return Ok{};
}

Result<> ask_readyz(const sys::Context& context, net::Http& http, const std::string& host) {
  const net::Request request{.url = {.scheme = "https", .host = host, .port = api_port, .target = "/readyz"},
                             .tls = {.insecure_skip_verify = true},
                             .connect_limit = Seconds(10),
                             .idle_limit = Seconds(10)};
  const net::Answer answer = TRY(http.send(request, context.stop));
  if (answer.status != 200) return error(Code::unavailable, "{}: /readyz: status {}", net::authority(request.url), answer.status);
  return Ok{};
}

}  // namespace slipway::bootstrap
