// The update graph: which releases an update service recommends for a cluster (the Cincinnati protocol of OpenShift:
// openshift/cincinnati, docs/design/openshift.md). Pure.
#pragma once

#include "base/json.h"

#include <string>
#include <string_view>

namespace slipway::components::cluster_version {

// What the update service says, and the condition RetrievedUpdates.
struct KnownUpdates {
  bool is_retrieved = false;
  std::string reason{};  // of the condition, if nothing is retrieved: "NoChannel"
  std::string message{};
  JsonArray available{};    // for status.availableUpdates, newest first
  JsonArray conditional{};  // for status.conditionalUpdates, newest first; their conditions have no time

  bool operator==(const KnownUpdates&) const = default;
};

// What to ask an update service.
struct GraphRequest {
  std::string url{};     // empty: nothing can be asked
  std::string reason{};  // of the condition, without a URL: no channel, no or a wrong upstream
  std::string message{};

  bool operator==(const GraphRequest&) const = default;
};

// From spec.upstream, spec.channel and spec.clusterID. There is no default service.
GraphRequest graph_request(const Json& cluster_version, std::string_view version, std::string_view architecture);

// The updates from a version.
//
// - An update with risks is conditional, also if the graph has an edge without them. A risk that always matches makes it not
//   recommended. A risk with a PromQL rule cannot be evaluated here, so whether the update is recommended is unknown.
// - An update whose risk has only rules of unknown types is left out, and an image with risks in two groups, too.
//
// Not retrieved: the answer is no graph, or does not have the version.
KnownUpdates read_graph(std::string_view answer, std::string_view version);

}  // namespace slipway::components::cluster_version
