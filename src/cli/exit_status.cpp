#include "cli/exit_status.h"

#include <array>
#include <utility>

namespace slipway::cli {

ExitStatus status_of_step(std::string_view step) {
  static constexpr auto table = std::to_array<std::pair<std::string_view, ExitStatus>>({
      {"machines", ExitStatus::infrastructure},
      {"kubernetes-api", ExitStatus::bootstrap},
      {"control-plane-nodes", ExitStatus::bootstrap},
      {"bootstrap-complete", ExitStatus::bootstrap},
      {"bootstrap-member", ExitStatus::bootstrap},
      {"nodes-ready", ExitStatus::initialisation},
      {"api-servers", ExitStatus::initialisation},
      {"worker-nodes", ExitStatus::initialisation},
      {"cluster-operators", ExitStatus::operators},
      {"cluster-version", ExitStatus::initialisation},
  });
  for (const auto& [name, status] : table) {
    if (name == step) return status;
  }
  return ExitStatus::failure;
}

void FailedStep::hear(const sys::Event& event) {
  if (event.kind != "step" || event.phase != sys::Phase::failed) return;
  name_.with_lock([&](std::string& name) { name = event.name; });
}

std::string FailedStep::name() const {
  return name_.with_lock([](const std::string& name) { return name; });
}

}  // namespace slipway::cli
