// Copies: what a stage's output is put where, as data, and the doing of it.
#pragma once

#include "base/result.h"
#include "sys/files.h"

#include <string>
#include <vector>

namespace slipway::bootstrap {

// A file becomes the file `to`; what is in a folder, folders too, goes into the folder `to`.
struct Copy {
  std::string from;       // below the assets
  std::string to;         // the same, or absolute
  bool optional = false;  // fine when there is nothing to copy

  bool operator==(const Copy&) const = default;
};

// Each file is replaced as one step and keeps its mode; one that is the same already is left alone. Files whose names begin with
// a dot are left out: they are of writes that were killed.
//
// The manifests folders are filled by many: what is written there has to be new or the same as what is there.
//
//   errors  conflict: a file in manifests/ or bootstrap-manifests/ is there with other content; those of Files
Result<> copy_all(sys::Files& files, const std::string& assets, const std::vector<Copy>& copies);

// Makes `to` a copy of the folder `from`, as one step: a kill leaves no half of it.
Result<> freeze_folder(sys::Files& files, const std::string& from, const std::string& to);

// Removes what killed writes left in a folder that others read as a whole.
Result<> remove_remains(sys::Files& files, const std::string& folder);

}  // namespace slipway::bootstrap
