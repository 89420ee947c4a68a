// The JSON of an update service (the Cincinnati protocol of OpenShift: openshift/cincinnati, docs/design/openshift.md): which
// release may follow which. A web server with this file is an update service. Pure.
//
//   {"nodes": [{"version": "0.1.0", "payload": "r.example/release@sha256:...", "metadata": {}}, ...],
//    "edges": [[0, 1]],
//    "conditionalEdges": [{"edges": [{"from": "0.1.0", "to": "0.2.0"}], "risks": [{"name": "...", ...}]}]}
#pragma once

#include "base/findings.h"
#include "base/json.h"
#include "base/yaml.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::release {

struct GraphRelease {
  std::string version;
  std::string image;                    // by digest
  std::vector<std::string> previous{};  // Release::previous
};

// The graph of these releases, the oldest first, with the rules of a file that people write:
//
//   edges:                                # instead of those that the releases have
//   - {from: 0.1.0, to: 0.1.1}
//   conditionalEdges:
//   - edges: [{from: 0.1.1, to: 0.2.0}]
//     risks: [{name: SlowDisks, message: ..., url: "https://...", matchingRules: [{type: Always}]}]
//
// Without `edges` in the file, a release follows the versions that it names (`previous`); one that names none follows all older
// versions of the same and of the previous minor version. An update with risks has no edge without risks.
//
//   channels  of all releases; shown by clusters
//   errors    invalid, with all problems: an unknown field in the rules, and what check_update_graph finds
Result<Json> make_update_graph(std::vector<GraphRelease> releases, const std::vector<std::string>& channels,
                               const std::optional<YamlDocument>& rules);

// What a cluster would refuse, ignore or misunderstand in a graph, and each release that the graph does not have with its digest.
Findings check_update_graph(const YamlDocument& graph, const std::vector<GraphRelease>& releases);

}  // namespace slipway::release
