// Rules about workloads and manifests: manifests that the API rejects, containers that crash repeatedly.
#include "diagnosis/all_rules.h"

#include "base/number.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::diagnosis {

namespace {

// A container may exit once or twice while its dependencies start.
constexpr std::int64_t too_many_restarts = 3;

std::int64_t number_at(const Json& value, std::string_view key) {
  const Json* found = find(value, {key});
  return found && found->is_int64() ? found->get_int64() : 0;
}

struct Crash {
  std::string pod;  // "openshift-dns-operator/dns-operator-5d4"
  std::string container;
  std::string node;
  std::int64_t restarts = 0;
  Quote seen;
  std::string ended;  // "Error, exit status 1"
};

std::string how_it_ended(const Json& status) {
  const Json* last = find(status, {"lastState", "terminated"});
  if (!last) return {};
  return fmt::format("{}, exit status {}", find_string(*last, {"reason"}).value_or("ended"), number_at(*last, "exitCode"));
}

std::optional<Crash> crash_by_api(const Bundle& bundle) {
  std::optional<Crash> worst;
  for (const Json& pod : bundle.objects("pods")) {
    const std::string name = fmt::format("{}/{}", find_string(pod, {"metadata", "namespace"}).value_or(""),
                                         find_string(pod, {"metadata", "name"}).value_or(""));
    for (const std::string_view list : {"initContainerStatuses", "containerStatuses"}) {
      for (const Json& status : find_array(pod, {"status", list})) {
        const std::int64_t restarts = number_at(status, "restartCount");
        if (find_string(status, {"state", "waiting", "reason"}) != "CrashLoopBackOff" || restarts < too_many_restarts) continue;
        if (worst && worst->restarts >= restarts) continue;
        const std::string ended = how_it_ended(status);
        worst = Crash{.pod = name,
                      .container = text_of(status, {"name"}),
                      .node = text_of(pod, {"spec", "nodeName"}),
                      .restarts = restarts,
                      .seen = {"resources/pods.json", 0,
                               fmt::format("{}, container {}: CrashLoopBackOff, restarted {} times; {}", name,
                                           find_string(status, {"name"}).value_or(""), restarts, ended)},
                      .ended = ended};
      }
    }
  }
  return worst;
}

// "3" in ".../containers/logs/NAMESPACE_POD_UID/CONTAINER/3.log": the number of earlier starts of the container.
std::optional<std::int64_t> starts_before(std::string_view path) {
  std::string_view file = path.substr(path.rfind('/') + 1);
  const std::optional<std::int64_t> value = take_number<std::int64_t>(file);
  return file == ".log" ? value : std::nullopt;
}

// If the API does not answer: a static pod that crashes, by the log of its kubelet.
std::optional<Crash> crash_by_kubelet(const Bundle& bundle) {
  for (const Machine& machine : bundle.machines()) {
    const std::string folder = machine.folder + "containers/logs/";
    const std::string journal = machine.folder + "journals/kubelet.log";
    for (const std::string_view path : bundle.paths(folder, ".log")) {
      const std::optional<std::int64_t> starts = starts_before(path);
      if (!starts || *starts < too_many_restarts) continue;
      const std::vector<std::string_view> parts = split(path.substr(folder.size()), '/');
      const std::vector<std::string_view> pod = split(parts[0], '_');
      if (parts.size() != 3 || pod.size() != 3) continue;
      const std::vector<Quote> lines = bundle.lines_with(journal, fmt::format("container={} pod={}", parts[1], pod[1]));
      if (lines.empty() || lines.back().text.find("CrashLoopBackOff") == std::string::npos) continue;
      return Crash{.pod = fmt::format("{}/{}", pod[0], pod[1]),
                   .container = std::string(parts[1]),
                   .node = machine.name,
                   .restarts = *starts,
                   .seen = {lines.back().file, lines.back().line, shortened(lines.back().text)},
                   .ended = {}};
    }
  }
  return std::nullopt;
}

// The line that best explains why a program ended: the last line with a word of failure, else the last line. number: its line
// number, from 1.
std::string_view failure_line(std::string_view text, int& number) {
  constexpr std::array words = {std::string_view("panic"),  std::string_view("fatal"),
                                std::string_view("Fatal"),  std::string_view("\"level\":\"error"),
                                std::string_view("error:"), std::string_view("Error:")};
  constexpr std::size_t looked_at = 60;  // lines from the end; a stack trace may follow the message
  const std::vector<std::string_view> lines = split(text, '\n');
  const std::size_t first = lines.size() > looked_at ? lines.size() - looked_at : 0;
  std::size_t best = lines.size() - 1;
  for (std::size_t i = lines.size(); i-- > first;) {
    if (std::ranges::none_of(words, [&](std::string_view word) { return lines[i].find(word) != std::string_view::npos; }))
      continue;
    best = i;
    break;
  }
  number = static_cast<int>(best) + 1;
  return lines[best];
}

// The last output of the container before it ended.
std::optional<Quote> last_output(const Bundle& bundle, const Crash& crash) {
  const std::size_t slash = crash.pod.find('/');
  const std::string pod = fmt::format("{}_{}_", crash.pod.substr(0, slash), crash.pod.substr(slash + 1));
  std::optional<std::pair<std::int64_t, Quote>> latest;
  for (const Machine& machine : bundle.machines()) {
    const std::string prefix = fmt::format("{}containers/logs/{}", machine.folder, pod);
    for (const std::string_view path : bundle.paths(prefix, ".log")) {
      const std::optional<std::int64_t> starts = starts_before(path);
      if (path.find(fmt::format("/{}/", crash.container)) == std::string_view::npos || !starts) continue;
      const std::string_view text = trim(*bundle.find(path));
      if (text.empty() || (latest && latest->first >= *starts)) continue;
      int number = 0;
      const std::string_view line = failure_line(text, number);
      latest = {*starts, Quote{std::string(path), number, shortened(line)}};
    }
  }
  if (!latest) return std::nullopt;
  return latest->second;
}

}  // namespace

