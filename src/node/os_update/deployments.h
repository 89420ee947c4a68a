// OSTree deployments of a machine and their kernel arguments. Pure, except read_deployments.
#pragma once

#include "node/program.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

// One OSTree deployment, as `ostree admin status` lists it.
struct Deployment {
  std::string os;         // "slipway"
  std::string commit;     // 64 hexadecimal digits
  std::string serial;     // tells deployments of one commit apart: "0"
  std::string version{};  // of the commit; empty if it has none
  bool booted = false;

  std::string id() const { return commit + "." + serial; }
  std::string folder() const { return "/sysroot/ostree/deploy/" + os + "/deploy/" + id(); }
  bool operator==(const Deployment&) const = default;
};

// Newest first: this is the order in which the boot loader has them.
std::vector<Deployment> parse_deployments(std::string_view status);

// errors: those of ostree
Result<std::vector<Deployment>> read_deployments(const Environment& environment);

// The booted one; nullptr when none is marked. Valid as long as the list.
const Deployment* find_booted(const std::vector<Deployment>& deployments);

// Kernel arguments of a boot entry (Boot Loader Specification), in order, without ostree=.
std::vector<std::string> arguments_of_entry(std::string_view entry);

// Whether a boot entry belongs to the running system, whose kernel command line has the same ostree=.
bool is_entry_of(std::string_view entry, std::string_view kernel_command_line);

// The arguments of a MachineConfig as single words: an item of its list may contain several, separated by blanks outside of
// double quotes.
std::vector<std::string> single_arguments(const std::vector<std::string>& items);

// Takes the arguments `from` away from those of the running system and appends `to`. Arguments that others set stay.
std::vector<std::string> change_arguments(std::vector<std::string> running, const std::vector<std::string>& from,
                                          const std::vector<std::string>& to);

}  // namespace slipway::node
