#include "cli/installing.h"

#include "cli/cluster_directory.h"
#include "cluster/ready.h"
#include "cluster/router_authority.h"
#include "kube/conditions.h"

#include <fmt/core.h>

#include <memory>

namespace slipway::cli {

namespace {

// The URL of the web console; nothing if the release has none.
std::optional<std::string> console_of(const Environment& environment, const std::string& folder) {
  auto client = client_of(environment, folder);
  if (!client.ok()) return std::nullopt;
  const Result<Json> route = client.value().send(
      environment.context,
      {.path = "/apis/route.openshift.io/v1/namespaces/openshift-console/routes/console", .limit = Seconds(10)});
  if (!route.ok()) return std::nullopt;
  for (const Json& ingress : find_array(route.value(), {"status", "ingress"})) {
    const auto host = find_string(ingress, {"host"});
    if (host && kube::condition_status({{"status", ingress}}, "Admitted") == "True") return fmt::format("https://{}", *host);
  }
  return std::nullopt;
}

// The ClusterOperators of an incomplete cluster; empty if the API does not answer.
std::vector<Json> ask_operators(const Environment& environment, const std::string& folder) {
  auto client = client_of(environment, folder);
  if (!client.ok()) return {};
  kube::Client& api = client.value();
  if (!api.send(environment.context, {.path = "/readyz", .limit = Seconds(5)}).ok()) return {};
  auto found = kube::list(environment.context, api, kube::types::cluster_operators, "", {});
  return found.ok() ? std::move(found).value() : std::vector<Json>();
}

// Sets the exit status of a failed installation and logs what to do.
void report_failure(const Environment& environment, const std::string& folder, cluster::Step failed) {
  ExitStatus status = cluster::row_of(failed).exit_status;
  Log& log = environment.context.log;
  if (status == ExitStatus::bootstrap || status == ExitStatus::initialisation || status == ExitStatus::operators) {
    const std::vector<Json> operators = ask_operators(environment, folder);
    for (const cluster::OperatorLine& line : cluster::operator_lines(operators)) {
      line.level == Level::error ? log.error("{}", line.text) : log.info("{}", line.text);
    }
    if (status == ExitStatus::operators && !cluster::all_are_healthy(operators)) status = ExitStatus::initialisation;
    if (status == ExitStatus::bootstrap) {
      log.info(
          "to find the cause, run `slipway gather bootstrap --dir {}` (with --bootstrap HOST if the machines are not local), "
          "then `slipway analyze --dir {}`",
          folder, folder);
    } else {
      log.info("to inspect the cluster, use {}/auth/kubeconfig; to wait again, run `slipway wait-for install-complete --dir {}`",
               folder, folder);
    }
  }
  environment.exit_status = static_cast<int>(status);
}

}  // namespace

Result<> installing(const Environment& environment, const std::string& folder,
                    const std::function<Result<>(cluster::FaultWatch&, cluster::Steps&)>& work) {
  const SteadyTime begin = environment.context.clock.steady();
  // The sink holds the watch: it may be called after this function returns.
  const auto faults = std::make_shared<cluster::FaultWatch>(environment.context.clock);
  environment.context.events.add_sink([faults](const sys::Event& event) { faults->observe(event); });
  cluster::Steps steps;
  const Result<> worked = work(*faults, steps);
  if (worked.ok()) {
    const auto took = std::chrono::duration_cast<Milliseconds>(environment.context.clock.steady() - begin);
    environment.context.log.info("time elapsed: {}", human_duration(took));
  } else if (steps.failed() && !environment.context.stop.stop_requested()) {
    report_failure(environment, folder, *steps.failed());
  }
  return worked;
}

Result<> trust_routers(const Environment& environment, const std::string& folder) {
  kube::Client api = TRY(client_of(environment, folder));
  return or_exit_with(ExitStatus::initialisation, environment,
                      cluster::trust_routers(environment.context, environment.files, api, folder + "/auth/kubeconfig"));
}

void warn_about_ignored_settings(const Environment& environment, const std::string& folder) {
  for (const std::string& line : cluster::ignored_settings(ask_operators(environment, folder))) {
    environment.context.log.warn("{}", line);
  }
}

Result<> log_console(const Environment& environment, const std::string& folder) {
  const std::optional<std::string> console = console_of(environment, folder);
  if (!console) {
    environment.context.log.debug("no web console found");
    return Ok{};
  }
  std::optional<std::string> password = folder + "/auth/kubeadmin-password";
  if (!TRY(environment.files.info(*password))) password.reset();
  for (const std::string& line : console_lines(*console, password)) environment.context.log.info("{}", line);
  return Ok{};
}

std::vector<std::string> console_lines(const std::string& console, const std::optional<std::string>& password_file) {
  std::vector<std::string> lines = {fmt::format("web console: {}", console)};
  if (password_file)
    lines.push_back(fmt::format("log in to the console as user kubeadmin with the password in {}", *password_file));
  return lines;
}

}  // namespace slipway::cli
