// reconcile: keeps the cluster as a pure function of what is there says. Every controller of the images is such a function.
//
//   Plan plan(const Snapshot& now_there, WallTime now);      // decides
//   TRY(reconcile(context, api, {.manager = "cluster-etcd-operator", .watched = ..., .plan = plan}));    // acts
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "components/controller/view.h"
#include "kube/client.h"
#include "sys/context.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace slipway::components {

// An object as it shall be.
struct DesiredObject {
  enum class How {
    // ConfigMaps and Secrets: `data` is exactly this, labels and annotations are at least these, one that is null is removed;
    // what else is there stays. Other types: fields are at least these (server-side apply).
    apply,
    create,  // made when there is none, left alone otherwise
    status,  // only its status, which is exactly this; the object was taken from the snapshot, so a newer one is not overwritten
    remove,  // only type, namespace and name count; done when it is being removed
  };
  kube::ResourceType type;
  Json object;
  How how = How::apply;
};

// Something to do that is no object: a call to etcd, files. Runs after the wishes came true; when it fails, that is told, those
// behind it do not run, and it is planned again.
struct Task {
  std::string name;  // "promoting master-1", completes "... failed: "
  std::function<Result<>(const sys::Context&)> run;
};

// Told to people as an Event about an object, and to the log; once for each text, after the wishes of its plan. When one of those
// was in conflict nothing is told, for the plan may have been mistaken.
struct Notice {
  Json about;
  std::string reason;  // "RevisionCreated"
  std::string message;
  bool is_warning = false;
};

struct Plan {
  std::vector<DesiredObject> desired_objects{};  // fulfilled several at once, in no order
  std::vector<Task> tasks{};                     // one after another
  std::vector<Notice> notices{};
  std::optional<WallTime> again{};  // to be planned again by then, though nothing changes

  void add(Plan other);  // takes all of it, the earlier `again`
};

struct Reconciliation {
  std::string manager;  // owns the fields that are applied; component of Events
  std::vector<Watched> watched;
  std::function<Result<Plan>(const Snapshot& seen, WallTime now)> plan;
  View& view;  // tasks and tests may put facts into it
};

// Whether the snapshot has what a wish wants. Pure.
bool is_fulfilled(const DesiredObject& desired, const Snapshot& seen);

// Plans when everything is seen once, after every change and when a plan wanted to be asked again; does what is not yet so; until
// a stop. What was written is in the view before the next plan, so a plan may go one step at a time: make, see it made, go on. A
// step that fails is told and tried again after a pause that grows to 15 s, or at the next change, whichever is earlier but not
// more than ten times a second; conflict is no failure. Objects that no watch covers are looked up before they are written, and
// again every five minutes.
//
//   errors   cancelled; denied of a watch; those of `plan` (a program that cannot plan does not go on)
//   threads  `plan` and tasks run on one thread, watches have their own
Result<> reconcile(const sys::Context& context, kube::Api& api, const Reconciliation& work);

}  // namespace slipway::components
