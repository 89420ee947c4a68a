#include "assist/service_requests.h"
#include "cli/agent_commands.h"
#include "cli/agent_files.h"
#include "cli/agent_progress.h"
#include "cli/cluster_directory.h"
#include "cli/local_options.h"
#include "cli/wait_for.h"
#include "net/url.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

#include <optional>

namespace slipway::cli {

namespace {

constexpr Milliseconds service_limit = std::chrono::minutes(90);  // for people who boot hosts, and for the bootstrap
constexpr Milliseconds answer_limit = Seconds(10);
constexpr Milliseconds restart_limit = Seconds(10);  // a service that was killed answers again before
constexpr sys::Pace pace{Milliseconds(500), Seconds(2)};

// Follows the service on the rendezvous host until that host restarts as a node. Threads: one.
class ServiceWatch {
 public:
  ServiceWatch(const Environment& environment, RendezvousAccess access, kube::Api& api)
      : environment_(environment), access_(std::move(access)), api_(api) {}

  Result<> run() {
    environment_.context.log.info("following the service at {}", access_.url);
    return sys::wait_for(environment_.context, "the hosts", service_limit, [this] { return observe(); }, nullptr, pace);
  }

 private:
  Result<sys::Observation> observe() {
    const Result<Json> cluster = get("/v2/clusters/" + access_.cluster_id);
    if (!cluster.ok() && cluster.error().code() != Code::unavailable) return cluster.error();
    if (!cluster.ok()) return observe_without_service(cluster.error().message());
    silent_since_.reset();
    TRY(print_events());
    if (const auto failure = installation_failure(cluster.value())) return error(Code::internal, "{}", *failure);
    return sys::Observation::not_yet("the cluster is {}: {}", text_of(cluster.value(), {"status"}),
                                     text_of(cluster.value(), {"status_info"}));
  }

  // The service is in the memory of its host. When that host has restarted, the cluster answers without it. The bootstrap also
  // serves the API, while the service may be starting again.
  Result<sys::Observation> observe_without_service(const std::string& problem) {
    const SteadyTime now = environment_.context.clock.steady();
    if (!silent_since_) silent_since_ = now;
    if (!api_.send(environment_.context, {.path = "/readyz", .limit = answer_limit}).ok())
      return sys::Observation::not_yet("neither the service nor the API of the cluster answers: {}", problem);
    if (now - *silent_since_ < restart_limit) return sys::Observation::not_yet("the service does not answer: {}", problem);
    return sys::Observation::done();
  }

  Result<> print_events() {
    const Json events = TRY(get(fmt::format("/v2/events?cluster_id={}&offset={}", access_.cluster_id, seen_)));
    for (const ProgressLine& line : progress_lines(events)) {
      ++seen_;
      Log& log = environment_.context.log;
      line.level == Level::info    ? log.info("{}", line.text)
      : line.level == Level::warn  ? log.warn("{}", line.text)
                                   : log.error("{}", line.text);
    }
    return Ok{};
  }

  Result<Json> get(const std::string& path) const {
    net::Request request{.url = TRY(net::parse_url(fmt::format("{}{}{}", access_.url, assist::service_path, path)))};
    request.authorization = Secret("Bearer " + access_.token.reveal());
    request.tls.ca_pem = access_.authority;
    request.connect_limit = request.idle_limit = answer_limit;
    const net::Answer answer = TRY(environment_.http.send(request, environment_.context.stop));
    if (answer.status != 200) return assist::refusal(answer);
    return parse_json(answer.body, path);
  }

  const Environment& environment_;
  const RendezvousAccess access_;
  kube::Api& api_;
  std::size_t seen_ = 0;  // events
  std::optional<SteadyTime> silent_since_;
};

// The service first, then the cluster.
Result<> wait(const Environment& environment, const Arguments& arguments, const std::string& folder,
              std::vector<cluster::Condition> (*conditions)(const config::InstallConfig&)) {
  print_events(environment, arguments);
  const AgentFiles files = TRY(read_agent_files(environment, folder));
  const config::InstallConfig& config = files.folder.config.config;
  RendezvousAccess access = TRY(read_rendezvous_access(environment, folder));
  if (arguments.has("--service")) access.url = arguments["--service"];
  kube::Client api = TRY(client_of(environment, folder));
  TRY(or_exit_with(ExitStatus::bootstrap, environment, ServiceWatch(environment, std::move(access), api).run()));
  return wait_for_conditions(environment, arguments, folder, config, conditions(config));
}

Result<> wait_for_bootstrap(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  warn_if_expired(environment, folder);
  TRY(wait(environment, arguments, folder, cluster::bootstrap_conditions));
  environment.context.log.info("bootstrap complete: all masters are nodes of the cluster");
  return Ok{};
}

Result<> wait_for_install(const Environment& environment, const Arguments& arguments) {
  const std::string folder = absolute(arguments["--dir"]);
  TRY(wait(environment, arguments, folder, cluster::install_conditions));
  return finish_installation(environment, folder);
}

std::vector<Option> options() {
  return {{.name = "--service",
           .value = "URL",
           .help = "where the service of the rendezvous host answers (default https://RENDEZVOUSIP:8090); for a port that is "
                   "forwarded to it, https://127.0.0.1:PORT"},
          events_option()};
}

}  // namespace

Command agent_wait_for_bootstrap_command() {
  return {.words = "agent wait-for bootstrap-complete",
          .summary = "Wait until the hosts of the image are installed and all masters run the control plane",
          .options = options(),
          .run = wait_for_bootstrap,
          .when_interrupted = waiting_interrupted};
}

Command agent_wait_for_install_command() {
  return {.words = "agent wait-for install-complete",
          .summary = "Wait until the cluster of the image is installed",
          .options = options(),
          .run = wait_for_install,
          .when_interrupted = waiting_interrupted};
}

}  // namespace slipway::cli
