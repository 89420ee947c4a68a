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

// One moment of all slices. Valid as long as the snapshot.
class Slices {
 public:
  explicit Slices(const Snapshot& seen);

  // Sorted, each once. Ready ones; when there are none, those that still serve though they are ending. A service of both
  // families is reached by IPv4.
  //
  //   port  name or number as the pods have it; empty: the first of each slice
  std::vector<Endpoint> of(std::string_view space, std::string_view service, std::string_view port) const;

 private:
  std::map<std::pair<std::string, std::string>, std::vector<const Json*>, std::less<>> slices_;
};

}  // namespace slipway::components::router
