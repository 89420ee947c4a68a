// ConfigMapStore: reads and writes the ConfigMaps of the approver. A failed write is postponed, because namespaces may be created
// late in an installation.
#pragma once

#include "base/json.h"
#include "kube/client.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace slipway::components::machine_approver {

// Attempts for one write, including retries after a conflict.
inline constexpr int write_attempts = 6;

// Threads: one.
class ConfigMapStore {
 public:
  // `context` and `api` must outlive it.
  ConfigMapStore(const sys::Context& context, kube::Api& api) : context_(context), api_(api) {}

  // Reads a ConfigMap, with retries. Blocks.
  Result<std::optional<Json>> find(std::string_view space, std::string_view name) const;

  // Creates or updates it once. errors: conflict: another writer was faster
  Result<Json> write(const Json& object, bool exists) const;

  // Postpones writes by two seconds after this error and logs each error once. errors: cancelled, if that is the reason
  Result<> postpone(std::string_view what, const Error& reason);

  // Time of the next write after a failure.
  SteadyTime next_write() const { return next_write_; }

 private:
  const sys::Context& context_;
  kube::Api& api_;
  SteadyTime next_write_{};
  std::set<std::string> logged_;  // errors
};

}  // namespace slipway::components::machine_approver
