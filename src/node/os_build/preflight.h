// What a build needs before it starts: space on disks, memory, logins. Pure.
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "machineconfig/os_build.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::node {

struct FreeSpace {
  std::string what;         // "podman's storage"
  std::string path;         // "/var/lib/containers"
  std::string file_system;  // its mount point; folders of one file system share its space
  std::uint64_t bytes = 0;
  std::uint64_t needed = 0;
};

// Bytes that podman's storage and the output need for an image on a base image with these bytes in its registry. Layers are
// compressed there to about a third.
std::uint64_t storage_needs(std::uint64_t base_bytes);
std::uint64_t output_needs(std::uint64_t base_bytes);

inline constexpr std::uint64_t memory_needs = 512u << 20;

// errors: conflict, with what is there and what is needed, for all file systems
Result<> check_space(const std::vector<FreeSpace>& places);

// text: of /proc/meminfo. errors: conflict
Result<> check_memory(std::string_view text);

// Output of `df --block-size=1 --output=avail,target PATH`: free bytes and mount point. errors: internal
Result<std::pair<std::uint64_t, std::string>> parse_free_space(std::string_view text);

// errors: denied: no login for the repository of the result
Result<> check_logins(const machineconfig::OsBuild& build, const Secret& push_logins, const std::string& name);

}  // namespace slipway::node
