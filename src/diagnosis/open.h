// Reading bundles from where they are.
#pragma once

#include "diagnosis/bundle.h"

#include "base/result.h"
#include "sys/files.h"

#include <string>
#include <string_view>

namespace slipway::diagnosis {

// A log bundle as it was gathered, .tar.gz. Of large files the rules read none; files above 64 MB are left out.
// errors: invalid: it is no archive, or a broken one
Result<Bundle> unpack(std::string_view archive);

// One that lies unpacked in a folder.
Result<Bundle> read_folder(sys::Files& files, const std::string& folder);

}  // namespace slipway::diagnosis
