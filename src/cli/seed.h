// --seed FILE: the same seed, install-config and release give the same assets, byte for byte.
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "cli/command.h"
#include "sys/files.h"

#include <string>
#include <string_view>

namespace slipway::cli {

Option seed_option();

// The content of a seed file.
//
//   errors  not_found; denied: other users may read the file; invalid: not a file, or less than 32 bytes
Result<Secret> read_seed(sys::Files& files, const std::string& path);

// The creation time of assets with a seed: SOURCE_DATE_EPOCH (seconds), otherwise the start of the day in UTC. errors: invalid:
// not a number
Result<WallTime> time_of_seed(std::string_view source_date_epoch, WallTime now);

}  // namespace slipway::cli
