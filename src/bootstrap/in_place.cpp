#include "bootstrap/in_place.h"

#include "sys/wait_for.h"

#include <fmt/format.h>

namespace slipway::bootstrap {

namespace {

using std::chrono::minutes;
using sys::Observation;

const std::string etcd_pod = "/etc/kubernetes/manifests/etcd-member-pod.yaml";
const std::string etcd_data = "/var/lib/etcd/member/snap/db";
constexpr std::string_view config_server = "http://localhost:22624/config/master";
constexpr sys::Pace pace{Milliseconds(100), Milliseconds(1'000)};

}  // namespace

Result<> stop_etcd(const sys::Context& context, sys::Files& files, sys::Runner& runner) {
  if (TRY(files.info(etcd_pod))) TRY(files.rename(etcd_pod, stopped_etcd_pod));
  if (!TRY(files.info(etcd_data))) return error(Code::not_found, "{}: not found, so etcd has not run on this machine", etcd_data);
  // etcd holds a lock on this file while it is open.
  const sys::Command lock{.argv = {"flock", "--exclusive", "--timeout=5", etcd_data, "true"}, .limit = minutes(1)};
  const auto observe = [&]() -> Result<Observation> {
    const sys::Output output = TRY(runner.run(context, lock));
    return output.status == 0 ? Observation::done() : Observation::not_yet("{} is in use", etcd_data);
  };
  return sys::wait_for(context, "the end of etcd", minutes(5), observe, nullptr, pace);
}

Result<> fetch_master_config(const sys::Context& context, sys::Files& files, net::Http& http, const std::string& assets) {
  net::Url url = TRY(net::parse_url(config_server));
  net::Request request{.url = std::move(url), .headers = {{"Accept", "application/vnd.coreos.ignition+json;version=3.2.0"}}};
  // Only the server of slipway requires the token.
  if (const auto token = TRY(files.read_if_exists(assets + "/tls/machine-config-server-token"))) {
    request.authorization = Secret("Bearer " + *token);
  }
  std::string config;
  const auto observe = [&]() -> Result<Observation> {
    net::Answer answer = TRY(http.send(request, context.stop));
    if (answer.status >= 500) return Observation::not_yet("{}: status {}: {}", config_server, answer.status, answer.body);
    if (answer.status != 200) {
      return error(answer.status == 403 ? Code::denied : Code::invalid, "{}: status {}: {}", config_server, answer.status,
                   answer.body);
    }
    config = std::move(answer.body);
    return Observation::done();
  };
  TRY(sys::wait_for(context, "the config of a master", minutes(10), observe, nullptr, pace));
  return files.write(assets + "/original-master.ign", config, 0600);
}

Result<> gather_logs(const sys::Context& context, sys::Runner& runner, const std::string& assets) {
  TRY(sys::run_checked(runner, context,
                       {.argv = {"/usr/local/bin/installer-gather.sh", "--id", "bootstrap"},
                        .environment = {"TAR_FILE=" + assets + "/log-bundle-bootstrap.tar.gz"},
                        .limit = minutes(10)}));
  return Ok{};
}

}  // namespace slipway::bootstrap
