// The update graph: which releases an update service recommends for a cluster (the Cincinnati protocol of OpenShift:
// openshift/cincinnati, docs/design/openshift.md). Pure.
#pragma once

#include "base/json.h"
#include "base/result.h"

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

// The URL to ask, from spec.upstream, spec.channel and spec.clusterID. There is no default service.
//
//   errors  invalid: the message is the reason of the condition, ": ", and its message: no channel, no or a wrong upstream
Result<std::string> graph_url(const Json& cluster_version, std::string_view version, std::string_view architecture);

// The updates from a version.
//
// - An update with risks is conditional, also if the graph has an edge without them. A risk that always matches makes it not
//   recommended. A risk with a PromQL rule cannot be evaluated here, so whether the update is recommended is unknown.
// - An update whose risk has only rules of unknown types is left out, and an image with risks in two groups, too.
//
//   errors  invalid: the answer is no graph, or does not have the version; the message as above
Result<KnownUpdates> read_graph(std::string_view answer, std::string_view version);

}  // namespace slipway::components::cluster_version
