// FileTree: all files of a folder, to compare, to copy, or to print without random values.
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

// By path. Empty folders are included, with a slash at the end.
using FileTree = std::map<std::string, TreeFile>;

// Reads all files below a folder; "/" for all files.
FileTree read_tree(sys::Files& files, const std::string& folder);
void write_tree(sys::Files& files, const FileTree& tree);

// Describes a tree as {PATH: {mode: "0644", content: ...}}. YAML and JSON files are shown as documents, others as text. In both,
// keys are shown as "KEY", times as "TIME", and certificates as a line with all fields except keys, serial and times. Base64 in
// Secrets, and PEM in base64 anywhere, is decoded. A CRD is shown as name and checksum.
JsonObject described(const FileTree& tree);

}  // namespace slipway::testing_support
