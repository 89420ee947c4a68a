// ensure_all: makes sure that objects exist, whatever order their types and namespaces appear in and whoever makes those.
//
//   TRY(ensure_all(context, api, mapper, manifests, {.manager = "cluster-bootstrap", .limit = minutes}, told));
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "kube/client.h"
#include "kube/mapper.h"
#include "sys/context.h"

#include <functional>
#include <string>
#include <vector>

namespace slipway::kube {

struct Manifest {
  std::string name;  // of its file, for messages
  Json object;
};

struct EnsureOptions {
  bool update = false;    // server-side apply over what is there; otherwise what is there stays as it is
  std::string manager{};  // that owns the fields which are applied, all of custom types
  int at_once = 8;
  Milliseconds limit{};
};

// What became of a manifest, told once; `waits` may come before.
struct Outcome {
  enum class Kind {
    created,
    updated,    // applied over what was there, or its missing status was set
    unchanged,  // it was there
    differs,    // it was there with other content, and stays: a warning
    failed,     // the server refuses it for good
    waits,      // not at its end: for long the server has not known its type, or has had no such namespace
  };
  Kind kind;
  std::string detail{};  // differs: the first field that does; failed, waits: why

  bool operator==(const Outcome&) const = default;
};

// Tries everything in parallel, types and namespaces first; what fails because its type or namespace is not there yet, or because
// the server is busy or away, is tried again as soon as what it lacks was made here, and now and then because somebody else may
// have made it. What is refused (invalid, denied) is told and kept as an error, and does not stop the others.
//
//   told    called by this thread, once for each manifest that came to an end
//   status  a manifest's status is set when the object has none
//   again   a second call writes nothing
//   errors  everything that is missing, a line each with its last reason: the code of what was refused, else timeout; cancelled
//   time    options.limit; requests that are under way then have their own (30 s)
Result<> ensure_all(const sys::Context& context, Api& api, Mapper& mapper, std::vector<Manifest> manifests,
                    const EnsureOptions& options, const std::function<void(const Manifest&, const Outcome&)>& told);

}  // namespace slipway::kube
