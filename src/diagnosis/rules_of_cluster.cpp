// Rules about workloads and manifests: manifests that the API rejects, containers that crash repeatedly.
#include "diagnosis/all_rules.h"

#include "diagnosis/last_words.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>

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
  if (const auto output = last_words(bundle, crash->pod, crash->container))
    finding.evidence.insert(finding.evidence.begin(), *output);
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