Found operator_crashes(const Bundle& bundle) {
  std::optional<Crash> crash = crash_by_api(bundle);
  if (!crash) crash = crash_by_kubelet(bundle);
  if (!crash) return std::nullopt;
  Finding finding{.stage = "pod " + crash->pod,
                  .cause = fmt::format("container {} of pod {} on {} keeps crashing ({} restarts{}{})", crash->container,
                                       crash->pod, crash->node.empty() ? "no node" : crash->node, crash->restarts,
                                       crash->ended.empty() ? "" : "; ", crash->ended),
                  .evidence = {crash->seen},
                  .next_step = fmt::format("read the last output of the container: `kubectl logs --previous -n {} {} -c {}`",
                                           crash->pod.substr(0, crash->pod.find('/')),
                                           crash->pod.substr(crash->pod.find('/') + 1), crash->container)};
  if (const auto output = last_output(bundle, *crash)) finding.evidence.insert(finding.evidence.begin(), *output);
  return finding;
}

Found manifest_refused(const Bundle& bundle) {
  constexpr std::string_view journal = "bootstrap/journals/bootkube.log";
  constexpr std::string_view refused = " is refused: ", waits = " waits: ";
  std::vector<Quote> lines = bundle.lines_with(journal, refused);
  // Errors of certificates are failed requests, not rejected manifests.
  std::erase_if(lines, [](const Quote& line) { return line.text.find("certificate") != std::string::npos; });
  const bool is_final = !lines.empty();
  if (!is_final) {
    lines = bundle.lines_with(journal, waits);
    const std::vector<Quote> created = bundle.lines_with(journal, " is there, after a wait");
    std::erase_if(lines, [&](const Quote& line) {
      return std::ranges::any_of(created, [&](const Quote& other) { return other.line > line.line; });
    });
  }
  if (lines.empty()) return std::nullopt;
  const Quote& line = lines.back();
  const std::string_view words = is_final ? refused : waits;
  const std::size_t at = line.text.find(words);
  // "a.yaml", or "a.yaml (2)" for a file with several manifests.
  std::size_t before = line.text.find_last_of(" \t", at - 1);
  if (before != std::string::npos && line.text[before + 1] == '(') before = line.text.find_last_of(" \t", before - 1);
  const std::string file = line.text.substr(before == std::string::npos ? 0 : before + 1, at - before - 1);
  return Finding{
      .stage = "cb-bootstrap",
      .cause = fmt::format("the API {} manifest {}: {}", is_final ? "rejects" : "does not accept", file,
                           shortened(line.text.substr(at + words.size()))),
      .evidence = {{line.file, line.line, shortened(line.text, words)}},
      .next_step =
          is_final ? fmt::format("correct {0} in manifests/ or openshift/ of the asset directory, then destroy the cluster and "
                                 "create it again",
                                 file)
                   : fmt::format("check apiVersion, kind and namespace of {}, and that the cluster defines them; slipway retries",
                                 file),
      .is_final = is_final};
}

}  // namespace slipway::diagnosis
