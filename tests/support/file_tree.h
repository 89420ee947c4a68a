// FileTree: all files of a folder, to be compared, copied, or shown with what is drawn anew in each run taken out.
#pragma once

#include "base/json.h"
#include "sys/files.h"

#include <map>
#include <string>

namespace slipway::testing_support {

struct TreeFile {
  std::string content;
  sys::Mode mode = 0;

  bool operator==(const TreeFile&) const = default;
};

// By path. Folders that are empty are in it with a slash at the end.
using FileTree = std::map<std::string, TreeFile>;

// Everything below a folder, "/" for all there is.
FileTree read_tree(sys::Files& files, const std::string& folder);
void write_tree(sys::Files& files, const FileTree& tree);

// {PATH: {mode: "0644", content: ...}}. YAML and JSON files are shown as documents, others as text. In both, keys are "KEY",
// times "TIME", and certificates a line that says all but keys, serial and times; what Secrets have in base64, and PEM in base64
// anywhere, is shown decoded. A CRD is shown by its name and checksum.
JsonObject described(const FileTree& tree);

}  // namespace slipway::testing_support
