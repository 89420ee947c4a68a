// Rules about machines that do not start, and about their network.
#include "diagnosis/all_rules.h"

#include "base/number.h"
#include "base/text.h"
#include "base/time.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

namespace slipway::diagnosis {

namespace {

constexpr std::string_view table = "host/machines.jsonl";
constexpr int config_server_port = 22623;
// A start takes seconds, or ten seconds on a busy host (docs/benchmarks.md). Time stolen by the host does not count.
constexpr Milliseconds longest_start = Seconds(40);

std::string console_of(const Machine& machine) { return fmt::format("host/{}.console.log", machine.name); }

std::string first_boot_of(const Machine& machine) { return "the first boot of " + machine.name; }

// The row of the machine in the provider's list.
Quote row_of(const Bundle& bundle, const Machine& machine) {
  std::vector<Quote> rows = bundle.lines_with(table, fmt::format("\"name\":\"{}\"", machine.name));
  if (rows.empty()) return {std::string(table), 0, machine.reason};
  rows.front().text = shortened(fmt::format("{} is {}: {}", machine.name, machine.state, machine.reason));
  return rows.front();
}

std::optional<Quote> last_on_console(const Bundle& bundle, const Machine& machine, std::string_view text) {
  std::vector<Quote> lines = bundle.lines_with(console_of(machine), text);
  if (lines.empty()) return std::nullopt;
  lines.back().text = shortened(lines.back().text);
  return lines.back();
}

// The last HTTP status text that Ignition got, "Forbidden". Empty if that was "OK", or if Ignition sent no request.
std::string last_answer(const std::optional<Quote>& result) {
  constexpr std::string_view words = "GET result: ";
  if (!result) return {};
  const std::string_view line = result->text;
  const std::string_view answer = trim(line.substr(line.find(words) + words.size()));
  return std::string(answer == "OK" ? "" : answer);
}

// Adds the status number, "403 Forbidden": Ignition logs only the text.
std::string with_status(const std::string& answer) {
  constexpr std::array<std::pair<std::string_view, int>, 5> known = {
      {{"Bad Request", 400}, {"Unauthorized", 401}, {"Forbidden", 403}, {"Not Found", 404}, {"Not Acceptable", 406}}};
  for (const auto& [words, status] : known) {
    if (answer == words) return fmt::format("{} {}", status, words);
  }
  return answer;
}

struct Refused {
  Machine machine;
  std::optional<Quote> result;  // the log line of the last answer
  std::string answer;           // its status text; empty if the request succeeded
};

std::optional<Refused> find_refused(const Bundle& bundle, bool by_server) {
  for (const Machine& machine : bundle.machines()) {
    if (machine.state != "ignition-failed") continue;
    const std::optional<Quote> result = last_on_console(bundle, machine, "GET result: ");
    const std::string answer = last_answer(result);
    if (answer.empty() != by_server) return Refused{machine, result, answer};
  }
  return std::nullopt;
}

// A hardware address without its last byte, in which a provider numbers its machines. The prefix also recognizes a machine that
// was just removed, such as the bootstrap machine: neighbour tables of other machines still contain it.
std::string link_prefix(const std::string& link) { return link.substr(0, link.rfind(':')); }

// The result of the request to the URL; nothing if the machine sent none.
std::optional<Probe::Line> reach(const Probe& probe, std::string_view url) {
  std::vector<Probe::Line> lines = probe.lines("reach", url);
  if (lines.empty()) return std::nullopt;
  return lines.front();
}

// A start of a machine that has not finished.
struct Start {
  WallTime time;
  std::optional<Milliseconds> stolen;  // by the host until `time`
  Quote seen;
};

std::optional<Milliseconds> stolen_before(const sys::Event& event) {
  const Json* stolen = event.fields.if_contains("stolen_ms");
  if (!stolen || !stolen->is_int64()) return std::nullopt;
  return Milliseconds(stolen->get_int64());
}

// The unfinished start of the machine, by the provider's events; nothing if the machine has started, or was never started.
std::optional<Start> unfinished_start(const Bundle& bundle, const Machine& machine) {
  std::optional<Start> start;
  for (const Quote& line : bundle.lines_with("host/events.jsonl", "\"kind\":\"boot\"")) {
    const Result<sys::Event> event = sys::parse_event(line.text);
    if (!event.ok() || event->name != machine.name) continue;
    start.reset();
    if (event->phase != sys::Phase::started) continue;
    start = Start{event->time, stolen_before(event.value()), {line.file, line.line, shortened(line.text)}};
  }
  return start;
}

// Time stolen by the host since the start; zero if it is not known.
Milliseconds stolen_since(const Start& start, const Probe& probe) {
  const std::vector<Probe::Line> lines = probe.lines("stolen");
  if (lines.empty() || !start.stolen) return Milliseconds(0);
  const std::int64_t now = parse_number<std::int64_t>(lines.front().words[1]).value_or(0);
  return std::max(Milliseconds(now) - *start.stolen, Milliseconds(0));
}

// Units that pull images: the first on the bootstrap machine, the second on all others.
constexpr std::array<std::string_view, 2> units_that_pull = {"release-image.service", "machine-config-daemon-pull.service"};

// Whether another rule explains why the unit does not finish.
bool is_explained(const Bundle& bundle, std::string_view unit) {
  if (std::ranges::find(units_that_pull, unit) == units_that_pull.end()) return false;
  return image_missing(bundle) || digest_mismatch(bundle) || registry_unreachable(bundle);
}

// A machine whose start does not finish, and the unit that systemd waits for.
Found hanging_start(const Bundle& bundle, const Machine& machine) {
  const std::optional<Probe> probe = bundle.probe(machine);
  if (!probe || machine.state != "booting") return std::nullopt;
  const std::vector<Probe::Line> clocks = probe->lines("clock");
  const Result<WallTime> now = parse_rfc3339(clocks.empty() ? "" : clocks.front().words[1]);
  const std::optional<Start> start = unfinished_start(bundle, machine);
  if (!now.ok() || !start) return std::nullopt;
  const Milliseconds elapsed = now.value() - start->time;
  if (elapsed - stolen_since(*start, *probe) < longest_start) return std::nullopt;
  for (const Probe::Line& job : probe->lines("job")) {
    if (job.words.back() != "running" || is_explained(bundle, job.words[1])) continue;
    return Finding{.stage = "the start of " + machine.name,
                   .cause = fmt::format("{} has been starting for {} and is waiting for its unit {}", machine.name,
                                        human_duration(elapsed), job.words[1]),
                   .evidence = {quote(*probe, job), start->seen},
                   .next_step = fmt::format("run `slipway machine shell {} -- systemctl status {}`; if the unit is yours, "
                                            "correct it in the MachineConfig or in bootstrap.ign",
                                            machine.name, job.words[1])};
  }
  return std::nullopt;
}

}  // namespace

Found ignition_refused(const Bundle& bundle) {
  const std::optional<Refused> refused = find_refused(bundle, true);
  if (!refused) return std::nullopt;
  const bool by_token = refused->answer.starts_with("Forbidden") || refused->answer.starts_with("Unauthorized");
  return Finding{.stage = first_boot_of(refused->machine),
                 .cause = fmt::format("the machine-config-server permanently refused the Ignition config of {}: {}",
                                      refused->machine.name, with_status(refused->answer)),
                 .evidence = {*refused->result, row_of(bundle, refused->machine)},
                 .next_step = by_token ? "the pointer config has no token, or the token of another cluster: destroy the cluster "
                                         "and create it again from one set of assets"
                                       : "check that the pointer config names a pool that exists (.../config/master, "
                                         ".../config/worker), correct it and create the machine again",
                 .is_final = true};
}

Found ignition_config_invalid(const Bundle& bundle) {
  const std::optional<Refused> refused = find_refused(bundle, false);
  if (!refused) return std::nullopt;
  Finding finding{
      .stage = first_boot_of(refused->machine),
      .cause = fmt::format("{} cannot apply its Ignition config: {}", refused->machine.name, shortened(refused->machine.reason)),
      .evidence = {row_of(bundle, refused->machine)},
      .next_step = fmt::format("correct the Ignition config, or the MachineConfigs that it is rendered from, and create the "
                               "cluster again; {} has the output of Ignition",
                               console_of(refused->machine)),
      .is_final = true};
  for (const std::string_view word : {"[failed]", "CRITICAL"}) {
    const auto line = last_on_console(bundle, refused->machine, word);
    if (!line) continue;
    finding.evidence.insert(finding.evidence.begin(), *line);
    break;
  }
  return finding;
}

Found machine_not_booted(const Bundle& bundle) {
  for (const Machine& machine : bundle.machines()) {
    if (Found hanging = hanging_start(bundle, machine)) return hanging;
  }
  for (const Machine& machine : bundle.machines()) {
    if (machine.state != "failed") continue;
    Finding finding{.stage = "the start of " + machine.name,
                    .cause = fmt::format("{} does not boot: {}", machine.name, shortened(machine.reason)),
                    .evidence = {row_of(bundle, machine)},
                    .next_step = fmt::format("read the end of the console output ({} in the bundle); `slipway destroy cluster` "
                                             "and `slipway create cluster` create a new disk",
                                             console_of(machine)),
                    .is_final = true};
    const std::string* console = bundle.find(console_of(machine));
    const std::string_view text = console ? trim(*console) : std::string_view();
    if (!text.empty()) {
      const std::size_t begin = text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1;
      finding.evidence.push_back(
          {console_of(machine), static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1, shortened(text.substr(begin))});
    }
    return finding;
  }
  return std::nullopt;
}

Found address_in_use(const Bundle& bundle) {
  const Expected expected = bundle.expected();
  for (const std::string& address : expected.api_addresses) {
    const std::vector<Quote> lines = bundle.lines_with("host/network.txt", fmt::format(" inet {}/", address));
    if (lines.empty()) continue;
    return Finding{
        .stage = "the API's address",
        .cause = fmt::format("the host side of the cluster network has {}, the address of the API", address),
        .evidence = {{lines.front().file, lines.front().line, shortened(lines.front().text)}},
        .next_step = "remove the address there, or choose another one in platform.local.apiVIPs of install-config.yaml",
        .is_final = true};
  }
  std::set<std::string> own_links;
  std::vector<Probe> probes;
  for (const Machine& machine : bundle.machines()) {
    std::optional<Probe> probe = bundle.probe(machine);
    // A machine without a probe could have the address.
    if (!probe && machine.state != "stopped" && machine.state != "created") return std::nullopt;
    if (!probe) continue;
    for (const Probe::Line& link : probe->lines("link")) own_links.insert(link_prefix(link.words.back()));
    probes.push_back(std::move(*probe));
  }
  if (own_links.empty()) return std::nullopt;
  for (const std::string& address : expected.api_addresses) {
    for (const Probe& probe : probes) {
      for (const Probe::Line& line : probe.lines("neighbour", address)) {
        if (own_links.contains(link_prefix(line.words.back()))) continue;
        return Finding{
            .stage = "the API's address",
            .cause = fmt::format("a computer that is not a machine of this cluster has {}, the address of the API ({})", address,
                                 line.words.back()),
            .evidence = {quote(probe, line)},
            .next_step =
                "remove the address from that computer, or choose another one in platform.local.apiVIPs of install-config.yaml",
            .is_final = true};
      }
    }
  }
  return std::nullopt;
}

Found dns_wrong(const Bundle& bundle) {
  const Expected expected = bundle.expected();
  if (expected.domain.empty() || expected.api_addresses.empty()) return std::nullopt;
  for (const Machine& machine : bundle.machines()) {
    const std::optional<Probe> probe = bundle.probe(machine);
    if (!probe) continue;
    for (const std::string_view host : {"api-int", "api"}) {
      const std::string name = fmt::format("{}.{}", host, expected.domain);
      for (const Probe::Line& line : probe->lines("name", name)) {
        const std::vector<std::string> given(line.words.begin() + 2, line.words.end());
        if (given == expected.api_addresses) continue;
        const std::string wrong = given.empty() ? "to no address" : "to " + join(given, ", ");
        return Finding{.stage = "names",
                       .cause = fmt::format("on {}, {} resolves {}; the address of the API is {}", machine.name, name, wrong,
                                            join(expected.api_addresses, ", ")),
                       .evidence = {quote(*probe, line)},
                       .next_step = fmt::format(
                           "check /etc/hosts and /etc/resolv.conf of {}, and the records of its DNS server; the machines retry",
                           machine.name)};
      }
    }
  }
  return std::nullopt;
}

Found config_server_unreachable(const Bundle& bundle) {
  // In that case a foreign computer has the address and does not answer.
  if (address_in_use(bundle)) return std::nullopt;
  const std::string url = fmt::format("https://api-int.{}:{}/healthz", bundle.expected().domain, config_server_port);
  // The server may not have started yet, unless another machine reaches it.
  std::optional<Quote> proof;
  std::string witness;
  for (const Machine& machine : bundle.machines()) {
    const std::optional<Probe> probe = bundle.probe(machine);
    const std::optional<Probe::Line> line = probe ? reach(*probe, url) : std::nullopt;
    if (!line || !line->has_answer()) continue;
    proof = quote(*probe, *line);
    witness = machine.name;
  }
  if (!proof) return std::nullopt;
  for (const Machine& machine : bundle.machines()) {
    if (machine.state != "igniting" && machine.state != "preparing") continue;
    const std::optional<Probe> probe = bundle.probe(machine);
    const std::optional<Probe::Line> line = probe ? reach(*probe, url) : std::nullopt;
    if (!line || line->has_answer()) continue;
    std::vector<Quote> evidence = {quote(*probe, *line), *proof};
    if (const auto attempt = last_on_console(bundle, machine, "GET error: ")) evidence.push_back(*attempt);
    return Finding{
        .stage = first_boot_of(machine),
        .cause = fmt::format("{} cannot reach the machine-config-server at port {} of the API address; {} can", machine.name,
                             config_server_port, witness),
        .evidence = std::move(evidence),
        .next_step = fmt::format("check for a firewall or a broken link between {} and the cluster network; the machine retries",
                                 machine.name)};
  }
  return std::nullopt;
}

}  // namespace slipway::diagnosis
