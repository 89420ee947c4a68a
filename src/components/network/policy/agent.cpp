#include "components/network/policy/agent.h"

#include "base/flags.h"
#include "base/guarded.h"
#include "base/number.h"
#include "base/text.h"
#include "components/network/policy/store.h"
#include "components/program/kube_access.h"
#include "kube/types.h"
#include "net/http_server.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>

namespace slipway::components::network {

namespace {

using namespace std::chrono_literals;

constexpr Milliseconds nft_limit = 120s;
constexpr sys::Pace retry_pace{500ms, 15s};
// Changes often arrive together: a Deployment starts its pods at once.
constexpr Milliseconds between_updates = 20ms;
// How long a table may be missing that something else on the node removed.
constexpr Milliseconds between_checks = 5min;
constexpr Milliseconds removal_limit = 5s;

const std::string set_of_bridges = "/proc/sys/net/bridge/bridge-nf-call-";

struct Options {
  std::string node;
  std::string kubeconfig;
};

// Packets between two pods of the node cross a bridge. Rules see them only with these settings.
Result<> check_bridge_settings(sys::Files& files) {
  for (const std::string_view name : {"iptables", "ip6tables"}) {
    const std::string path = fmt::format("{}{}", set_of_bridges, name);
    const std::optional<std::string> value = TRY(files.read_if_exists(path));
    if (value && trim(*value) == "1") continue;
    return error(
        Code::unavailable,
        "{} is {}, must be 1: NetworkPolicies do not apply between pods of this node (load the kernel module br_netfilter "
        "and set net.bridge.bridge-nf-call-{}=1)",
        path, value ? fmt::format("\"{}\"", trim(*value)) : "missing", name);
  }
  return Ok{};
}

class Agent {
 public:
  Agent(const Environment& environment, Options options, std::string bridge)
      : environment_(environment), options_(std::move(options)), table_(environment.runner, std::move(bridge)) {}

  net::ServerAnswer answer(const net::ServerRequest& request) const {
    if (request.path != "/readyz") return net::text_answer(404, "only /readyz exists here\n");
    const std::string reason = not_ready_.with_lock([](const std::string& it) { return it; });
    return reason.empty() ? net::text_answer(200, "ok\n") : net::text_answer(503, reason + "\n");
  }

  // Keeps the rules of the kernel until a stop.
  Result<> enforce(const sys::Context& context) {
    Milliseconds pause = retry_pace.first;
    SteadyTime next_check = context.clock.steady() + between_checks;
    while (!context.stop.stop_requested()) {
      const std::uint64_t seen = store_.changed().count();
      SteadyTime again = next_check;
      if (store_.is_complete()) {
        const Result<> done = update(context);
        if (context.stop.stop_requested()) break;
        report(context, done);
        if (done.ok()) {
          pause = retry_pace.first;
        } else {
          again = context.clock.steady() + pause;
          pause = std::min(pause * 2, retry_pace.longest);
        }
      }
      context.clock.wait(again, context.stop, &store_.changed(), seen);
      if (context.clock.steady() >= next_check) {
        next_check = context.clock.steady() + between_checks;
        const Result<bool> is_there = table_.is_there(context);
        if (is_there.ok() && !is_there.value()) context.log.warn("the table of rules is gone; loading it again");
      }
      if (!sys::pause(context, between_updates)) break;
    }
    return error(Code::cancelled, "stopped");
  }

  // Watches until a stop, with another client when the API server rejects the credentials: permissions may be granted later, and
  // a token may have been replaced.
  Result<> watch(const sys::Context& context) {
    for (Milliseconds pause = retry_pace.first;; pause = std::min(pause * 2, retry_pace.longest)) {
      const kube::Access access = TRY(kube_access(environment_.files, options_.kubeconfig));
      kube::Client api(environment_.http, access);
      const Result<> ended = store_.follow(context, api);
      if (context.stop.stop_requested()) return Ok{};
      if (ended.ok() || ended.error().code() != Code::denied) return ended;
      if (!store_.is_complete()) set_not_ready(ended.error().message());
      context.log.warn("{}; retrying", ended.error().message());
      if (!sys::pause(context, pause)) return Ok{};
    }
  }

  // After a stop: removes the rules if the DaemonSet is being removed. If that cannot be found out, they stay.
  Result<> leave(const sys::Context& context) {
    const kube::Access access = TRY(kube_access(environment_.files, options_.kubeconfig));
    kube::Client api(environment_.http, access);
    const Result<Json> found = api.send(
        context,
        {.path = kube::path_of(kube::types::daemon_sets, "openshift-flannel", "flannel-kube-proxy"), .limit = removal_limit});
    const bool is_removed =
        found.ok() ? find(found.value(), {"metadata", "deletionTimestamp"}) != nullptr : found.error().code() == Code::not_found;
    if (!found.ok() && !is_removed) return found.error();
    if (!is_removed) return Ok{};
    context.log.info("DaemonSet openshift-flannel/flannel-kube-proxy is being removed: removing the rules of NetworkPolicies");
    return table_.remove(context);
  }

