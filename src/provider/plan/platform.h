// What a platform does for apply() and destroy(). Each platform implements this with its own API.
#pragma once

#include "base/time.h"
#include "provider/plan/resource.h"
#include "sys/context.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::provider::plan {

// A resource that exists.
struct Found {
  std::string kind;
  std::string name;
  std::string machine{};  // as in Resource, if the platform knows it
  bool is_ours = false;   // it has the mark of this cluster, or it is shared and slipway created it
  bool is_whole = false;  // the platform proves that its creation ended, for instance because other resources use it
  std::string place{};    // where it is, if names are not unique on the platform: the storage pool of a volume

  std::string key() const { return kind + "/" + name; }

  bool operator==(const Found&) const = default;
};

// How long destroy() goes on when it removes nothing.
struct Patience {
  int idle_rounds = 5;
  Milliseconds pause{1000};  // after each of them
};

// Errors of all calls: unavailable: the same call may succeed later; denied: a permission is missing; cancelled.
// Threads: any; several calls run in parallel.
class Platform {
 public:
  virtual ~Platform() = default;

  // Looks a resource up by its exact name.
  virtual Result<std::optional<Found>> find(const sys::Context& context, const Resource& resource) = 0;

  // Creates a resource. A kill or an error may leave a part of it, which find() returns and remove() removes.
  // errors: conflict: something with its name exists
  virtual Result<> create(const sys::Context& context, const Resource& resource) = 0;

  // Removes a resource, or a part of it. Succeeds if it does not exist.
  // errors: conflict: it is in use, which may end when other resources are removed. A shared resource that another cluster is
  // creating is in use
  virtual Result<> remove(const sys::Context& context, const Found& found) = 0;

  // All resources of the cluster and the shared ones that only it uses, in the order of removal. They are found by names and
  // marks on the platform alone, so that nothing remains when the journal is lost. Neighbors of the same kind that belong to
  // machines are removed in parallel. May contain resources that are not of this cluster (is_ours), which are not removed; a
  // shared one that other clusters use, too, is one of them, so that refresh() knows that it exists.
  virtual Result<std::vector<Found>> scan(const sys::Context& context) = 0;

  // How often apply() tries to create a resource if the errors are of code unavailable or timeout: a call may have been executed
  // although its answer was lost. Each attempt looks the resource up first.
  virtual int attempts() const { return 1; }

  virtual Patience patience() const { return {}; }

  // The calls that change something when a resource is created, for a preview. Empty: not known. Pure.
  virtual std::vector<std::string> calls_of(const Resource&) const { return {}; }
};

}  // namespace slipway::provider::plan
