#include "components/network/policy/store.h"

#include "kube/types.h"
#include "sys/task_group.h"

namespace slipway::components::network {

namespace {

// Policies are few, and every change of one matters.
bool is_same(const Policy&, const Policy&) { return false; }
bool is_same(const Pod& one, const Pod& other) { return one == other; }
bool is_same(const Namespace& one, const Namespace& other) { return one == other; }

}  // namespace

template <class Fact>
Result<> FactStore::take(kube::Change change, Table<Fact> State::*which, Fact (*read)(const Json&)) {
  using Kind = kube::Change::Kind;
  std::shared_ptr<const Fact> fact;
  std::string key;
  if (change.kind == Kind::present || change.kind == Kind::removed) {
    key = fmt::format("{}/{}", kube::namespace_of(change.object), kube::name_of(change.object));
    if (change.kind == Kind::present) fact = std::make_shared<const Fact>(read(change.object));
  }
  const bool has_changed = state_.with_lock([&](State& state) {
    Table<Fact>& table = state.*which;
    switch (change.kind) {
      case Kind::listing:
        table.is_listing = true;
        table.listed.clear();
        return false;
      case Kind::listed: {
        std::erase_if(table.facts, [&](const auto& each) { return !table.listed.contains(each.first); });
        table.listed.clear();
        table.is_listing = false;
        table.is_complete = true;
        return true;
      }
      case Kind::removed: return table.facts.erase(key) > 0;
      case Kind::present: break;
    }
    if (table.is_listing) table.listed.insert(key);
    std::shared_ptr<const Fact>& place = table.facts[key];
    if (place && is_same(*place, *fact)) return false;
    place = std::move(fact);
    return table.is_complete && !table.is_listing;
  });
  if (has_changed) changed_.notify();
  return Ok{};
}

Result<> FactStore::follow(const sys::Context& context, kube::Api& api) {
  sys::TaskGroup tasks(context);
  const auto watch = [&](const kube::ResourceType& type, auto table, auto read) {
    tasks.run("watching " + type.plural, [&, table, read](const sys::Context& own) {
      return kube::follow_changes(own, api, type, "", {},
                                  [&](kube::Change change) { return take(std::move(change), table, read); });
    });
  };
  watch(kube::types::network_policies, &State::policies, &read_policy);
  watch(kube::types::pods, &State::pods, &read_pod);
  watch(kube::types::namespaces, &State::namespaces, &read_namespace);
  return tasks.wait();
}

bool FactStore::is_complete() const {
  return state_.with_lock(
      [](const State& state) { return state.policies.is_complete && state.pods.is_complete && state.namespaces.is_complete; });
}

ClusterFacts FactStore::facts() const {
  return state_.with_lock([](const State& state) {
    ClusterFacts facts;
    for (const auto& [key, policy] : state.policies.facts) facts.policies.push_back(policy);
    for (const auto& [key, pod] : state.pods.facts) facts.pods.push_back(pod);
    for (const auto& [key, space] : state.namespaces.facts) facts.namespaces[space->name] = space->labels;
    return facts;
  });
}

}  // namespace slipway::components::network
