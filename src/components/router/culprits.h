// Finds the routes that haproxy does not take, so that they do not take the others down.
#pragma once

#include "components/router/route.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace slipway::components::router {

// Each bad route with what is said about it; empty: all routes together are fine.
//
//   check   whether a set of routes is taken: invalid says that it is not
//   errors  those of `check` but invalid; invalid: not even no routes are taken, or there are more than 20 bad ones
//   time    for each bad route a check for each bit of their number
Result<std::vector<std::pair<Route, std::string>>> find_culprits(std::vector<Route> routes,
                                                                 const std::function<Result<>(const std::vector<Route>&)>& check);

}  // namespace slipway::components::router
