// A picture of a graph, in the language of Graphviz.
#pragma once

#include "assets/graph.h"

#include <string>

namespace slipway::assets {

// From left to right; what is needed points at what it is needed for. A box for each subject round its assets, targets filled
// (installer 1.4).
std::string to_dot(const Graph& graph);

}  // namespace slipway::assets
