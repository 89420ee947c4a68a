#include "config/upstream_path.h"

#include "base/text.h"

#include <algorithm>
#include <optional>

namespace slipway::config {

namespace {

enum class Of {
  all,               // whatever is wrong with the field
  missing_or_twice,  // only where the field is missing or the same as another one
};

// # stands for an index, * for the rest of the path; what they stood for takes their places on the right side, in their order.
struct Row {
  std::string_view ours;
  std::string_view upstream;
  Of of = Of::all;
};

// As its validation names them: pkg/types/validation, pkg/types/PLATFORM/validation of openshift/installer.
constexpr Row rows[] = {
    {"platform.aws.userTags.*", "platform.aws.userTags[*]"},
    {"platform.baremetal.hosts", "platform.baremetal.Hosts"},
    {"platform.baremetal.hosts[#].name", "platform.baremetal.hosts[#].Name", Of::missing_or_twice},
    {"platform.baremetal.hosts[#].bootMACAddress", "platform.baremetal.hosts[#].BootMACAddress", Of::missing_or_twice},
    {"platform.baremetal.hosts[#].bmc.address", "platform.baremetal.hosts[#].BMC.Address", Of::missing_or_twice},
    {"platform.baremetal.hosts[#].bmc.username", "platform.baremetal.hosts[#].BMC.Username", Of::missing_or_twice},
    {"platform.baremetal.hosts[#].bmc.password", "platform.baremetal.hosts[#].BMC.Password", Of::missing_or_twice},
    {"platform.vsphere.vcenters[#].user", "platform.vsphere.vcenters[#].username"},
};

// What # and * stand for in a path; nothing when the pattern is not its.
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

bool is_missing_or_twice(std::string_view message) {
  return message.starts_with("missing") || message.starts_with("duplicate of");
}

}  // namespace

std::string upstream_path(const Finding& finding) {
  for (const Row& row : rows) {
    if (row.of == Of::missing_or_twice && !is_missing_or_twice(finding.message)) continue;
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
