// FakePlatform: a platform that keeps the resources of clusters in memory, and can fail or "be killed" at each call.
//
//   FakePlatform platform;
//   platform.kill_at = 7;                     // call 7 is the last one that may have an effect
//   platform.kill = FakePlatform::Kill::half_way;
#pragma once

#include "provider/plan/platform.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace slipway::testing_support {

// Threads: any for calls; a test reads and changes the members only while no call runs.
class FakePlatform final : public provider::plan::Platform {
 public:
  using Found = provider::plan::Found;
  using Resource = provider::plan::Resource;

  struct Item {
    Resource resource;
    std::string owner;         // a cluster; `shared_owner` for a resource that slipway created for several
    bool is_complete = false;  // false: creation or removal stopped half-way
    int number = 0;            // different for each creation
  };
  static constexpr std::string_view shared_owner = "slipway";

  // What the last call before a kill did.
  enum class Kill { before, half_way, after };

  std::string cluster = "c1";        // whose calls these are; its names begin with it
  std::vector<Item> items{};         // in the order of their creation
  std::vector<std::string> calls{};  // "create volume/c1-disk", also those that failed
  std::optional<std::size_t> kill_at{};
  Kill kill = Kill::before;
  bool scans_needs_first = false;  // the wrong order of removal
  // The error of a call, which has no effect then.
  std::function<std::optional<Error>(const std::string& call)> fail{};
  std::function<void(const std::string& call)> during{};  // called within each call, in parallel
  int most_in_flight = 0;
  int tries = 1;  // attempts()

  int attempts() const override { return tries; }

  Result<std::optional<Found>> find(const sys::Context&, const Resource& resource) override {
    return call("find " + resource.key(), [&](bool) -> Result<std::optional<Found>> {
      const auto item = at(resource.key());
      return item == items.end() ? std::optional<Found>() : std::optional(found(*item));
    });
  }

  Result<> create(const sys::Context&, const Resource& resource) override {
    return call("create " + resource.key(), [&](bool half_way) -> Result<> {
      if (at(resource.key()) != items.end()) return error(Code::conflict, "exists");
      for (const std::string& need : resource.needs) {
        const auto needed = at(need);
        if (needed == items.end() || !needed->is_complete) return error(Code::internal, "{} is not complete", need);
      }
      const std::string owner = resource.is_shared ? std::string(shared_owner) : cluster;
      items.push_back({.resource = resource, .owner = owner, .is_complete = !half_way, .number = ++created_});
      return Ok{};
    });
  }

  Result<> remove(const sys::Context&, const Found& resource) override {
    return call("remove " + resource.key(), [&](bool half_way) -> Result<> {
      const auto item = at(resource.key());
      if (item == items.end()) return Ok{};
      const std::vector<const Item*> users = users_of(*item);
      if (!users.empty()) return error(Code::conflict, "in use by {}", users.front()->resource.key());
      if (half_way) {
        item->is_complete = false;
      } else {
        items.erase(item);
      }
      return Ok{};
    });
  }

  // Like an API that filters by the beginning of names, it also returns resources of a cluster with a longer name.
  Result<std::vector<Found>> scan(const sys::Context&) override {
    return call("scan", [&](bool) -> Result<std::vector<Found>> {
      std::vector<Found> all;
      for (const Item& item : items) {
        const bool is_shared = item.owner == shared_owner;
        if (!is_shared && !item.resource.name.starts_with(cluster)) continue;
        all.push_back(found(item));
        if (is_shared) all.back().is_ours = is_only_ours(item);
      }
      if (!scans_needs_first) std::ranges::reverse(all);  // users were created after what they need
      return all;
    });
  }

  // One line for each resource, sorted.
  std::vector<std::string> inventory() const {
    std::vector<std::string> lines;
    for (const Item& item : items) {
      lines.push_back(fmt::format("{} of {}{}", item.resource.key(), item.owner, item.is_complete ? "" : ", incomplete"));
    }
    std::ranges::sort(lines);
    return lines;
  }

  std::size_t calls_with(std::string_view verb) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(calls, [&](const std::string& made) { return made.starts_with(verb); }));
  }

 private:
  std::vector<Item>::iterator at(const std::string& key) {
    return std::ranges::find_if(items, [&](const Item& item) { return item.resource.key() == key; });
  }
  std::vector<const Item*> users_of(const Item& needed) const {
    std::vector<const Item*> users;
    for (const Item& item : items) {
      const auto& needs = item.resource.needs;
      if (std::ranges::find(needs, needed.resource.key()) != needs.end()) users.push_back(&item);
    }
    return users;
  }
  bool is_only_ours(const Item& item) const {
    return std::ranges::all_of(users_of(item), [&](const Item* user) { return user->owner == cluster; });
  }
  Found found(const Item& item) const {
    return {.kind = item.resource.kind,
            .name = item.resource.name,
            .machine = item.resource.machine,
            .is_ours = item.owner == cluster || item.owner == shared_owner,
            .is_whole = !users_of(item).empty()};
  }

  // Calls effect(half_way) unless the call fails or the caller is dead.
  template <class Effect>
  auto call(const std::string& name, Effect effect) -> decltype(effect(false)) {
    count_in_flight(1);
    if (during) during(name);
    auto result = [&]() -> decltype(effect(false)) {
      const std::lock_guard lock(mutex_);
      const std::size_t number = calls.size();
      calls.push_back(name);
      const Error killed(Code::cancelled, "killed");
      if (kill_at && (number > *kill_at || (number == *kill_at && kill == Kill::before))) return killed;
      if (fail) {
        if (const std::optional<Error> failure = fail(name)) return *failure;
      }
      auto done = effect(number == kill_at && kill == Kill::half_way);
      if (number == kill_at) return killed;
      return done;
    }();
    count_in_flight(-1);
    return result;
  }
  void count_in_flight(int change) {
    const std::lock_guard lock(mutex_);
    in_flight_ += change;
    most_in_flight = std::max(most_in_flight, in_flight_);
  }

  std::mutex mutex_;
  int in_flight_ = 0;
  int created_ = 0;
};

}  // namespace slipway::testing_support
