// Renders: the table of commands that make a cluster's first files, one row a component. Commands and flags are those of
// openshift/installer data/data/bootstrap/files/usr/local/bin/bootkube.sh.template.
#pragma once

#include "bootstrap/containers.h"
#include "bootstrap/copies.h"
#include "bootstrap/inputs.h"

#include <string>
#include <vector>

namespace slipway::bootstrap {

struct Render {
  std::string stage;                       // "etcd-bootstrap": the output is where it belongs
  Container container;                     // "etcd-render": makes the output; also the name of that stage
  std::string output;                      // folder below the assets, made anew
  std::vector<Copy> copies;                // in this order
  std::vector<std::string> needs{};        // stages whose results the render reads besides the frozen manifests
  std::vector<std::string> place_needs{};  // stages whose results the copies read besides this render's
  std::vector<std::string> folders{};      // made before the copies, for others to fill
  std::vector<std::string> pair{};         // two files that the render makes together: one alone is left of a kill, and removed
  bool applies = true;
};

// The folder with the manifests as they were after api-bootstrap, below the assets.
inline constexpr const char* frozen_manifests = "frozen/manifests";

// The first one: it rewrites the FeatureGate among the manifests themselves.
Render api_render(const Inputs& inputs);

// All others, the most urgent first. Pure.
std::vector<Render> renders(const Inputs& inputs);

// `cluster-bootstrap start`: the temporary control plane, from its start to its end.
Container cluster_bootstrap(const Inputs& inputs);

// `cluster-bootstrap bootstrap-in-place`: writes ASSETS/master.ign from the files of this machine.
Container bootstrap_in_place(const Inputs& inputs);

}  // namespace slipway::bootstrap
