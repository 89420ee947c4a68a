#include "cluster/steps.h"

#include "assets/manifests/image_mode.h"
#include "base/check.h"
#include "sys/events.h"

#include <array>

namespace slipway::cluster {

namespace {

constexpr Milliseconds minute = std::chrono::minutes(1);

using enum ExitStatus;

constexpr std::array rows = {
    StepRow{Step::assets, "assets", "assets are generated", {}, failure},
    StepRow{Step::machines, "machines", "the machines of the cluster are running", {}, infrastructure},
    StepRow{Step::kubernetes_api, "kubernetes-api", "the temporary control plane serves the API", 15 * minute, bootstrap},
    StepRow{Step::control_plane_nodes, "control-plane-nodes", "the control plane nodes have joined", 15 * minute, bootstrap},
    StepRow{Step::bootstrap_complete, "bootstrap-complete", "the control plane runs on its own machines", 45 * minute, bootstrap},
    StepRow{Step::bootstrap_member, "bootstrap-member", "the bootstrap member is removed from etcd", 10 * minute, bootstrap},
    StepRow{Step::bootstrap_machine, "bootstrap-machine", "the bootstrap machine is removed", {}, failure},
    StepRow{Step::nodes_ready, "nodes-ready", "the control plane nodes are Ready", 15 * minute, initialisation},
    StepRow{Step::api_servers, "api-servers", "every control plane node runs an API server", 15 * minute, initialisation},
    StepRow{Step::worker_nodes, "worker-nodes", "the workers are Ready", 30 * minute, initialisation},
    StepRow{Step::cluster_operators, "cluster-operators", "every ClusterOperator is Available, none Progressing or Degraded",
            40 * minute, operators},
    StepRow{Step::cluster_version, "cluster-version", "the release is installed", 40 * minute, initialisation},
};

}  // namespace

const StepRow& row_of(Step step) {
  const auto& row = rows.at(static_cast<std::size_t>(step));
  CHECK(row.step == step);
  return row;
}

Result<> Steps::run(const sys::Context& context, Step step, const std::function<Result<>()>& work, std::string description) {
  const StepRow& row = row_of(step);
  JsonObject fields = {{"description", description.empty() ? std::string(row.description) : std::move(description)}};
  if (row.limit.count() > 0) fields["limit_ms"] = limit_of(step).count();
  sys::Span span(context.events, context.clock, "step", std::string(row.name), std::move(fields));
  Result<> done = span.end(work());
  if (!done.ok()) failed_ = step;
  return done;
}

Milliseconds Steps::limit_of(Step step) const {
  Milliseconds limit = row_of(step).limit;
  if (image_mode_ != config::ImageMode::none) {
    if (step == Step::control_plane_nodes || step == Step::bootstrap_complete) limit += assets::os_build_allowance;
    if (step == Step::worker_nodes) limit += assets::first_boot_hold;
  }
  return pace_ * limit;
}

}  // namespace slipway::cluster
