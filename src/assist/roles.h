// Which hosts become masters. Pure.
#pragma once

#include "assist/model.h"

#include <map>
#include <string>
#include <vector>

namespace slipway::assist {

// The suggested role of every host that has an inventory, by ID. Hosts with a role of the user keep it. Of the others, the
// smallest that meet the requirements of masters, without the ones whose validation the user ignores, become masters, hosts with
// graphics processors last: large hosts stay for applications.
//
//   hosts  of one cluster
std::map<std::string, Role> suggest_roles(const Cluster& cluster, const std::vector<const Host*>& hosts);

// The host that carries the bootstrap and becomes the last master: the ID of the last of the masters by ID, so that every look
// gives the same one; empty if there are no masters. A host that is already marked stays.
std::string choose_bootstrap(const std::vector<const Host*>& hosts);

}  // namespace slipway::assist
