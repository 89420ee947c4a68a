// A picture of a graph, in the language of Graphviz.
#pragma once

#include "assets/graph.h"

#include <string>

namespace slipway::assets {

// A drawing from left to right, as `openshift-install graph` makes it. An edge points from an asset to the assets made of it.
// Each subject has a box around its assets; targets are filled.
std::string to_dot(const Graph& graph);

}  // namespace slipway::assets
