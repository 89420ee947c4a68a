#include "components/runtimecfg/monitor.h"

#include "base/flags.h"
#include "base/number.h"
#include "base/text.h"
#include "components/program/socket_command.h"
#include "components/runtimecfg/departure.h"
#include "components/runtimecfg/proxy_slots.h"
#include "components/runtimecfg/runtimecfg.h"
#include "kube/roles.h"
#include "net/interfaces.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <optional>

namespace slipway::components::runtimecfg {

namespace {

// As in haproxy.cfg.
constexpr std::string_view proxy = "127.0.0.1:9445";

// Polling interval: haproxy does not report when it ends or when the state of a server changes.
constexpr Milliseconds poll_interval{500};

// The router "default" answers there on every machine where it runs. Most machines have no router; a check is cheap there.
constexpr std::string_view router = "http://127.0.0.1:1936/healthz/ready";
constexpr Milliseconds router_poll_interval{1'000};

// keepalived does not hold the virtual IP with a value below -253.
constexpr int no_virtual_ip = -254;
// Added to 60, the largest priority is 250. At two advertisements a second, other machines take over after 0.01 to 0.19 s.
constexpr int priority_of_holder = 190;
constexpr int lowest_full_priority = 100;

Result<std::vector<ProxySlot>> read_slots(const ProxyMonitor::Parts& parts) {
  return parse_proxy_slots(TRY(parts.ask_proxy(fmt::format("show servers state {}", proxy_backend))));
}

// The status of the answer; nothing without an answer. It tries twice, because a reused connection may lead to a server that has
// just ended. errors: cancelled: nothing is known
Result<std::optional<int>> ask(const Environment& environment, const net::Request& request) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Result<net::Answer> answer = environment.http.send(request, environment.context.stop);
    if (answer.ok()) return std::optional(answer->status);
    if (answer.error().code() == Code::cancelled) return answer.error();
  }
  return std::optional<int>();
}

Result<bool> api_answers(const Environment& environment) {
  const Result<net::Url> url = net::parse_url(fmt::format("https://{}/readyz", proxy));
  // A long limit, because a busy API server may be slow. haproxy detects servers that have ended.
  const net::Request request{.url = url.value(),
                             .tls = {.insecure_skip_verify = true},
                             .connect_limit = Milliseconds(1'000),
                             .whole_limit = Milliseconds(5'000)};
  // Any status counts, because haproxy checks whether servers are ready, and a reused connection may lead to a server that is
  // shutting down.
  return TRY(ask(environment, request)).has_value();
}

Result<RouterHealth> router_health(const Environment& environment) {
  const Result<net::Url> url = net::parse_url(router);
  const net::Request request{.url = url.value(), .connect_limit = Milliseconds(500), .whole_limit = Milliseconds(1'000)};
  const std::optional<int> status = TRY(ask(environment, request));
  if (!status) return RouterHealth::absent;
  return *status == 200 ? RouterHealth::ready : RouterHealth::not_ready;
}

Result<int> full_priority_now(const net::IpAddress& own, const net::IpAddress& vip) {
  return full_priority(own, TRY(net::has_address(vip)));
}

Result<> follow_masters(const sys::Context& context, const Environment& environment, const std::string& kubeconfig, bool v4,
                        ProxyMonitor& monitor) {
  kube::Access access = TRY(kube::read_kubeconfig(environment.files, kubeconfig));
  access.connect_to = proxy;
  kube::Client api(environment.http, std::move(access));
  return kube::follow(context, api, kube::types::nodes, "", {.labels = std::string(kube::master_label)},
                      [&](const kube::Objects& nodes) -> Result<> {
                        monitor.set_masters(node_addresses(nodes, v4));
                        return Ok{};
                      });
}

Result<> follow_masters_and_retry(const sys::Context& context, const Environment& environment, const std::string& kubeconfig,
                                  bool v4, ProxyMonitor& monitor) {
  for (;;) {
    // The kubelet gets its certificate after this program starts, and it is renewed later. Each attempt reads the kubeconfig
    // again.
    const Result<> ended = follow_masters(context, environment, kubeconfig, v4, monitor);
    if (context.stop.stop_requested()) return Ok{};
    context.log.warn("cannot read the other masters: {}; continuing with the known ones", ended.error().message());
    if (!sys::pause(context, Seconds(1))) return Ok{};
  }
}

Result<int> parse_needed(const std::string& text) {
  const int number = parse_number<int>(text).value_or(0);
  if (number < 1) return error(Code::invalid, "--needed-backends: '{}' is not a number greater than 0", text);
  return number;
}

}  // namespace

// Addresses of machines are often consecutive. Multiples of the golden section (159 of 256) put such addresses far apart.
int full_priority(const net::IpAddress& own, bool holds_address) {
  if (holds_address) return priority_of_holder;
  const int place = own.bytes()[own.is_v4() ? 3 : 15] * 159 % 256;
  return lowest_full_priority + place * (priority_of_holder - lowest_full_priority) / 256;
}

int priority_change(int up, int needed, bool answers, int full) {
  if (up == 0 || !answers) return no_virtual_ip;
  return up < needed ? 0 : full;
}

std::set<std::string> node_addresses(const std::vector<Json>& nodes, bool v4) {
  std::set<std::string> addresses;
  for (const Json& node : nodes) {
    for (const Json& address : find_array(node, {"status", "addresses"})) {
      if (find_string(address, {"type"}) != "InternalIP") continue;
      const Result<net::IpAddress> parsed = net::parse_ip(find_string(address, {"address"}).value_or(""));
      if (parsed.ok() && parsed->is_v4() == v4) addresses.insert(to_string(parsed.value()));
    }
  }
  return addresses;
}

ProxyMonitor::ProxyMonitor(sys::Files& files, Parts parts) : files_(files), parts_(std::move(parts)) {
  masters_.with_lock([&](auto& masters) { masters.insert(parts_.own_address); });
}

void ProxyMonitor::set_masters(std::set<std::string> addresses) {
  addresses.insert(parts_.own_address);
  masters_.with_lock([&](auto& masters) { masters = std::move(addresses); });
  changed_.notify();
}

Result<bool> ProxyMonitor::update(const sys::Context& context) {
  const std::set<std::string> masters = masters_.with_lock([](const auto& known) { return known; });
  const Result<std::vector<ProxySlot>> slots = read_slots(parts_);
  const std::string problem = slots.ok() ? "" : slots.error().message();
  if (problem != std::exchange(last_problem_, problem) && !problem.empty()) context.log.warn("haproxy: {}", problem);
  int up = 0;
  bool answers = false;
  if (slots.ok()) {
    up = static_cast<int>(std::ranges::count_if(slots.value(), &ProxySlot::is_up));
    answers = up > 0 && TRY(parts_.answers());
    // The next update retries commands that fail.
    const std::vector<std::string> commands = slot_commands(slots.value(), masters);
    if (!commands.empty()) {
      const Result<std::string> output = parts_.ask_proxy(join(commands, "; "));
      context.log.info("haproxy: {}", trim(output.ok() ? output.value() : output.error().message()));
    }
  }
  const int change = priority_change(up, parts_.needed, answers, TRY(parts_.full_priority()));
  if (TRY(write_priority_change(files_, parts_.track_file, change))) {
    context.log.info("{} of {} API servers are healthy, the proxy {}: {} to the priority", up, masters.size(),
                     answers ? "answers" : "does not answer", change);
  }
  return answers;
}

int priority_change(RouterHealth health, int full) {
  switch (health) {
    case RouterHealth::ready: return full;
    case RouterHealth::not_ready: return 0;
    case RouterHealth::absent: break;
  }
  return no_virtual_ip;
}

RouterMonitor::RouterMonitor(sys::Files& files, Parts parts) : files_(files), parts_(std::move(parts)) {}

Result<> RouterMonitor::update(const sys::Context& context) {
  const RouterHealth health = TRY(parts_.ask());
  const int change = priority_change(health, TRY(parts_.full_priority()));
  // A router that shuts down is better than one that is still starting, so machines with such a router do not take over.
  if (health == RouterHealth::not_ready && was_ready_) TRY(parts_.leave(context, change + 1));
  was_ready_ = health == RouterHealth::ready;
  if (TRY(write_priority_change(files_, parts_.track_file, change))) {
    context.log.info("{}: {} to the priority",
                     health == RouterHealth::absent  ? "this machine has no router"
                     : health == RouterHealth::ready ? "the router of this machine is ready"
                                                     : "the router of this machine is not ready",
                     change);
  }
  return Ok{};
}

namespace {

// What both addresses share.
struct Monitoring {
  const Environment& environment;
  const Flags& flags;
  Json addresses;  // output of `ip -json address`

  std::string file(std::string_view name) const { return fmt::format("{}/{}", flags.text("out-dir"), name); }

  // Whether this program was told to stop. A task also stops when another one fails: then the address stays.
  bool is_stopping() const { return environment.context.stop.stop_requested(); }
};

// How an address leaves this machine. From now on connections to it are accepted.
Result<Departure> prepare_departure(const sys::Context& context, const Monitoring& monitoring, std::string name,
                                    const net::IpAddress& vip, int router_id, const std::string& track_file) {
  Departure departure = TRY(make_departure(
      monitoring.environment, {.name = std::move(name), .address = vip, .router_id = router_id, .track_file = track_file},
      monitoring.addresses));
  departure.begin(context);
  return departure;
}

// Updates until a stop: after each interval, and when `changed` is notified. A stop that interrupts an update is not a failure.
Result<> update_until_stop(const sys::Context& context, Milliseconds interval, sys::Wakeup* changed,
                           const std::function<Result<>()>& update) {
  while (!context.stop.stop_requested()) {
    const std::uint64_t seen = changed ? changed->count() : 0;
    const Result<> updated = update();
    if (!updated.ok()) return updated.error().code() == Code::cancelled ? Result<>(Ok{}) : updated;
    context.clock.wait(context.clock.steady() + interval, context.stop, changed, seen);
  }
  return Ok{};
}

Result<> monitor_api(const sys::Context& whole, const Monitoring& monitoring, const std::string& kubeconfig,
                     const net::IpAddress& vip) {
  const Environment& environment = monitoring.environment;
  const net::IpAddress own = TRY(own_address_for(monitoring.addresses, vip));
  const std::string track_file = monitoring.file("proxy"), socket = monitoring.file("haproxy.sock");
  const auto needed = TRY(parse_needed(monitoring.flags.text("needed-backends")));
  const int router_id = api_router_id(monitoring.flags.text("cluster-domain"));
  Departure departure = TRY(prepare_departure(whole, monitoring, "API", vip, router_id, track_file));
  ProxyMonitor monitor(
      environment.files,
      {.own_address = to_string(own),
       .needed = needed,
       .track_file = track_file,
       .ask_proxy = [&](std::string_view command) { return send_socket_command(socket, command, Milliseconds(2'000)); },
       .answers = [&] { return api_answers(environment); },
       .full_priority = [&] { return full_priority_now(own, vip); }});
  sys::Wakeup answered;
  sys::TaskGroup tasks(whole);
  tasks.run("updates of haproxy", [&](const sys::Context& context) -> Result<> {
    TRY(update_until_stop(context, poll_interval, &monitor.changed(), [&]() -> Result<> {
      if (TRY(monitor.update(context))) answered.notify();
      return Ok{};
    }));
    // Another master can take the address only if there is one.
    if (monitoring.is_stopping() && needed > 1) TRY(departure.leave(context, lowest_priority_change));
    return Ok{};
  });
  tasks.run("following masters", [&](const sys::Context& context) {
    // Waits until the API answers: earlier attempts would fail and make the pauses between attempts longer.
    while (answered.count() == 0 && !context.stop.stop_requested()) {
      context.clock.wait(context.clock.steady() + std::chrono::hours(24), context.stop, &answered, 0);
    }
    return follow_masters_and_retry(context, environment, kubeconfig, vip.is_v4(), monitor);
  });
  return tasks.wait();
}

Result<> monitor_ingress(const sys::Context& context, const Monitoring& monitoring, const net::IpAddress& vip) {
  const Environment& environment = monitoring.environment;
  const net::IpAddress own = TRY(own_address_for(monitoring.addresses, vip));
  const std::string track_file = monitoring.file("ingress");
  const int router_id = ingress_router_id(monitoring.flags.text("cluster-domain"));
  Departure departure = TRY(prepare_departure(context, monitoring, "ingress", vip, router_id, track_file));
  RouterMonitor monitor(environment.files,
                        {.track_file = track_file,
                         .ask = [&] { return router_health(environment); },
                         .leave = [&](const sys::Context& whole, int change) { return departure.leave(whole, change); },
                         .full_priority = [&] { return full_priority_now(own, vip); }});
  TRY(update_until_stop(context, router_poll_interval, nullptr, [&] { return monitor.update(context); }));
  if (monitoring.is_stopping()) TRY(departure.leave(context, lowest_priority_change));
  return Ok{};
}

}  // namespace

Result<> run_monitor(const Environment& environment, const Arguments& arguments) {
  const FlagsAndWords given = flags_and_words(arguments);
  const std::vector<Flag> table = {{.name = "api-vips"},
                                   {.name = "ingress-vips"},
                                   {.name = "cluster-domain", .required = true},
                                   {.name = "out-dir", .required = true},
                                   {.name = "needed-backends", .fallback = "2"}};
  const Flags flags = TRY(parse_flags("runtimecfg monitor", table, given.flags));
  const VirtualAddresses addresses = TRY(parse_virtual_addresses(flags));
  if (given.words.size() != (addresses.api ? 1 : 0)) {
    return error(Code::invalid, "runtimecfg monitor: exactly one kubeconfig is required with --api-vips, none without it");
  }
  const std::string output = TRY(run_checked(environment.runner, environment.context, {.argv = {"ip", "-json", "address"}}));
  const Json own = TRY(parse_json(output, "ip -json address"));
  const Monitoring monitoring{environment, flags, own};
  const std::string left = monitoring.file("left");
  TRY(environment.files.remove(left));
  sys::TaskGroup tasks(environment.context);
  if (addresses.api) {
    tasks.run("the address of the API", [&](const sys::Context& context) {
      return monitor_api(context, monitoring, given.words.front(), *addresses.api);
    });
  }
  if (addresses.ingress) {
    tasks.run("the address of the ingress",
              [&](const sys::Context& context) { return monitor_ingress(context, monitoring, *addresses.ingress); });
  }
  const Result<> ended = tasks.wait();
  if (monitoring.is_stopping()) TRY(environment.files.write(left, "", 0644));
  return ended;
}

}  // namespace slipway::components::runtimecfg
