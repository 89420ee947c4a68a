#include "components/runtimecfg/monitor.h"

#include "base/flags.h"
#include "base/number.h"
#include "base/text.h"
#include "components/program/socket_command.h"
#include "components/runtimecfg/runtimecfg.h"
#include "kube/roles.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

namespace slipway::components::runtimecfg {

namespace {

// The same values as in haproxy.cfg.
constexpr std::string_view backend = "masters";
constexpr std::string_view proxy = "127.0.0.1:9445";
constexpr int api_port = 6443;

// Polling interval: haproxy does not report when it ends or when the state of a server changes.
constexpr Milliseconds poll_interval{500};

// The router "default" answers there on every machine where it runs. Most machines have no router; a check is cheap there.
constexpr std::string_view router = "http://127.0.0.1:1936/healthz/ready";
constexpr Milliseconds router_poll_interval{1'000};

// keepalived does not hold the virtual IP with a value below -253.
constexpr int no_virtual_ip = -254;
constexpr int full_priority = 40;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words = split(line, ' ');
  std::erase(words, "");
  return words;
}

// Bits 1, 2 and 32 mean maintenance by command, because of another server, and because of DNS. Bit 4 only records the initial
// state.
bool is_in_use(std::string_view admin_state) {
  const std::optional<unsigned> bits = parse_number<unsigned>(admin_state);
  return bits && (*bits & (1 | 2 | 32)) == 0;
}

Result<std::vector<ProxySlot>> read_slots(const ProxyMonitor::Parts& parts) {
  return parse_proxy_slots(TRY(parts.ask_proxy(fmt::format("show servers state {}", backend))));
}

// The status of the answer; nothing without an answer. Callers try twice, because a reused connection may lead to a server that
// has
// just ended.
std::optional<int> ask(const Environment& environment, const net::Request& request) {
  const Result<net::Answer> answer = environment.http.send(request, environment.context.stop);
  if (!answer.ok()) return std::nullopt;
  return answer->status;
}

bool api_answers(const Environment& environment) {
  const Result<net::Url> url = net::parse_url(fmt::format("https://{}/readyz", proxy));
  // A long limit, because a busy API server may be slow. haproxy detects servers that have ended.
  const net::Request request{.url = url.value(),
                             .tls = {.insecure_skip_verify = true},
                             .connect_limit = Milliseconds(1'000),
                             .whole_limit = Milliseconds(5'000)};
  // Any status counts, because haproxy checks whether servers are ready, and a reused connection may lead to a server that is
  // shutting down.
  return ask(environment, request) || ask(environment, request);
}

RouterHealth router_health(const Environment& environment) {
  const Result<net::Url> url = net::parse_url(router);
  const net::Request request{.url = url.value(), .connect_limit = Milliseconds(500), .whole_limit = Milliseconds(1'000)};
  std::optional<int> status = ask(environment, request);
  if (!status) status = ask(environment, request);
  if (!status) return RouterHealth::absent;
  return *status == 200 ? RouterHealth::ready : RouterHealth::not_ready;
}

// Returns whether the file had another value. keepalived also writes the file when it starts.
Result<bool> write_priority_change(sys::Files& files, const std::string& track_file, int change) {
  const std::string text = fmt::format("{}\n", change);
  if (TRY(files.read_if_exists(track_file)) == text) return false;
  TRY(files.write(track_file, text, 0644));
  return true;
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

Result<std::vector<ProxySlot>> parse_proxy_slots(std::string_view text) {
  const std::vector<std::string_view> lines = split(text, '\n');
  std::map<std::string_view, std::size_t> columns;
  std::vector<ProxySlot> slots;
  for (std::string_view line : lines) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() > 1 && words.front() == "#") {
      for (std::size_t i = 1; i < words.size(); ++i) columns[words[i]] = i - 1;
      continue;
    }
    const auto word = [&](std::string_view column) {
      const auto found = columns.find(column);
      return found == columns.end() || found->second >= words.size() ? std::string_view() : words[found->second];
    };
    if (word("be_name") != backend) continue;
    const bool is_enabled = is_in_use(word("srv_admin_state"));
    // Operational state 2 is "running", which haproxy also reports before the first check. With check status 0 or 1 no check has
    // ended yet.
    const std::string_view checked = word("srv_check_status");
    const bool is_up = is_enabled && word("srv_op_state") == "2" && checked != "0" && checked != "1";
    slots.push_back({std::string(word("srv_name")), std::string(word("srv_addr")), is_enabled, is_up});
  }
  if (slots.empty()) return error(Code::invalid, "haproxy returned no servers of '{}': {}", backend, text.substr(0, 200));
  return slots;
}

std::vector<std::string> slot_commands(const std::vector<ProxySlot>& slots, const std::set<std::string>& addresses) {
  std::vector<std::string> commands;
  std::set<std::string> missing = addresses;
  std::vector<const ProxySlot*> free;
  for (const ProxySlot& slot : slots) {
    if (!slot.is_enabled) {
      free.push_back(&slot);
    } else if (missing.erase(slot.address) == 0) {
      commands.push_back(fmt::format("set server {}/{} state maint", backend, slot.name));
    }
  }
  for (const ProxySlot* slot : free) {
    if (missing.empty()) break;
    const std::string address = missing.extract(missing.begin()).value();
    commands.push_back(fmt::format("set server {}/{} addr {} port {}", backend, slot->name, address, api_port));
    commands.push_back(fmt::format("set server {}/{} state ready", backend, slot->name));
  }
  return commands;
}

int priority_change(int up, int needed, bool answers) {
  if (up == 0 || !answers) return no_virtual_ip;
  return up < needed ? 0 : full_priority;
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
    answers = up > 0 && parts_.answers();
    // The next update retries commands that fail.
    const std::vector<std::string> commands = slot_commands(slots.value(), masters);
    if (!commands.empty()) {
      const Result<std::string> output = parts_.ask_proxy(join(commands, "; "));
      context.log.info("haproxy: {}", trim(output.ok() ? output.value() : output.error().message()));
    }
  }
  const int change = priority_change(up, parts_.needed, answers);
  if (TRY(write_priority_change(files_, parts_.track_file, change))) {
    context.log.info("{} of {} API servers are healthy, the proxy {}: {} to the priority", up, masters.size(),
                     answers ? "answers" : "does not answer", change);
  }
  return answers;
}

int priority_change(RouterHealth health) {
  switch (health) {
    case RouterHealth::ready: return full_priority;
    case RouterHealth::not_ready: return 0;
    case RouterHealth::absent: break;
  }
  return no_virtual_ip;
}

RouterMonitor::RouterMonitor(sys::Files& files, std::string track_file, std::function<RouterHealth()> ask)
    : files_(files), track_file_(std::move(track_file)), ask_(std::move(ask)) {}

Result<> RouterMonitor::update(const sys::Context& context) {
  const RouterHealth health = ask_();
  const int change = priority_change(health);
  if (TRY(write_priority_change(files_, track_file_, change))) {
    context.log.info("{}: {} to the priority",
                     health == RouterHealth::absent  ? "this machine has no router"
                     : health == RouterHealth::ready ? "the router of this machine is ready"
                                                     : "the router of this machine is not ready",
                     change);
  }
  return Ok{};
}

namespace {

Result<> monitor_api(const sys::Context& whole, const Environment& environment, const std::string& kubeconfig,
                     const net::IpAddress& vip, const Flags& flags) {
  const std::string output = TRY(run_checked(environment.runner, environment.context, {.argv = {"ip", "-json", "address"}}));
  const net::IpAddress own = TRY(own_address_for(TRY(parse_json(output, "ip -json address")), vip));
  const std::string& folder = flags.text("out-dir");
  const auto needed = TRY(parse_needed(flags.text("needed-backends")));
  ProxyMonitor monitor(
      environment.files,
      {.own_address = to_string(own),
       .needed = needed,
       .track_file = folder + "/proxy",
       .ask_proxy =
           [&](std::string_view command) { return send_socket_command(folder + "/haproxy.sock", command, Milliseconds(2'000)); },
       .answers = [&] { return api_answers(environment); }});
  sys::Wakeup answered;
  sys::TaskGroup tasks(whole);
  tasks.run("updates of haproxy", [&](const sys::Context& context) -> Result<> {
    while (!context.stop.stop_requested()) {
      const std::uint64_t seen = monitor.changed().count();
      if (TRY(monitor.update(context))) answered.notify();
      context.clock.wait(context.clock.steady() + poll_interval, context.stop, &monitor.changed(), seen);
    }
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

Result<> monitor_ingress(const sys::Context& context, const Environment& environment, const std::string& folder) {
  RouterMonitor monitor(environment.files, folder + "/ingress", [&] { return router_health(environment); });
  while (!context.stop.stop_requested()) {
    TRY(monitor.update(context));
    context.clock.wait(context.clock.steady() + router_poll_interval, context.stop, nullptr, 0);
  }
  return Ok{};
}

}  // namespace

Result<> run_monitor(const Environment& environment, const Arguments& arguments) {
  const FlagsAndWords given = flags_and_words(arguments);
  const std::vector<Flag> table = {{.name = "api-vips"},
                                   {.name = "ingress-vips"},
                                   {.name = "out-dir", .required = true},
                                   {.name = "needed-backends", .fallback = "2"}};
  const Flags flags = TRY(parse_flags("runtimecfg monitor", table, given.flags));
  const VirtualAddresses addresses = TRY(parse_virtual_addresses(flags));
  if (given.words.size() != (addresses.api ? 1 : 0)) {
    return error(Code::invalid, "runtimecfg monitor: exactly one kubeconfig is required with --api-vips, none without it");
  }
  sys::TaskGroup tasks(environment.context);
  if (addresses.api) {
    tasks.run("the address of the API", [&](const sys::Context& context) {
      return monitor_api(context, environment, given.words.front(), *addresses.api, flags);
    });
  }
  if (addresses.ingress) {
    tasks.run("the address of the ingress",
              [&](const sys::Context& context) { return monitor_ingress(context, environment, flags.text("out-dir")); });
  }
  return tasks.wait();
}

}  // namespace slipway::components::runtimecfg
