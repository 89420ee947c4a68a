// Renders: the table of commands that generate the first files of a cluster, one row for each component. Commands and flags are
// those of openshift/installer data/data/bootstrap/files/usr/local/bin/bootkube.sh.template.
#pragma once

#include "bootstrap/containers.h"
#include "bootstrap/copies.h"
#include "bootstrap/inputs.h"

#include <string>
#include <vector>

namespace slipway::bootstrap {

struct Render {
  std::string stage;                      // "etcd-bootstrap": copies the output to its places
  Container container;                    // "etcd-render": generates the output; its name is also the name of that stage
  std::string output;                     // folder below the assets; emptied before the render
  std::vector<Copy> copies;               // in this order
  std::vector<std::string> needs{};       // other stages whose results the render reads, besides the frozen manifests
  std::vector<std::string> copy_needs{};  // other stages whose results the copies read
  std::vector<std::string> folders{};     // created before the copies, for other programs
  // two files that the render creates together; a single one is from a killed run and is removed
  std::vector<std::string> pair{};
  bool applies = true;
};

// The manifests after api-bootstrap, below the assets.
inline constexpr const char* frozen_manifests = "frozen/manifests";

// The first render: it changes the FeatureGate in the manifests.
Render api_render(const Inputs& inputs);

// All other renders, in the order of urgency. Pure.
std::vector<Render> renders(const Inputs& inputs);

// `cluster-bootstrap start`: the temporary control plane, until it is torn down.
Container cluster_bootstrap(const Inputs& inputs);

// `cluster-bootstrap bootstrap-in-place`: writes ASSETS/master.ign from the files of this machine.
Container bootstrap_in_place(const Inputs& inputs);

}  // namespace slipway::bootstrap
