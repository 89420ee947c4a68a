// Stages: long procedures as data. Each has a name, what it needs, and work that may be repeated; what was done stays done.
//
//   run_stages(context, files, "/opt/openshift", {
//       {.name = "etcd-bootstrap", .needs = {"config-bootstrap"}, .run = render("etcd")},
//       {.name = "wait-for-etcd",  .needs = {"etcd-bootstrap"},   .run = wait_for_etcd},
//   });
#pragma once

#include "base/findings.h"
#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"

#include <functional>
#include <string>
#include <vector>

namespace slipway::sys {

struct Stage {
  std::string name;                             // also of the marker file: lower case, digits, dashes
  std::vector<std::string> needs{};             // stages that must be done before; a stage that does not apply counts as done
  std::function<Result<>(const Context&)> run;  // must reach the same end when it was killed half-way and starts again
  bool applies = true;                          // whether this run of the procedure has the stage at all
};

// What is wrong with a list of stages: names twice or of other characters, needs that nobody provides, circles. Pure.
Findings check_stages(const std::vector<Stage>& stages);

// Runs the stages that are not done, each as soon as what it needs is done, those that do not need each other at the same
// time; where several can start, in the order of the list.
//
// A stage that succeeds leaves MARKER_FOLDER/NAME.done (written as one step), so that the next call passes over it, whatever
// happened in between. Events of kind "stage" tell started, finished, failed, each with the stages it "needs", and skipped with a
// field "reason".
//
//   errors   invalid: what check_stages says; the first failure as "stage NAME: ...", after which the others are asked to stop
//   threads  `run` functions are called on threads of their own
Result<> run_stages(const Context& context, Files& files, const std::string& marker_folder, const std::vector<Stage>& stages);

std::string marker_path(const std::string& marker_folder, const std::string& stage);

}  // namespace slipway::sys
