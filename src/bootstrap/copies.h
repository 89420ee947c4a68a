// Copies: where the output of a stage goes, as data, and the function that copies it.
#pragma once

#include "base/result.h"
#include "sys/files.h"

#include <string>
#include <vector>

namespace slipway::bootstrap {

// A file is copied to the file `to`; the content of a folder, with subfolders, to the folder `to`.
struct Copy {
  std::string from;       // relative to the assets
  std::string to;         // relative to the assets, or absolute
  bool optional = false;  // no error if `from` does not exist

  bool operator==(const Copy&) const = default;
};

// Each file is replaced atomically and keeps its mode; an identical file is not written. Files whose names begin with a dot are
// skipped: they are of writes that were killed.
//
// Many stages write to the manifests folders: a file there must be new or identical.
//
//   errors  conflict: a file in manifests/ or bootstrap-manifests/ exists with other content; those of Files
Result<> copy_all(sys::Files& files, const std::string& assets, const std::vector<Copy>& copies);

// Copies the folder `from` to `to` atomically: a kill leaves no partial copy.
Result<> freeze_folder(sys::Files& files, const std::string& from, const std::string& to);

// Removes temporary files of killed writes from a folder that other programs read as a whole.
Result<> remove_remains(sys::Files& files, const std::string& folder);

}  // namespace slipway::bootstrap
