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
//   errors  not_found; denied: somebody else may read it; invalid: no file, less than 32 bytes
Result<Secret> read_seed(sys::Files& files, const std::string& path);

// The moment at which assets of a seed are made: what SOURCE_DATE_EPOCH says (seconds), or the start of the day in UTC.
// errors: invalid: another text
Result<WallTime> time_of_seed(std::string_view source_date_epoch, WallTime now);

}  // namespace slipway::cli