 private:
  Result<> update(const sys::Context& context) {
    const SteadyTime started = context.clock.steady();
    Ruleset wanted = compile(store_.facts(), options_.node);
    const std::size_t isolated = wanted.ingress.chains.size() + wanted.egress.chains.size();
    const bool has_changed = TRY(table_.update(context, std::move(wanted)));
    if (has_changed) {
      const auto took = std::chrono::duration_cast<Milliseconds>(context.clock.steady() - started);
      context.log.info("rules loaded in {} ms: {} isolated addresses and directions", took.count(), isolated);
    }
    return check_bridge_settings(environment_.files);
  }

  void report(const sys::Context& context, const Result<>& done) {
    const std::string reason = done.ok() ? "" : done.error().message();
    const bool is_news = not_ready_.with_lock([&](std::string& it) { return std::exchange(it, reason) != reason; });
    if (is_news && !done.ok()) context.log.warn("{}; retrying", reason);
    if (is_news && done.ok()) context.log.info("NetworkPolicies are in force");
  }

  void set_not_ready(const std::string& reason) {
    not_ready_.with_lock([&](std::string& it) { it = reason; });
  }

  const Environment& environment_;
  const Options options_;
  FactStore store_;
  KernelTable table_;
  Guarded<std::string> not_ready_{"waiting for the first lists of NetworkPolicies, pods and namespaces"};  // empty: ready
};

}  // namespace

Result<bool> KernelTable::update(const sys::Context& context, Ruleset wanted) {
  if (!loaded_) {
    TRY(run(context, whole_table(wanted, bridge_)));
    loaded_ = std::move(wanted);
    return true;
  }
  const Transactions transactions = differences(*loaded_, wanted);
  if (transactions.change.empty() && transactions.cleanup.empty()) return false;
  // After a failure it is not known which rules the kernel has.
  loaded_.reset();
  if (!transactions.change.empty()) TRY(run(context, transactions.change));
  if (!transactions.cleanup.empty()) TRY(run(context, transactions.cleanup));
  loaded_ = std::move(wanted);
  return true;
}

Result<bool> KernelTable::is_there(const sys::Context& context) {
  const sys::Output output = TRY(runner_.run(
      context, {.argv = {"nft", "--terse", "list", "chain", "inet", "slipway-network-policy", "forward"}, .limit = nft_limit}));
  const bool has_rules = output.status == 0 && output.out.find("jump enters-pod") != std::string::npos;
  if (!has_rules) loaded_.reset();
  return has_rules;
}

Result<> KernelTable::remove(const sys::Context& context) {
  loaded_.reset();
  return run(context, no_table());
}

Result<> KernelTable::run(const sys::Context& context, std::string script) {
  const sys::Command command{.argv = {"nft", "-f", "-"}, .input = std::move(script), .limit = nft_limit};
  TRY(sys::run_checked(runner_, context, command).context("loading the rules of NetworkPolicies"));
  return Ok{};
}

Result<> run_policy_agent(const Environment& environment, const Arguments& arguments) {
  const Flags flags = TRY(parse_flags("cluster-network-operator policy-agent",
                                      {{.name = "node", .required = true},
                                       {.name = "bridge", .fallback = "cni0"},
                                       {.name = "port", .fallback = "29103"},
                                       {.name = "kubeconfig"}},
                                      arguments));
  const int port = parse_number<std::uint16_t>(flags.text("port")).value_or(0);
  if (port == 0) return error(Code::invalid, "--port: '{}' is not a port", flags.text("port"));
  const sys::Context& context = environment.context;
  Agent agent(environment, {.node = flags.text("node"), .kubeconfig = flags.text("kubeconfig")}, flags.text("bridge"));
  const net::HttpServer server =
      TRY(net::HttpServer::listen({.address = "127.0.0.1", .port = port, .threads = 1, .exchange_limit = Seconds(20)},
                                  [&](const net::ServerRequest& request) { return agent.answer(request); }));
  context.log.info("enforcing NetworkPolicies on node {}; /readyz on port {}", flags.text("node"), server.port());
  sys::TaskGroup tasks(context);
  tasks.run("rules", [&](const sys::Context& own) { return agent.enforce(own); });
  tasks.run("the cluster", [&](const sys::Context& own) { return agent.watch(own); });
  const Result<> ended = tasks.wait();
  if (!context.stop.stop_requested()) return ended;
  // The stop has been requested, so these last steps have a context without it.
  const Result<> left = agent.leave(context.with_stop({}));
  if (!left.ok()) context.log.warn("the rules of NetworkPolicies stay: {}", left.error().message());
  return Ok{};
}

}  // namespace slipway::components::network
