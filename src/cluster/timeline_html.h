// The timeline as an HTML page: one file that loads nothing else.
#pragma once

#include "cluster/timeline.h"

#include <string>

namespace slipway::cluster {

// The page of data/cluster/timeline.html. The labels may contain any characters. Pure.
//   cluster  its name; empty when unknown
std::string to_html(const Timeline& timeline, const std::string& cluster);

}  // namespace slipway::cluster
