// Files in folders of others that cluster-bootstrap wrote, and may therefore replace and remove (design: upstream creates them
// exclusively, so that its next start fails after a kill).
//
// What was written is remembered before it is written, by digest: a file is ours while its content has a digest that we remember.
#pragma once

#include "base/result.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::cluster_bootstrap {

// Digests of contents by path.
using OwnedFiles = std::map<std::string, std::set<std::string>>;

// {"files": {"/etc/kubernetes/manifests/etcd.yaml": ["0f..."]}}
std::string emit_owned(const OwnedFiles& owned);
Result<OwnedFiles> parse_owned(std::string_view text, std::string_view name);

bool is_owned(const OwnedFiles& owned, const std::string& path, std::string_view content);

struct FileContent {
  std::string path;
  std::string content;

  bool operator==(const FileContent&) const = default;
};

struct FilesPlan {
  OwnedFiles owned;                // to be remembered first
  std::vector<FileContent> write;  // then these; the others are there
};

// What to write so that the wanted files are there. Pure.
//
//   present  contents by path, of those wanted files that exist
//   errors   conflict, naming every file that exists, is different and is not ours
Result<FilesPlan> plan_files(const std::vector<FileContent>& wanted, OwnedFiles owned,
                             const std::map<std::string, std::string>& present);

}  // namespace slipway::components::cluster_bootstrap
