// libarchive, for the files of this folder that read and write archives. Not for other headers: they would pass its names on.
#pragma once

#include "base/text.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <string>

namespace slipway::release {

struct FreeArchiveReader {
  void operator()(archive* a) const { archive_read_free(a); }
};
using ArchiveReader = std::unique_ptr<archive, FreeArchiveReader>;

inline bool failed(int status) { return status != ARCHIVE_OK && status != ARCHIVE_WARN; }

inline std::string message_of(archive* a) {
  const char* words = archive_error_string(a);
  return to_utf8(words != nullptr ? words : "broken archive");
}

}  // namespace slipway::release
