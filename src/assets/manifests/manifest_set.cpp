#include "assets/manifests/manifest_set.h"

#include "assets/machines/machine_objects.h"
#include "assets/manifest_file.h"
#include "assets/user_files.h"
#include "base/check.h"
#include "base/text.h"
#include "base/yaml.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace slipway::assets {

namespace {

constexpr std::string_view overrides_path = "manifests/cvo-overrides.yaml";

// Files that stages of the bootstrap read by name.
constexpr std::array<std::string_view, 6> required_files = {
    "manifests/cluster-config.yaml",
    "manifests/cluster-infrastructure-02-config.yml",
    "manifests/cluster-network-02-config.yml",
    overrides_path,
    "manifests/openshift-config-secret-pull-secret.yaml",
    "openshift/99_feature-gate.yaml",
};

// Kinds without overrides: the cluster-version operator never writes objects of these kinds. openshift-install also omits them.
constexpr std::array<std::string_view, 7> machine_kinds = {
    "MachineConfig", "Machine", "MachineSet", "ControlPlaneMachineSet", "BareMetalHost", "IPAddress", "IPAddressClaim"};
// Name suffixes of Secrets that belong to machines.
constexpr std::array<std::string_view, 4> machine_secrets = {"-user-data", "-user-data-managed", "-bmc-secret",
                                                             "-network-config-secret"};

auto identity(const ManifestObject& object) { return std::tie(object.group, object.kind, object.name_space, object.name); }

void read_objects(const AssetFile& file, Findings& findings, std::vector<std::pair<ManifestObject, Place>>& objects) {
  Result<std::vector<YamlDocument>> documents = parse_yaml_documents(file.content, file.path);
  if (!documents.ok()) {
    for (const std::string_view line : split(documents.error().message(), '\n')) findings.error({}, "", "{}", line);
    return;
  }
  bool is_first = true;
  for (const YamlDocument& document : documents.value()) {
    bool is_complete = true;
    auto text = [&](std::initializer_list<std::string_view> keys, std::string_view field) {
      const std::optional<std::string_view> found = find_string(document.value, keys);
      if (found && !found->empty()) return std::string(*found);
      findings.error(document.place_of(field), std::string(field), "missing, every manifest must be a Kubernetes object");
      is_complete = false;
      return std::string();
    };
    const std::string version = text({"apiVersion"}, "apiVersion");
    const std::size_t slash = version.find('/');
    ManifestObject object{.path = file.path,
                          .is_first = is_first,
                          .group = slash == std::string::npos ? "" : version.substr(0, slash),
                          .kind = text({"kind"}, "kind"),
                          .name_space = text_of(document.value, {"metadata", "namespace"}),
                          .name = text({"metadata", "name"}, "metadata.name"),
                          .value = document.value};
    is_first = false;
    if (is_complete) objects.emplace_back(std::move(object), document.place_of("metadata.name"));
  }
}

// Objects of workers with static addresses get overrides: OpenShift's installer does not treat their files as machine manifests
// (IsMachineManifest in pkg/asset/machines/master.go).
bool is_of_workers_with_addresses(const ManifestObject& object) {
  constexpr std::string_view machines = "openshift/99_openshift-cluster-api_worker-machines-";
  constexpr std::array<std::string_view, 2> addresses = {"openshift/99_openshift-machine-api_claim-",
                                                         "openshift/99_openshift-machine-api_address-"};
  if (object.path.starts_with(machines)) return true;
  return std::ranges::any_of(addresses, [&](std::string_view start) { return object.path.starts_with(start); }) &&
         object.path.find("master") == std::string::npos;
}

bool is_of_machines(const ManifestObject& object) {
  if (is_of_workers_with_addresses(object)) return false;
  if (object.kind != "Secret") return std::ranges::find(machine_kinds, object.kind) != machine_kinds.end();
  return object.name_space == machine_namespace &&
         std::ranges::any_of(machine_secrets, [&](std::string_view ending) { return object.name.ends_with(ending); });
}

}  // namespace

Result<ManifestSet> make_manifest_set(const CommonManifests& common, const OpenshiftManifests& openshift, const UserFiles& user) {
  Snapshot merged;
  for (const AssetFiles* files : {&common.files, &openshift.files}) {
    for (const AssetFile& file : *files) merged.insert_or_assign(file.path, file.content);
  }
  merged = with_user_files(std::move(merged), user);
  Findings findings;
  for (const std::string_view path : required_files) {
    if (merged.contains(path)) continue;
    findings.error({std::string(path)}, "", "removed, but the bootstrap machine needs it")
        .hint("restore it, or remove its whole folder to generate the folder again");
  }
  ManifestSet set;
  std::vector<std::pair<ManifestObject, Place>> objects;
  for (auto& [path, content] : merged) read_objects(set.files.emplace_back(AssetFile{path, content}), findings, objects);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const ManifestObject& object = objects[i].first;
    const Place& place = objects[i].second;
    const auto first = std::find_if(objects.begin(), objects.begin() + static_cast<std::ptrdiff_t>(i),
                                    [&](const auto& other) { return identity(other.first) == identity(object); });
    if (first->second == place) continue;
    findings.error(place, "metadata.name", "duplicate {} '{}'{}, first at {}", object.kind, object.name,
                   object.name_space.empty() ? "" : fmt::format(" in {}", object.name_space), to_string(first->second));
  }
  TRY(findings.to_result().context("manifests"));
  for (auto& each : objects) set.objects.push_back(std::move(each.first));
  return set;
}

Result<CvoOverrides> make_cvo_overrides(const ManifestSet& manifests) {
  JsonArray overrides;
  const ManifestObject* own = nullptr;
  for (const ManifestObject& object : manifests.objects) {
    if (object.path == overrides_path && object.is_first) own = &object;
    if (object.path == overrides_path || !object.is_first || is_of_machines(object)) continue;
    overrides.push_back({{"kind", object.kind},
                         {"group", object.group},
                         {"namespace", object.name_space},
                         {"name", object.name},
                         {"unmanaged", true}});
  }
  CHECK(own != nullptr);
  const JsonArray& users = find_array(own->value, {"spec", "overrides"});
  const Json before = users.empty() ? Json(nullptr) : Json(users);
  // The API accepts one override for each object. For objects with a manifest, the user's override is restored after the
  // bootstrap.
  const auto is_named = [&](const Json& user) {
    return std::ranges::any_of(overrides, [&](const Json& each) {
      return std::ranges::all_of(
          std::array<std::string_view, 4>{"kind", "group", "namespace", "name"},
          [&](std::string_view key) { return find_string(each, {key}).value_or("") == find_string(user, {key}).value_or(""); });
    });
  };
  for (const Json& user : users) {
    if (!is_named(user)) overrides.push_back(user);
  }
  Json object = own->value;
  if (!object.get_object()["spec"].is_object()) object.get_object()["spec"] = JsonObject();
  object.get_object()["spec"].get_object()["overrides"] = std::move(overrides);
  return CvoOverrides{manifest_file("", object).content, emit_json({{"spec", {{"overrides", before}}}}, JsonStyle::compact)};
}

}  // namespace slipway::assets
