// Reads log bundles from archives and folders.
#pragma once

#include "diagnosis/bundle.h"

#include "base/result.h"
#include "sys/files.h"

#include <string>
#include <string_view>

namespace slipway::diagnosis {

// archive: the content of a log bundle, .tar.gz. Files above 64 MiB are skipped.
// errors: invalid: not an archive, or a broken one
Result<Bundle> unpack(std::string_view archive);

// Reads an unpacked log bundle. Files above 64 MiB are skipped. Errors are those of `files`.
Result<Bundle> read_folder(sys::Files& files, const std::string& folder);

}  // namespace slipway::diagnosis
