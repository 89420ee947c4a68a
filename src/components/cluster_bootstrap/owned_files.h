// Files in shared folders that cluster-bootstrap wrote and may therefore replace and remove. Upstream creates such files
// exclusively, so its next start fails after a kill.
//
// The digest of each content is recorded before the file is written. A file is owned while its content has a recorded digest.
#pragma once

#include "base/result.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::cluster_bootstrap {

// Digests of contents, by path.
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
  OwnedFiles owned;                // must be recorded first
  std::vector<FileContent> write;  // to be written next; all other wanted files are already right
};

// What to write so that the wanted files exist. Pure.
//
//   present  contents of the wanted files that exist, by path
//   errors   conflict, with every file that exists with another content and is not owned
Result<FilesPlan> plan_files(const std::vector<FileContent>& wanted, OwnedFiles owned,
                             const std::map<std::string, std::string>& present);

}  // namespace slipway::components::cluster_bootstrap
