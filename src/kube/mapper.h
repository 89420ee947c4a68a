// Mapper: which path of the API serves an object, asked of the server itself (discovery), and remembered.
#pragma once

#include "kube/client.h"

#include "base/guarded.h"

#include <map>

namespace slipway::kube {

// Threads: any.
class Mapper {
 public:
  explicit Mapper(Api& api) : api_(api) {}

  // The type of an object by its apiVersion and kind. Asks the server when the kind is not known yet, each group and version at
  // most once until refresh().
  //
  //   returns  nothing when the server does not serve it (its CRD may come yet: refresh() and ask again)
  //   errors   invalid: the object has no apiVersion or no kind; as Api
  Result<std::optional<ResourceType>> type_of(const sys::Context& context, const Json& object);

  void refresh();  // what was not found is asked again

 private:
  struct Group {
    std::map<std::string, ResourceType> kinds;
    bool is_fresh = false;  // a kind that is not among them does not exist as far as we know
  };
  Api& api_;
  Guarded<std::map<std::string, Group>> groups_;  // by apiVersion
};

}  // namespace slipway::kube
