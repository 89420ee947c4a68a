#include "provider/plan/resource.h"

#include "base/text.h"

#include <algorithm>
#include <map>
#include <set>

namespace slipway::provider::plan {

std::string text(const Resource& resource, std::string_view name) { return text_of(resource.spec, {name}); }

Result<std::vector<Plan>> in_order(const Plan& plan) {
  std::map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const std::string key = plan[i].key();
    if (!positions.emplace(key, i).second) return error(Code::internal, "plan of resources: {}: duplicate", key);
  }
  std::vector<std::vector<std::size_t>> users(plan.size());
  std::vector<std::size_t> missing(plan.size());  // the number of needs that are not in a group yet
  for (std::size_t i = 0; i < plan.size(); ++i) {
    for (const std::string& need : plan[i].needs) {
      const auto needed = positions.find(need);
      if (needed == positions.end()) {
        return error(Code::internal, "plan of resources: {}: needs {}, which is not in the plan", plan[i].key(), need);
      }
      users[needed->second].push_back(i);
      ++missing[i];
    }
  }
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (missing[i] == 0) ready.push_back(i);
  }
  std::vector<Plan> groups;
  while (!ready.empty()) {
    std::vector<std::size_t> next;
    Plan& group = groups.emplace_back();
    for (const std::size_t i : ready) {
      group.push_back(plan[i]);
      for (const std::size_t user : users[i]) {
        if (--missing[user] == 0) next.push_back(user);
      }
    }
    std::ranges::sort(next);
    ready = std::move(next);
  }
  std::vector<std::string> circle;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (missing[i] > 0) circle.push_back(plan[i].key());
  }
  if (!circle.empty()) return error(Code::internal, "plan of resources: circular dependency: {}", join(circle, ", "));
  return groups;
}

Plan of_machines(const Plan& plan, const std::vector<std::string>& machines) {
  std::map<std::string, const Resource*> by_key;
  std::vector<const Resource*> unvisited;
  for (const Resource& resource : plan) {
    by_key.emplace(resource.key(), &resource);
    const bool belongs = !resource.machine.empty() && std::ranges::find(machines, resource.machine) != machines.end();
    if (belongs) unvisited.push_back(&resource);
  }
  std::set<const Resource*> selected;
  while (!unvisited.empty()) {
    const Resource* resource = unvisited.back();
    unvisited.pop_back();
    if (!selected.insert(resource).second) continue;
    for (const std::string& need : resource->needs) {
      if (const auto needed = by_key.find(need); needed != by_key.end()) unvisited.push_back(needed->second);
    }
  }
  Plan part;
  for (const Resource& resource : plan) {
    if (selected.contains(&resource)) part.push_back(resource);
  }
  return part;
}

}  // namespace slipway::provider::plan
