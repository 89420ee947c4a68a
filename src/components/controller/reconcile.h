// reconcile: a loop that changes the objects of the cluster until they are as planned. A pure function computes the plan from the
// observed objects. Every controller in the images consists of such a function and this loop.
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

// A step that does not write an object, for example a call to etcd. Tasks run after all objects of their plan are written. If a
// task fails, the later tasks of the plan do not run. The failure is logged, and the next plan decides what to do.
struct Task {
  std::string name;  // "promoting master-1", completes "... failed: "
  std::function<Result<>(const sys::Context&)> run;
};

// An Event about an object. It is created and logged after the objects of its plan are written; the same text is reported only
// once. If writing the object causes a conflict, the notices about the object are dropped: the plan may be based on old data.
struct Notice {
  Json regarding;
  std::string reason;  // "RevisionCreated"
  std::string message;
  bool is_warning = false;
};

struct Plan {
  std::vector<DesiredObject> desired_objects{};  // written in parallel, in no order
  std::vector<Task> tasks{};                     // run one after another
  std::vector<Notice> notices{};
  std::optional<WallTime> replan_at{};  // time of the next plan if nothing changes before

  void add(Plan other);           // appends all of it; the earlier `replan_at` wins
  void replan_by(WallTime when);  // makes `replan_at` at most this time
};

struct Reconciliation {
  std::string manager;  // field manager of applied fields; source component of Events
  std::vector<Watched> watched;
  std::function<Result<Plan>(const Snapshot& seen, WallTime now)> plan;
  View& view;  // tasks and tests may put facts into it
  std::string controller{};  // its name in metrics; empty: `manager`
};

// Runs until a stop. The first plan is made when every watch has delivered its first list. Further plans are made after every
// change, and at the time `replan_at` of the last plan. After each plan, only the differences are written. The view contains
// these writes before the next plan is made. A plan may therefore do one step at a time: create an object, see it, continue. A
// failed step is logged. It is retried after at most 15 s, or earlier if something changes, but at most ten times a second. A
// conflict does not count as a failure. Objects that no watch covers are read before they are written, and again every five
// minutes. Counts in the metrics of `api`.
//
//   errors   cancelled; denied: a watch was refused; those of `plan` (a program that cannot plan ends)
//   threads  `plan` and tasks run on one thread; watches have their own
Result<> reconcile(const sys::Context& context, kube::Api& api, const Reconciliation& work);

}  // namespace slipway::components
