// A platform whose resources are listed by kind. A table says how each kind is listed, created and removed.
#pragma once

#include "base/check.h"
#include "provider/plan/inventory.h"
#include "provider/plan/platform.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::provider::plan {

// Work: what the functions of a platform need.
template <class Work>
struct Kind {
  std::string_view name;
  Result<std::vector<Item>> (*list)(const Work& work);
  Result<Item> (*create)(const Work& work, const Resource& resource);  // null: no plan has this kind
  Result<> (*remove)(const Work& work, const Item& item);              // null: it only serves look-ups
  // Whether its creation ended, if that depends on the specification; null: Item::is_whole.
  bool (*is_whole)(const Item& item, const Resource& resource) = nullptr;
};

// Threads: any.
template <class Work>
class KindsPlatform : public Platform {
 public:
  Result<std::optional<Found>> find(const sys::Context& context, const Resource& resource) override {
    const std::optional<Item> item = TRY(inventory_.look_up(context, resource.kind, resource.name));
    if (!item) return std::optional<Found>();
    Found found = found_of(*item, &resource);
    found.machine = resource.machine;
    if (const Kind<Work>& kind = kind_of(resource.kind); kind.is_whole) found.is_whole = kind.is_whole(*item, resource);
    return std::optional(std::move(found));
  }

  Result<> create(const sys::Context& context, const Resource& resource) override {
    return inventory_.created(context, resource.kind, kind_of(resource.kind).create(work(context), resource));
  }

  Result<> remove(const sys::Context& context, const Found& found) override {
    const std::optional<Item> item = TRY(inventory_.known(context, found.kind, found.name));
    if (!item) return Ok{};
    return inventory_.removed(*item, kind_of(found.kind).remove(work(context), *item));
  }

  Result<std::vector<Found>> scan(const sys::Context& context) override {
    inventory_.forget_all();
    std::vector<Found> all;
    for (const Kind<Work>& kind : kinds_) {
      if (!kind.remove) continue;
      for (const Item& item : TRY(inventory_.all(context, kind.name))) all.push_back(found_of(item, nullptr));
    }
    return all;
  }

  virtual Work work(const sys::Context& context) = 0;

 protected:
  // kinds: in the order of removal: what uses other things first. visible_after: as in Inventory
  KindsPlatform(std::vector<Kind<Work>> kinds, Milliseconds visible_after)
      : kinds_(std::move(kinds)),
        inventory_(names_of(kinds_), visible_after,
                   [this](const sys::Context& context, const std::string& kind) { return kind_of(kind).list(work(context)); }) {}

  Inventory& inventory() { return inventory_; }

  // What find() and scan() return for an item. planned: null in scan()
  virtual Found found_of(const Item& item, const Resource* planned) const {
    (void)planned;
    return {.kind = item.kind, .name = item.name, .machine = item.machine, .is_ours = item.is_ours, .is_whole = item.is_whole};
  }

 private:
  static std::vector<std::string_view> names_of(const std::vector<Kind<Work>>& kinds) {
    std::vector<std::string_view> names;
    for (const Kind<Work>& kind : kinds) names.push_back(kind.name);
    return names;
  }

  const Kind<Work>& kind_of(std::string_view name) const {
    const auto found = std::ranges::find(kinds_, name, &Kind<Work>::name);
    CHECK(found != kinds_.end());
    return *found;
  }

  const std::vector<Kind<Work>> kinds_;
  Inventory inventory_;
};

}  // namespace slipway::provider::plan
