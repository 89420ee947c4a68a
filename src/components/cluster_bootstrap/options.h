// Flags of `cluster-bootstrap start`: those of openshift/cluster-bootstrap, and --required-pods-timeout.
#pragma once

#include "base/time.h"
#include "components/cluster_bootstrap/required_pods.h"
#include "components/program/program.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::cluster_bootstrap {

struct BootstrapOptions {
  std::string asset_dir;
  std::string pod_manifest_path;
  std::vector<RequiredPod> required_pods{};
  Milliseconds pods_limit = std::chrono::minutes(20);  // until the required pods are Ready
  std::string tear_down_event{};                       // "namespace/name"; empty: do not wait for an event
  bool tear_down_early = true;
  Milliseconds termination_limit{0};  // how long the API server may take to end; 0: do not wait for it
  Milliseconds tear_down_delay{0};
  Milliseconds create_limit{0};

  // /etc/kubernetes/bootstrap-secrets, next to the pods' folder.
  std::string secrets_path() const;
};

// errors: invalid: a flag or its value
Result<BootstrapOptions> parse_bootstrap_options(const Arguments& arguments);

// Parses Go durations: "60m", "1h30m", "1.5s", "0". errors: invalid
Result<Milliseconds> parse_go_duration(std::string_view text);

}  // namespace slipway::components::cluster_bootstrap
