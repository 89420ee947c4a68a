// The medium that the live system was booted from, for instance a virtual DVD of the machine's management controller.
#pragma once

#include "agent/system_tree.h"
#include "base/result.h"

#include <array>
#include <string>
#include <string_view>

namespace slipway::agent {

// Where live systems mount their medium: slipway's own and CoreOS.
inline constexpr std::array<std::string_view, 2> medium_folders = {"/run/slipway-live/medium", "/run/media/iso"};

// The device of the medium in the text of /proc/self/mountinfo; "" if the whole system is in memory. Pure.
std::string medium_device(std::string_view mountinfo);

// errors: unavailable: the medium was removed or its connection is lost. blocks: see sys::check_readable
Result<> check_medium(const SystemTree& tree);

}  // namespace slipway::agent
