// Pieces of configs, as those who write configs need them.
//
//   put(config, make_file("/etc/hostname", "master-0\n", 0644));
//   put(config, make_unit("kubelet.service", text, true));
//   put_dropin(config, "kubelet.service", "20-logging", text);
#pragma once

#include "ignition/types.h"

#include <string>
#include <string_view>

namespace slipway::ignition {

// A file of root that replaces whatever is there.
File make_file(std::string path, std::string_view content, int mode);

// A symbolic link that replaces whatever is there.
Link make_link(std::string path, std::string target);

Unit make_unit(std::string name, std::string contents, bool enabled);

// "20-logging" is written to 20-logging.conf.
Dropin make_dropin(std::string_view stem, std::string contents);

// Adds an entry, or replaces the one of the same path or name: the last one put is the one that stands.
void put(Config& config, File file);
void put(Config& config, Link link);
void put(Config& config, Unit unit);

// The same for a drop-in of a unit, which may be one that the config does not have: it then exists on the machine.
void put_dropin(Config& config, std::string_view unit, std::string_view stem, std::string contents);

// Another config that Ignition fetches and merges over this one.
Resource make_reference(std::string url);

}  // namespace slipway::ignition
