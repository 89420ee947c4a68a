#include "components/static_pod_installer/layout.h"

#include "base/digest.h"
#include "base/number.h"
#include "kube/client.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace slipway::components::static_pod_installer {

namespace {

Operand operand(std::string name, const kube::ResourceType& settings, std::string pod) {
  return {.name = name,
          .settings = settings,
          .operator_space = "openshift-" + name + "-operator",
          .space = "openshift-" + name,
          .pod = std::move(pod),
          .revisioned = {},
          .unversioned = {}};
}

// The number after a prefix. Empty if the text is anything else.
std::optional<int> number_behind(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  const std::optional<int> number = parse_number<int>(text);
  return number.value_or(0) > 0 ? number : std::nullopt;
}

std::string describe(const Operand& operand, const Part& part, std::string_view name) {
  return fmt::format("{} {}/{}", part.type().kind, operand.space, name);
}

std::string folder_of(std::string_view parent, const Part& part) {
  return fmt::format("{}/{}/{}/{}", static_pod_resources, parent, part.folder(), part.name);
}

// errors: not_found, invalid; the message names the ConfigMap
Result<Revision> read_revision(const Operand& operand, const Snapshot& seen, int number) {
  const std::string name = fmt::format("{}{}", revision_prefix, number);
  const Json* object = seen.find(kube::types::config_maps, operand.space, name);
  if (!object) return error(Code::not_found, "ConfigMap {}/{}", operand.space, name);
  return parse_revision(*object);
}

void plan_certificates(Layout& layout, const Operand& operand, const Revision& revision) {
  for (const Part& part : revision.unversioned) {
    const std::string path = folder_of(certificate_folder(operand), part);
    if (const Json* object = layout.seen.find(part.type(), operand.space, part.name)) {
      layout.certificates.push_back({path, part.kind, object});
    } else if (part.is_optional) {
      layout.removed.push_back(path);
    } else {
      layout.missing.push_back(describe(operand, part, part.name));
    }
  }
}

void plan_parts(Layout& layout, const Operand& operand, const Revision& revision) {
  for (const Part& part : revision.revisioned) {
    const std::string copy = fmt::format("{}-{}", part.name, revision.number);
    const Json* object = layout.seen.find(part.type(), operand.space, copy);
    if (!object) {
      layout.missing.push_back(describe(operand, part, copy));
      continue;
    }
    layout.parts.push_back({folder_of(revision_folder(operand, revision.number), part), part.kind, object});
    if (part.kind == Part::Kind::config_map && part.name == operand.pod_config()) layout.pod = object;
  }
  if (!layout.pod && layout.missing.empty()) {
    layout.missing.push_back(fmt::format("ConfigMap {}/{}-{}", operand.space, operand.pod_config(), revision.number));
  }
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
}

}  // namespace

const std::vector<Operand>& operands() {
  static const std::vector<Operand> all = {
      operand("etcd", kube::types::etcds, "etcd"),
      operand("kube-apiserver", kube::types::kube_apiservers, "kube-apiserver"),
      operand("kube-controller-manager", kube::types::kube_controller_managers, "kube-controller-manager"),
      operand("kube-scheduler", kube::types::kube_schedulers, "openshift-kube-scheduler"),
  };
  return all;
}

bool Layout::is_same(const Layout& other) const {
  return revision == other.revision && certificates == other.certificates && removed == other.removed && parts == other.parts &&
         pod == other.pod && missing == other.missing && kept == other.kept;
}

Layout plan_layout(const Operand& operand, const Snapshot& seen, std::string_view node) {
  Layout layout{.seen = seen};
  const Json* settings = seen.find(operand.settings, "", "cluster");
  if (!settings) return layout;
  NodeStatus here;
  for (NodeStatus& status : parse_node_statuses(*settings)) {
    if (status.node == node) here = std::move(status);
  }
  layout.revision = wanted_revision(*settings, node);
  if (layout.revision == 0) return layout;

  for (const Json* object : seen.list(kube::types::config_maps, operand.space)) {
    if (const auto number = number_behind(kube::name_of(*object), revision_prefix)) layout.kept.push_back(*number);
  }
  for (const int revision : {here.current, here.target, layout.revision}) {
    if (revision != 0) layout.kept.push_back(revision);
  }
  std::ranges::sort(layout.kept);
  layout.kept.erase(std::unique(layout.kept.begin(), layout.kept.end()), layout.kept.end());

  const Result<Revision> revision = read_revision(operand, seen, layout.revision);
  if (revision.ok()) {
    plan_certificates(layout, operand, revision.value());
    plan_parts(layout, operand, revision.value());
    return layout;
  }
  layout.missing.push_back(revision.error().message());
  // The running revision still needs valid certificates.
  const Result<Revision> current = read_revision(operand, seen, here.current);
  if (current.ok()) plan_certificates(layout, operand, current.value());
  return layout;
}

sys::Mode mode_of(const ObjectFolder& folder) { return folder.kind == Part::Kind::secret ? 0700 : 0755; }

Result<std::vector<File>> files_of(const ObjectFolder& folder) {
  std::vector<File> files;
  const bool is_secret = folder.kind == Part::Kind::secret;
  for (const auto& [key, value] : find_object(*folder.object, {"data"})) {
    if (!value.is_string()) continue;
    const std::string_view text(value.get_string());
    const std::string name(key);
    if (is_secret) {
      std::string content = TRY(base64_decode(text).context(fmt::format("key {} of {}", name, kube::describe(*folder.object))));
      files.push_back({name, std::move(content), 0600});
    } else {
      files.push_back({name, std::string(text), name.ends_with(".sh") ? 0755u : 0600u});
    }
  }
  for (const auto& [key, value] : find_object(*folder.object, {"binaryData"})) {
    if (is_secret || !value.is_string()) continue;
    const std::string name(key);
    std::string content =
        TRY(base64_decode(value.get_string()).context(fmt::format("key {} of {}", name, kube::describe(*folder.object))));
    files.push_back({name, std::move(content), 0600});
  }
  std::ranges::sort(files, {}, &File::name);
  return files;
}

Result<std::string> pod_text(const Json& pod_config, int revision, std::string_view node) {
  const auto text = find_string(pod_config, {"data", "pod.yaml"});
  if (!text) return error(Code::invalid, "{}: no pod.yaml found", kube::describe(pod_config));
  std::string variable(node);
  for (char& c : variable) {
    if (c == '-' || c == '.') c = '_';
  }
  std::string pod(*text);
  replace_all(pod, "REVISION", std::to_string(revision));
  replace_all(pod, "NODE_NAME", node);
  replace_all(pod, "NODE_ENVVAR_NAME", variable);
  return pod;
}

std::vector<std::string> outdated(const Operand& operand, const std::vector<std::string>& names, const std::vector<int>& kept) {
  std::vector<std::string> result;
  const std::string folder_prefix = operand.pod_config() + "-";
  for (const std::string& name : names) {
    const auto number = number_behind(name, folder_prefix);
    if (number && !std::ranges::binary_search(kept, *number)) result.push_back(name);
  }
  return result;
}

}  // namespace slipway::components::static_pod_installer
