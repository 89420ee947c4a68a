#include "config/upstream_path.h"

#include "base/text.h"

#include <algorithm>
#include <optional>

namespace slipway::config {

namespace {

enum class Of {
  all,                   // all findings about the field
  missing_or_duplicate,  // only if the field is missing or a duplicate
};

// In `ours`, # matches an index and * the rest of the path. In `upstream`, # and * are replaced by the matches, in order.
struct Row {
  std::string_view ours;
  std::string_view upstream;
  Of of = Of::all;
};

// Paths in pkg/types/validation and pkg/types/PLATFORM/validation of openshift/installer.
constexpr Row rows[] = {
    {"platform.aws.userTags.*", "platform.aws.userTags[*]"},
    {"platform.baremetal.hosts", "platform.baremetal.Hosts"},
    {"platform.baremetal.hosts[#].name", "platform.baremetal.hosts[#].Name", Of::missing_or_duplicate},
    {"platform.baremetal.hosts[#].bootMACAddress", "platform.baremetal.hosts[#].BootMACAddress", Of::missing_or_duplicate},
    {"platform.baremetal.hosts[#].bmc.address", "platform.baremetal.hosts[#].BMC.Address", Of::missing_or_duplicate},
    {"platform.baremetal.hosts[#].bmc.username", "platform.baremetal.hosts[#].BMC.Username", Of::missing_or_duplicate},
    {"platform.baremetal.hosts[#].bmc.password", "platform.baremetal.hosts[#].BMC.Password", Of::missing_or_duplicate},
    {"platform.vsphere.vcenters[#].user", "platform.vsphere.vcenters[#].username"},
};

// The matches of # and * in a path; nothing if the path does not match the pattern.
std::optional<std::vector<std::string>> match(std::string_view pattern, std::string_view path) {
  std::vector<std::string> parts;
  while (!pattern.empty()) {
    if (pattern == "*") {
      parts.emplace_back(path);
      return parts;
    }
    if (pattern.front() == '#') {
      const std::size_t end = std::min(path.find_first_not_of("0123456789"), path.size());
      if (end == 0) return std::nullopt;
      parts.emplace_back(path.substr(0, end));
      path.remove_prefix(end);
    } else {
      if (path.empty() || path.front() != pattern.front()) return std::nullopt;
      path.remove_prefix(1);
    }
    pattern.remove_prefix(1);
  }
  if (!path.empty()) return std::nullopt;
  return parts;
}

std::string fill(std::string_view pattern, const std::vector<std::string>& parts) {
  std::string text;
  std::size_t next = 0;
  for (const char c : pattern) text += c == '#' || c == '*' ? parts[next++] : std::string(1, c);
  return text;
}

bool is_missing_or_duplicate(std::string_view message) {
  return message.starts_with("missing") || message.starts_with("duplicate of");
}

}  // namespace

std::string upstream_path(const Finding& finding) {
  for (const Row& row : rows) {
    if (row.of == Of::missing_or_duplicate && !is_missing_or_duplicate(finding.message)) continue;
    if (const auto parts = match(row.ours, finding.field)) return fill(row.upstream, *parts);
  }
  return "";
}

Findings with_upstream_paths(const Findings& findings) {
  Findings changed;
  for (Finding finding : findings.all()) {
    const std::string path = finding.severity == Severity::error ? upstream_path(finding) : "";
    if (!path.empty()) finding.message += fmt::format(" [{}]", path);
    changed.add(std::move(finding));
  }
  return changed;
}

}  // namespace slipway::config
