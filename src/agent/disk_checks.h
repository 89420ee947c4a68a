// Steps installation-disk-speed-check and container-image-availability: what an installation needs of the disk and of registries.
#pragma once

#include "agent/step.h"
#include "assist/inventory.h"
#include "base/json.h"

#include <string>
#include <vector>

namespace slipway::agent {

// The disk with this path, ID or link. Steps come from the service, so a path that is not a disk of the inventory is refused, and
// so is a disk that is in use. errors: not_found, conflict with the reasons of the inventory
Result<assist::Disk> find_installation_disk(const std::vector<assist::Disk>& disks, const std::string& path);

// Arguments {"path"}, output {"io_sync_duration", "path"}: the milliseconds, rounded up, that 99 % of small durable writes need
// (sys/disk_speed.h); the slower one of two writers. OVERWRITES the beginning of the disk. time: up to 8 minutes
Result<StepReply> check_disk_speed(const StepWorld& world, const Json& arguments);

// Arguments {"images": [...], "timeout": seconds}, output {"images": [{"name", "result", "size_bytes", "time", "download_rate"}]}
// with result "success" or "failure", seconds, and 10^6 bytes a second. Reads each image where containerd of this host would
// (node/registry_access.h) and measures the rate with at most 16 MiB. Exit code 2 if an image is not available; the error of the
// reply has the reasons.
Result<StepReply> check_images(const StepWorld& world, const Json& arguments);

}  // namespace slipway::agent
