#include "provider/plan/inventory.h"

#include <fmt/core.h>

namespace slipway::provider::plan {

Item item_of(const Resource& resource, std::string id) {
  return {.kind = resource.kind, .name = resource.name, .machine = resource.machine, .id = std::move(id)};
}

Inventory::Inventory(std::vector<std::string_view> kinds, Milliseconds visible_after, List list)
    : visible_after_(visible_after), list_(std::move(list)) {
  for (const std::string_view kind : kinds) listings_.try_emplace(std::string(kind));
}

Result<> Inventory::make(const sys::Context& context, std::string_view kind, Listing& listing) {
  std::vector<Item> items = TRY(list_(context, std::string(kind)));
  listing.items.clear();
  listing.asked.clear();
  for (Item& item : items) {
    std::string name = item.name;
    listing.items.insert_or_assign(std::move(name), std::move(item));
  }
  for (const auto& [name, created] : listing.created) {
    if (context.clock.steady() - created.first < visible_after_) listing.items.try_emplace(name, created.second);
  }
  listing.is_made = true;
  return Ok{};
}

Result<std::optional<Item>> Inventory::look_up(const sys::Context& context, std::string_view kind, const std::string& name) {
  Listing& listing = at(kind);
  std::lock_guard lock(listing.mutex);
  if (!listing.is_made || listing.asked.contains(name)) TRY(make(context, kind, listing));
  listing.asked.insert(name);
  const auto found = listing.items.find(name);
  return found == listing.items.end() ? std::optional<Item>() : found->second;
}

Result<std::vector<Item>> Inventory::all(const sys::Context& context, std::string_view kind) {
  Listing& listing = at(kind);
  std::lock_guard lock(listing.mutex);
  if (!listing.is_made) TRY(make(context, kind, listing));
  std::vector<Item> items;
  for (const auto& [name, item] : listing.items) items.push_back(item);
  return items;
}

Result<std::optional<Item>> Inventory::known(const sys::Context& context, std::string_view kind, const std::string& name) {
  Listing& listing = at(kind);
  std::lock_guard lock(listing.mutex);
  if (!listing.is_made) TRY(make(context, kind, listing));
  const auto found = listing.items.find(name);
  return found == listing.items.end() ? std::optional<Item>() : found->second;
}

Result<std::string> Inventory::id_of(const sys::Context& context, std::string_view reference) {
  if (reference.starts_with("id:")) return std::string(reference.substr(3));
  const std::size_t slash = reference.find('/');
  const std::string kind(reference.substr(0, slash)), name(reference.substr(slash + 1));
  const std::optional<Item> found = TRY(known(context, kind, name));
  if (!found) return error(Code::not_found, "{}: does not exist", reference);
  return found->id;
}

Result<> Inventory::created(const sys::Context& context, std::string_view kind, Result<Item> made) {
  if (!made.ok()) {
    forget(kind);
    return std::move(made).error();
  }
  add(context, std::move(made).value());
  return Ok{};
}

Result<> Inventory::removed(const Item& item, Result<> result) {
  if (result.ok()) {
    remove(item);
  } else {
    forget(item.kind);
  }
  return result;
}

void Inventory::add(const sys::Context& context, Item item) {
  Listing& listing = at(item.kind);
  std::lock_guard lock(listing.mutex);
  listing.created.insert_or_assign(item.name, std::pair(context.clock.steady(), item));
  std::string name = item.name;
  listing.items.insert_or_assign(std::move(name), std::move(item));
}

void Inventory::remove(const Item& item) {
  Listing& listing = at(item.kind);
  std::lock_guard lock(listing.mutex);
  listing.created.erase(item.name);
  listing.items.erase(item.name);
}

void Inventory::forget(std::string_view kind) {
  Listing& listing = at(kind);
  std::lock_guard lock(listing.mutex);
  listing.is_made = false;
}

void Inventory::forget_all() {
  for (auto& [kind, listing] : listings_) {
    std::lock_guard lock(listing.mutex);
    listing.is_made = false;
  }
}

}  // namespace slipway::provider::plan
