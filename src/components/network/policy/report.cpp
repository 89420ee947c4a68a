#include "components/network/policy/report.h"

#include "base/text.h"
#include "components/network/policy/policy.h"
#include "kube/types.h"

namespace slipway::components::network {

namespace {

constexpr std::size_t most_named = 3;

// "a, b, c and 4 more"
std::string first_of(const std::vector<std::string>& texts, std::string_view separator) {
  if (texts.size() <= most_named) return join(texts, separator);
  const std::vector<std::string> first(texts.begin(), texts.begin() + most_named);
  return fmt::format("{} and {} more", join(first, separator), texts.size() - most_named);
}

// The pods that a policy selects but that no policy can isolate.
std::vector<std::string> pods_of_host(const Policy& policy, const Snapshot& seen) {
  std::vector<std::string> names;
  for (const Json* object : seen.list(kube::types::pods, policy.space)) {
    const Pod pod = read_pod(*object);
    if (pod.uses_host_network && !pod.has_ended && policy.pods.matches(pod.labels)) names.push_back(pod.name);
  }
  return names;
}

}  // namespace

PolicyReport report_policies(const Snapshot& seen) {
  PolicyReport report;
  std::vector<std::string> incomplete;
  for (const Json* object : seen.list(kube::types::network_policies)) {
    const Policy policy = read_policy(*object);
    if (!policy.problems.empty()) {
      const std::string problems = join(policy.problems, "; ");
      report.notices.push_back({*object, "NotEnforced", fmt::format("not enforced: {}", problems), true});
      incomplete.push_back(fmt::format("{}/{}: {}", policy.space, policy.name, problems));
    }
    const std::vector<std::string> pods = pods_of_host(policy, seen);
    if (pods.empty()) continue;
    const std::string names = first_of(pods, ", ");
    report.notices.push_back({*object, "HostNetworkPods",
                              fmt::format("not enforced for pods in the network of their host (hostNetwork: true): {}", names),
                              true});
    incomplete.push_back(fmt::format("{}/{}: pods in the network of their host: {}", policy.space, policy.name, names));
  }
  report.condition = {.type = "NetworkPoliciesEnforced", .is_true = incomplete.empty()};
  if (!incomplete.empty()) {
    report.condition.reason = "NotEnforced";
    report.condition.message = first_of(incomplete, "; ");
  }
  return report;
}

}  // namespace slipway::components::network
