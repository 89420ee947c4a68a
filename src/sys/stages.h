// Stages: long procedures as data. Each stage has a name, dependencies and repeatable work. A completed stage is not run again.
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
  std::string name;                             // also of the marker file: lower-case letters, digits, dashes
  std::vector<std::string> needs{};             // stages that must be done first; a stage that does not apply counts as done
  std::function<Result<>(const Context&)> run;  // must be repeatable, also after a kill half-way
  bool applies = true;                          // false: this run of the procedure skips the stage
};

// Errors in a list of stages: duplicate or malformed names, needs that are not stages, circular dependencies. Pure.
Findings check_stages(const std::vector<Stage>& stages);

// Runs the stages that are not done. A stage starts as soon as its needs are done; independent stages run in parallel. Stages
// that can start at the same time start in the order of the list.
//
// A successful stage writes MARKER_FOLDER/NAME.done atomically. Later calls skip the stage. Events of kind "stage" report
// started, finished and failed, each with the "needs" of the stage, and skipped with a field "reason".
//
//   errors   invalid: the findings of check_stages; otherwise the first failure as "stage NAME: ...". After a failure the
//            other stages are asked to stop
//   threads  each `run` function is called on its own thread
Result<> run_stages(const Context& context, Files& files, const std::string& marker_folder, const std::vector<Stage>& stages);

std::string marker_path(const std::string& marker_folder, const std::string& stage);

}  // namespace slipway::sys
