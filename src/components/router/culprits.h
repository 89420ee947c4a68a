// Finds the routes that haproxy rejects, so that the router can serve all others.
#pragma once

#include "components/router/route.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace slipway::components::router {

// Returns each bad route with haproxy's message; empty: haproxy accepts all routes.
//
//   check   checks a set of routes; the error invalid means that haproxy rejects it
//   errors  those of `check` except invalid; invalid: haproxy rejects even an empty set, or more than 20 routes are bad
//   time    about log2(number of routes) checks for each bad route
Result<std::vector<std::pair<Route, std::string>>> find_culprits(std::vector<Route> routes,
                                                                 const std::function<Result<>(const std::vector<Route>&)>& check);

}  // namespace slipway::components::router
