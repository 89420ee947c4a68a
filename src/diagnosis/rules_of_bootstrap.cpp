// Rules about resources of a machine: disks, inotify instances, clocks, certificates, ports.
#include "diagnosis/all_rules.h"

#include "base/number.h"
#include "base/text.h"
#include "base/time.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::diagnosis {

namespace {

constexpr long full_kib = 1024;        // a file system with less free space is full
constexpr long small_kib = 64 * 1024;  // the same, if a log on the machine also says "no space left on device"

// Tolerance: certificates that the cluster issues are valid from the current time of the issuer's clock.
constexpr Milliseconds clock_difference = Seconds(60);

constexpr std::string_view os_build_stage = "os-image-build";

// Whether the file system is not one of the kernel or of systemd.
bool is_for_data(std::string_view mount_point) {
  constexpr std::array others = {std::string_view("/dev"), std::string_view("/sys"), std::string_view("/proc"),
                                 std::string_view("/run/")};
  return std::ranges::none_of(others, [&](std::string_view other) { return mount_point.starts_with(other); });
}

// The last "no space left" in the logs. The kernel uses the same words for a lack of inotify watches; those lines do not count.
std::optional<Quote> out_of_space(const Bundle& bundle, const Machine& machine) {
  std::vector<Quote> lines = bundle.log_lines_with(machine, "o space left on device");
  std::erase_if(lines, [](const Quote& line) { return line.text.find("inotify") != std::string::npos; });
  if (lines.empty()) return std::nullopt;
  lines.back().text = shortened(lines.back().text, "o space left on device");
  return lines.back();
}

// A certificate of the assets that has expired (or, if is_early, is not valid yet) by the clock of its machine.
Found certificate_from_probe(const Bundle& bundle, bool is_early) {
  for (const Machine& machine : bundle.machines()) {
    const std::optional<Probe> probe = bundle.probe(machine);
    if (!probe) continue;
    const std::vector<Probe::Line> clocks = probe->lines("clock");
    const Result<WallTime> now = parse_rfc3339(clocks.empty() ? "" : clocks.front().words[1]);
    if (!now.ok()) continue;
    for (const Probe::Line& line : probe->lines("certificate")) {
      if (line.words.size() != 4) continue;
      const Result<WallTime> begin = parse_rfc3339(line.words[2]), end = parse_rfc3339(line.words[3]);
      if (!begin.ok() || !end.ok() || (is_early ? begin.value() <= now.value() + clock_difference : end.value() >= now.value()))
        continue;
      Finding finding{
          .stage = "certificates", .evidence = {quote(*probe, line), quote(*probe, clocks.front())}, .is_final = true};
      if (is_early) {
        finding.cause = fmt::format(
            "the clock of the host that generated the assets is ahead of the clock of {}: {} is valid from {}, but the time is "
            "{}",
            machine.name, line.words[1], line.words[2], clocks.front().words[1]);
        finding.next_step =
            "set the clock of the host that generated the assets, destroy the cluster, remove the generated files "
            "(bootstrap.ign, tls/, auth/) and create it again";
      } else {
        finding.cause = fmt::format("the assets have expired: {} on {} was valid until {}, but the time is {}", line.words[1],
                                    machine.name, line.words[3], clocks.front().words[1]);
        finding.next_step = "destroy the cluster and create it again: some certificates of the assets are valid for 30 days only";
      }
      return finding;
    }
  }
  return std::nullopt;
}

// The same from the logs of the bootstrap tools. No clocks are compared.
Found certificate_from_logs(const Bundle& bundle, bool is_early) {
  const std::string_view words = is_early ? "certificate is not yet valid" : "certificate has expired";
  for (const std::string_view journal : {"bootstrap/journals/bootkube.log", "bootstrap/journals/approve-csr.log"}) {
    std::vector<Quote> lines = bundle.lines_with(journal, words);
    std::erase_if(lines, [](const Quote& line) { return line.text.find("or is not yet valid") != std::string::npos; });
    if (lines.empty()) continue;
    const Quote& line = lines.back();
    return Finding{.stage = "certificates",
                   .cause = is_early ? "the certificates of the assets are not valid yet, so a clock is wrong"
                                     : "the certificates of the assets have expired",
                   .evidence = {{line.file, line.line, shortened(line.text, words)}},
                   .next_step = "set the clocks, then destroy the cluster and create it again with new certificates",
                   .is_final = true};
  }
  return std::nullopt;
}

// A port that a component of the cluster serves.
struct PortOwner {
  int port;
  std::string_view what;                    // the component
  std::vector<std::string_view> processes;  // prefixes of its process names
};

const std::vector<PortOwner>& port_owners() {
  static const std::vector<PortOwner> rows = {
      {6443, "the API server", {"kube-apiserver", "hyperkube", "haproxy", "watch-terminat"}},
      {22623, "the machine-config-server", {"machine-config", "slipway-operato"}},
      {22624, "the machine-config-server", {"machine-config", "slipway-operato"}},
      {2379, "etcd", {"etcd"}},
      {2380, "etcd", {"etcd"}},
      {9978, "etcd", {"etcd"}},
      {10250, "the kubelet", {"kubelet", "hyperkube"}},
      {10257, "the controller manager", {"kube-controller", "hyperkube"}},
      {10259, "the scheduler", {"kube-scheduler", "hyperkube"}},
  };
  return rows;
}

// If a process other than the owner listens on the port: the line of `ss`, and the name of the process.
std::optional<std::pair<Quote, std::string>> foreign_listener(const Bundle& bundle, const Machine& machine,
                                                              const PortOwner& owner) {
  for (const Quote& line : bundle.lines_with(machine.folder + "network/netstat.txt", fmt::format(":{} ", owner.port))) {
    if (line.text.find("LISTEN") == std::string::npos) continue;
    const std::size_t users = line.text.find("users:((\"");
    if (users == std::string::npos) continue;
    // In "tcp LISTEN 0 128 0.0.0.0:6443 0.0.0.0:* users:...", the port belongs to the listener only if the peer follows it.
    const std::size_t at = line.text.find(fmt::format(":{} ", owner.port));
    if (trim(line.text.substr(at, users - at)).find(":*") == std::string_view::npos) continue;
    const std::string rest = line.text.substr(users + 9);
    const std::string process = rest.substr(0, rest.find('"'));
    const bool is_own = std::ranges::any_of(owner.processes, [&](std::string_view name) { return process.starts_with(name); });
    if (!is_own) return std::pair(Quote{line.file, line.line, shortened(line.text)}, process);
  }
  return std::nullopt;
}

// The failed stage of the build; nullopt if it succeeded later.
std::optional<Error> failed_os_build(const Bundle& bundle) {
  std::optional<Error> failed;
  const std::vector<sys::Event> events = bundle.bootstrap_events();
  for (const sys::Event& event : events) {
    if (event.kind != "stage" || event.name != os_build_stage) continue;
    if (event.phase == sys::Phase::failed) failed = event.error;
    if (event.phase == sys::Phase::finished) failed.reset();
  }
  return failed;
}

std::string next_step_of_os_build(Code code) {
  constexpr std::string_view again = "then destroy the cluster and create it again";
  switch (code) {
    case Code::denied:
      return fmt::format("correct the login in the Secret that the MachineOSConfig names (renderedImagePushSecret), {}", again);
    case Code::conflict: return fmt::format("give the bootstrap machine more disk space or memory, {}", again);
    case Code::unavailable:
    case Code::timeout:
      return "check that the bootstrap machine reaches the registries and package servers of the Containerfile; slipway retries";
    default:
      return fmt::format("correct the Containerfile of the MachineOSConfig (build.log has all output of the build), {}", again);
  }
}

}  // namespace

