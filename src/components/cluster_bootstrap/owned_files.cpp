#include "components/cluster_bootstrap/owned_files.h"

#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"

namespace slipway::components::cluster_bootstrap {

std::string emit_owned(const OwnedFiles& owned) {
  JsonObject files;
  for (const auto& [path, digests] : owned) files[path] = JsonArray(digests.begin(), digests.end());
  return emit_json({{"files", std::move(files)}}, JsonStyle::pretty);
}

Result<OwnedFiles> parse_owned(std::string_view text, std::string_view name) {
  const Json document = TRY(parse_json(text, name));
  OwnedFiles owned;
  for (const auto& [path, digests] : find_object(document, {"files"})) {
    std::set<std::string>& known = owned[std::string(std::string_view(path))];
    if (!digests.is_array()) return error(Code::invalid, "{}: files.{}: must be a list of digests", name, std::string_view(path));
    for (const Json& digest : digests.get_array()) {
      if (digest.is_string()) known.emplace(std::string_view(digest.get_string()));
    }
  }
  return owned;
}

bool is_owned(const OwnedFiles& owned, const std::string& path, std::string_view content) {
  const auto known = owned.find(path);
  return known != owned.end() && known->second.contains(sha256_hex(content));
}

Result<FilesPlan> plan_files(const std::vector<FileContent>& wanted, OwnedFiles owned,
                             const std::map<std::string, std::string>& present) {
  FilesPlan plan{.owned = std::move(owned), .write = {}};
  std::vector<std::string> foreign;
  for (const FileContent& file : wanted) {
    const auto existing = present.find(file.path);
    if (existing == present.end()) {
      plan.write.push_back(file);
    } else if (existing->second != file.content) {
      if (is_owned(plan.owned, file.path, existing->second)) {
        plan.write.push_back(file);
      } else {
        foreign.push_back(file.path);
      }
    }
  }
  if (!foreign.empty()) {
    return error(Code::conflict, "{}: already exists and was not written by cluster-bootstrap (move it away, then start again)",
                 join(foreign, ", "));
  }
  for (const FileContent& file : wanted) plan.owned[file.path].insert(sha256_hex(file.content));
  return plan;
}

}  // namespace slipway::components::cluster_bootstrap
