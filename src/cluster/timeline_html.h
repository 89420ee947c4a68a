// The timeline as a page for a browser: one file that loads nothing.
#pragma once

#include "cluster/timeline.h"

#include <string>

namespace slipway::cluster {

// The page of data/cluster/timeline.html. What it shows may have any characters. Pure.
//   cluster  its name; empty when it is not known
std::string to_html(const Timeline& timeline, const std::string& cluster);

}  // namespace slipway::cluster