Found os_image_build_failed(const Bundle& bundle) {
  const std::optional<Error> failed = failed_os_build(bundle);
  if (!failed || failed->code() == Code::cancelled) return std::nullopt;
  Finding finding{.stage = std::string(os_build_stage),
                  .cause = "the operating system image of the masters cannot be built: " + shortened(failed->message()),
                  .next_step = next_step_of_os_build(failed->code())};
  for (const std::string_view log : bundle.paths("bootstrap/os-images/", "/build.log")) {
    const std::vector<Quote> lines = bundle.lines_with(log, "Error: ");
    if (!lines.empty()) finding.evidence.push_back({lines.back().file, lines.back().line, shortened(lines.back().text)});
  }
  for (const Quote& line : bundle.lines_with("bootstrap/services/events.jsonl", os_build_stage)) {
    if (line.text.find("failed") == std::string::npos) continue;
    finding.evidence.push_back({line.file, line.line, shortened(line.text, failed->message().substr(0, 40))});
    break;
  }
  finding.is_final = failed->code() == Code::invalid || failed->code() == Code::denied || failed->code() == Code::conflict;
  return finding;
}

Found disk_full(const Bundle& bundle) {
  for (const Machine& machine : bundle.machines()) {
    const std::optional<Quote> words = out_of_space(bundle, machine);
    const std::optional<Probe> probe = bundle.probe(machine);
    for (const Probe::Line& line : probe ? probe->lines("disk") : std::vector<Probe::Line>()) {
      const std::optional<long> left = line.words.size() == 4 ? parse_number<long>(line.words[3]) : std::nullopt;
      if (!left || *left >= (words ? small_kib : full_kib) || !is_for_data(line.words[1])) continue;
      std::vector<Quote> evidence = {quote(*probe, line)};
      if (words) evidence.push_back(*words);
      return Finding{.stage = "the disk of " + machine.name,
                     .cause = fmt::format("file system {} of {} is full: {} free", line.words[1], machine.name,
                                          human_size(static_cast<unsigned long long>(*left) * 1024)),
                     .evidence = std::move(evidence),
                     .next_step =
                         "free disk space there (on local machines it is the file system of --state on the host), then run the "
                         "same command to continue",
                     .is_final = true};
    }
    if (!words) continue;
    return Finding{
        .stage = "the disk of " + machine.name,
        .cause = fmt::format("a disk of {} was full", machine.name),
        .evidence = {*words},
        .next_step =
            "find the full disk (disks.txt of the machine in the bundle) and free disk space; the failed operation is retried"};
  }
  return std::nullopt;
}

