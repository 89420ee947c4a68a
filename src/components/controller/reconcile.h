// reconcile: changes the cluster until it is as a pure function of its state wants it. Every controller of the images is such a
// function.
//
//   Plan plan(const Snapshot& seen, WallTime now);      // decides
//   TRY(reconcile(context, api, {.manager = "cluster-etcd-operator", .watched = ..., .plan = plan}));    // acts
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "components/controller/desired_object.h"
#include "components/controller/view.h"
#include "kube/client.h"
#include "sys/context.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace slipway::components {

// A step that does not write an object, for example a call to etcd. Runs after all objects of its plan are as wanted. After a
// failure the later tasks do not run; the failure is logged and planned again.
struct Task {
  std::string name;  // "promoting master-1", completes "... failed: "
  std::function<Result<>(const sys::Context&)> run;
};

// An Event about an object, which is also logged, once for each text, after the objects of its plan are written. A conflict about
// an object suppresses the notices about it, because the plan may be wrong.
struct Notice {
  Json about;
  std::string reason;  // "RevisionCreated"
  std::string message;
  bool is_warning = false;
};

struct Plan {
  std::vector<DesiredObject> desired_objects{};  // written in parallel, in no order
  std::vector<Task> tasks{};                     // run one after another
  std::vector<Notice> notices{};
  std::optional<WallTime> again{};  // time of the next plan if nothing changes before

  void add(Plan other);  // appends all of it; the earlier `again` wins
};

struct Reconciliation {
  std::string manager;  // field manager of applied fields; source component of Events
  std::vector<Watched> watched;
  std::function<Result<Plan>(const Snapshot& seen, WallTime now)> plan;
  View& view;  // tasks and tests may put facts into it
};

// Runs until a stop. Plans after every watch has delivered its first list, after every change and at the time `again` of the last
// plan, and does what is not yet as wanted. Writes are in the view before the next plan, so a plan may do one step at a time:
// create an object, see it, continue.
// A failed step is logged and retried after a pause of at most 15 s, or at the next change, but at most ten times a second. A
// conflict is not a failure. Objects that no watch covers are read before they are written, and again every five minutes.
//
//   errors   cancelled; denied: a watch was refused; those of `plan` (a program that cannot plan ends)
//   threads  `plan` and tasks run on one thread; watches have their own
Result<> reconcile(const sys::Context& context, kube::Api& api, const Reconciliation& work);

}  // namespace slipway::components
