// Mapper: the API path for an object, by discovery. Caches the server's answers.
#pragma once

#include "kube/client.h"

#include "base/guarded.h"

#include <map>

namespace slipway::kube {

// Threads: any.
class Mapper {
 public:
  explicit Mapper(Api& api) : api_(api) {}

  // The type of an object by its apiVersion and kind. Asks the server for an unknown kind, at most once for each group and
  // version until refresh().
  //
  //   returns  nullopt if the server does not serve the type (its CRD may be created later: call refresh() and retry)
  //   errors   invalid: the object has no apiVersion or no kind; those of Api
  Result<std::optional<ResourceType>> type_of(const sys::Context& context, const Json& object);

  void refresh();  // forgets which types are not served

 private:
  struct Group {
    std::map<std::string, ResourceType> kinds;
    bool is_fresh = false;  // kinds that are not listed do not exist; no need to ask again
  };
  Api& api_;
  Guarded<std::map<std::string, Group>> groups_;  // by apiVersion
};

}  // namespace slipway::kube