Found inotify_exhausted(const Bundle& bundle) {
  for (const Machine& machine : bundle.machines()) {
    const std::string journal = machine.folder + "journals/containerd.log";
    std::vector<Quote> lines = bundle.lines_with(journal, "failed to create fsnotify watcher: too many open files");
    const std::vector<Quote> started = bundle.lines_with(journal, "Start recovering state");
    if (lines.empty() || (!started.empty() && started.back().line > lines.back().line)) continue;
    return Finding{.stage = "containers of " + machine.name,
                   .cause = fmt::format("{} cannot run containers: no inotify instances are left for containerd", machine.name),
                   .evidence = {{journal, lines.back().line, shortened(lines.back().text, "failed to create")}},
                   .next_step = fmt::format("run `sysctl fs.inotify.max_user_instances=1024`, or stop other clusters (all "
                                            "machines of a host share this limit); then run `slipway machine reboot {}`",
                                            machine.name)};
  }
  return std::nullopt;
}

Found assets_expired(const Bundle& bundle) {
  Found found = certificate_from_probe(bundle, false);
  return found ? found : certificate_from_logs(bundle, false);
}

Found clock_wrong(const Bundle& bundle) {
  Found found = certificate_from_probe(bundle, true);
  return found ? found : certificate_from_logs(bundle, true);
}

Found port_taken(const Bundle& bundle) {
  for (const Machine& machine : bundle.machines()) {
    for (const PortOwner& owner : port_owners()) {
      const auto holder = foreign_listener(bundle, machine, owner);
      if (!holder) continue;
      Finding finding{
          .stage = fmt::format("{} on {}", owner.what, machine.name),
          .cause = fmt::format("port {} of {}, which {} needs, is in use by the program {}", owner.port, machine.name, owner.what,
                               holder->second),
          .evidence = {holder->first},
          .next_step = fmt::format("stop {} on {}, or configure it to use another port; the program that needs the port retries",
                                   holder->second, machine.name),
          .is_final = true};
      for (const Quote& line : bundle.log_lines_with(machine, "address already in use")) {
        if (line.text.find(fmt::format(":{}", owner.port)) == std::string::npos) continue;
        finding.evidence.insert(finding.evidence.begin(), {line.file, line.line, shortened(line.text)});
        break;
      }
      return finding;
    }
  }
  return std::nullopt;
}

}  // namespace slipway::diagnosis
