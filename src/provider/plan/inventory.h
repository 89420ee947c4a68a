// What a cluster has on a platform, as the platform lists it. One listing a kind serves many look-ups.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "provider/plan/resource.h"
#include "sys/context.h"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::provider::plan {

struct Item {
  std::string kind{};
  std::string name{};
  std::string machine{};  // as in plan::Resource
  std::string id{};       // that of the platform: "vpc-0123", an ARN, "vm-42"
  bool is_ours = true;
  bool is_whole = true;
  JsonObject facts{};  // further properties, by kind

  std::string fact(std::string_view name) const { return text_of(facts, {name}); }
};

// The item that a resource becomes.
Item item_of(const Resource& resource, std::string id);

// Threads: any.
class Inventory {
 public:
  // Lists the items of a kind. May ask the inventory for items of other kinds, without a cycle.
  using List = std::function<Result<std::vector<Item>>(const sys::Context& context, const std::string& kind)>;

  // visible_after: so long a listing may miss something that was created
  Inventory(std::vector<std::string_view> kinds, Milliseconds visible_after, List list);

  // Looks an item up. The second look-up of the same item makes a new listing.
  Result<std::optional<Item>> look_up(const sys::Context& context, std::string_view kind, const std::string& name);

  // The known items of a kind; lists them if no listing was made yet.
  Result<std::vector<Item>> all(const sys::Context& context, std::string_view kind);
  Result<std::optional<Item>> known(const sys::Context& context, std::string_view kind, const std::string& name);

  // The ID of something that a specification names: "KIND/NAME", or "id:vpc-0123". errors: not_found
  Result<std::string> id_of(const sys::Context& context, std::string_view reference);

  // Report the result of a change. After a failure something may exist in part, so the kind is listed again.
  Result<> created(const sys::Context& context, std::string_view kind, Result<Item> made);
  Result<> removed(const Item& item, Result<> result);

  // Reports a change. Listings may not show it for a while.
  void add(const sys::Context& context, Item item);
  void remove(const Item& item);

  // The next look-ups make new listings: of one kind, or of all.
  void forget(std::string_view kind);
  void forget_all();

 private:
  struct Listing {
    std::mutex mutex{};  // held while the kind is listed
    bool is_made = false;
    std::map<std::string, Item> items{};
    std::set<std::string> asked{};                                 // names that were looked up in this listing
    std::map<std::string, std::pair<SteadyTime, Item>> created{};  // by this run
  };

  Result<> make(const sys::Context& context, std::string_view kind, Listing& listing);
  Listing& at(std::string_view kind) { return listings_.find(kind)->second; }

  const Milliseconds visible_after_;
  const List list_;
  std::map<std::string, Listing, std::less<>> listings_;
};

}  // namespace slipway::provider::plan
