// ensure_all: makes sure that objects exist, in any order of their types and namespaces, also if other programs create those.
//
//   TRY(ensure_all(context, api, mapper, manifests, {.manager = "cluster-bootstrap", .limit = minutes}, on_outcome));
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
  bool update = false;    // applies manifests over existing objects; otherwise existing objects stay unchanged
  std::string manager{};  // field manager for server-side apply, which creates all objects of custom types
  int at_once = 8;
  Milliseconds limit{};
};

// The result for a manifest. Each manifest gets one final outcome; `waits` may come before it.
struct Outcome {
  enum class Kind {
    created,
    updated,    // applied over an existing object, or its missing status was set
    unchanged,  // the object existed
    differs,    // the object existed with other content and stays unchanged: a warning
    failed,     // the server refused it; it is not retried
    waits,      // not final: the server has not known its type or namespace for a long time
  };
  Kind kind;
  std::string detail{};  // differs: the first field that differs; failed, waits: the reason

  bool operator==(const Outcome&) const = default;
};

// Creates all objects in parallel, types and namespaces first. If the type or namespace of an object is missing or the server is
// unavailable, it retries: as soon as that type or namespace is created here, and periodically, because another program may
// create it. A refusal (invalid, denied) is reported and returned as an error; the other manifests continue.
//
//   on_outcome  called on this thread, once for each manifest with a final outcome
//   status      the manifest's status is set if the object has none
//   again       a second call writes nothing
//   errors      one line for each missing object with its last error; the code is that of the first refusal, otherwise timeout;
//               cancelled
//   time        options.limit, plus the limit of requests in progress (30 s)
Result<> ensure_all(const sys::Context& context, Api& api, Mapper& mapper, std::vector<Manifest> manifests,
                    const EnsureOptions& options, const std::function<void(const Manifest&, const Outcome&)>& on_outcome);

}  // namespace slipway::kube
