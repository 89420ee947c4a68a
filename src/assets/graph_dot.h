// Draws a graph in the DOT language of Graphviz.
#pragma once

#include "assets/graph.h"

#include <string>

namespace slipway::assets {

// A drawing from left to right, as from `openshift-install graph`. An edge points from an asset to the assets that depend on it.
// Each subject is a box around its assets. Targets are filled.
std::string to_dot(const Graph& graph);

}  // namespace slipway::assets
