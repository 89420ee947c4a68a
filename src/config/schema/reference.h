// Generates the reference page of install-config.yaml, docs/install-config-reference.md.
#pragma once

#include <string>

namespace slipway::config {

// Returns Markdown with a table for each object of the file. The source is the table that the file is read with.
std::string install_config_reference();

}  // namespace slipway::config
