// Which hosts reach each other. Pure.
#pragma once

#include "assist/model.h"

#include <set>
#include <string>
#include <vector>

namespace slipway::assist {

// The largest set of hosts of which each reaches each other one in the network, in both directions: by link, or by address if
// `by_link` is false. Of several, the one with the smallest IDs. Less than three hosts are no group, because two hosts that do
// not reach each other do not say which of them is wrong.
//
//   hosts  of one cluster; of more than 64 of them, the set may be smaller than the largest
std::set<std::string> majority_group(const std::vector<const Host*>& hosts, const net::Cidr& network, bool by_link);

}  // namespace slipway::assist
