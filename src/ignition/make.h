// Builds configs from parts.
//
//   put(config, make_file("/etc/hostname", "master-0\n", 0644));
//   put(config, make_unit("kubelet.service", text, true));
//   put_dropin(config, "kubelet.service", "20-logging", text);
#pragma once

#include "ignition/types.h"

#include <string>
#include <string_view>

namespace slipway::ignition {

// A file of root. It replaces an existing file.
File make_file(std::string path, std::string_view content, int mode);

// A symbolic link. It replaces an existing node.
Link make_link(std::string path, std::string target);

Unit make_unit(std::string name, std::string contents, bool enabled);

// stem: "20-logging" for 20-logging.conf
Dropin make_dropin(std::string_view stem, std::string contents);

// A line of systemd's system.conf that sets an environment variable of all units. The value has no quotes and line ends.
std::string manager_variable(std::string_view name, std::string_view value);

// Adds an item, or replaces the item with the same path or name.
void put(Config& config, File file);
void put(Config& config, Link link);
void put(Config& config, Unit unit);

// Adds or replaces a drop-in of a unit. If the config does not have the unit, the machine must have it.
void put_dropin(Config& config, std::string_view unit, std::string_view stem, std::string contents);

// A reference to another config. Ignition fetches that config and merges it into this one.
Resource make_reference(std::string url);

}  // namespace slipway::ignition
