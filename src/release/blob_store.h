// Blobs of images in a folder of this machine. A download that was interrupted continues, also in another process.
#pragma once

#include "base/result.h"
#include "release/image_source.h"
#include "release/manifest.h"
#include "release/reference.h"
#include "sys/context.h"

#include <string>

namespace slipway::release {

// Fetches a blob unless the folder has it. Returns its path, FOLDER/sha256-HEX; its content has been verified by this call. What
// was received is kept in FOLDER/sha256-HEX.part until the blob is complete: a call after an error or a kill verifies these bytes
// and requests only the others. If the complete content turns out to be wrong, the part is removed, and the blob is fetched once
// more if the part came from an earlier call.
//
// The caller removes the files. Creates the folder with mode 0700.
//
//   errors   those of ImageSource; those of files, with the path (unavailable: the disk is full)
//   time     reads what the folder has: about 1 s for 1 GB; then that of the download
//   threads  one for each blob and folder, in all processes
Result<std::string> fetch_blob(const sys::Context& context, ImageSource& source, const Reference& repository,
                               const Descriptor& blob, const std::string& folder);

}  // namespace slipway::release
