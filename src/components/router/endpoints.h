// The pods behind Services, from their EndpointSlices (discovery.k8s.io/v1). Pure.
#pragma once

#include "components/controller/view.h"

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::components::router {

struct Endpoint {
  std::string address;
  int port = 0;

  auto operator<=>(const Endpoint&) const = default;
};

// All slices of a snapshot. Valid as long as the snapshot.
class Slices {
 public:
  explicit Slices(const Snapshot& seen);

  // The endpoints of a service, sorted, without duplicates. Returns ready endpoints; if none is ready, terminating endpoints that
  // still serve. A dual-stack service is reached by IPv4.
  //
  //   port  name or number of the pods' port; empty: the first port of each slice
  std::vector<Endpoint> of(std::string_view space, std::string_view service, std::string_view port) const;

 private:
  std::map<std::pair<std::string, std::string>, std::vector<const Json*>, std::less<>> slices_;
};

}  // namespace slipway::components::router
