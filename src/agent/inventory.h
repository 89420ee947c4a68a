// The inventory of this machine: what step `inventory` reports. The kernel says everything; no program is run.
#pragma once

#include "agent/system_tree.h"
#include "assist/inventory.h"
#include "net/interfaces.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::agent {

// The size of the memory modules in the SMBIOS tables of the firmware, /sys/firmware/dmi/tables/DMI; 0 if they do not say it.
// Malformed tables end the search. Pure.
std::uint64_t installed_memory(std::string_view smbios_tables);

// addresses  of net::interface_addresses
//
// A machine without firmware tables, such as a container, has the memory that the kernel has. A host name that says nothing
// ("localhost") is replaced by the MAC address of the first interface with an address: "52-54-00-12-34-56".
assist::Inventory read_inventory(const SystemTree& tree, const std::vector<net::InterfaceAddress>& addresses);

// The ID of this machine: a UUID made of the system's UUID, the serial number of the mainboard and the MAC addresses of its
// physical interfaces. Placeholders of vendors ("Default string") are left out. The same machine has the same ID after each boot.
// Two machines with the same numbers still differ in their MAC addresses.
//
// salt  a text that makes another ID of the same machine; "": none
std::string host_id(const SystemTree& tree, std::string_view salt);

}  // namespace slipway::agent
