#include "machineconfig/registries.h"

#include "base/characters.h"
#include "base/findings.h"
#include "base/template.h"
#include "data/data.h"
#include "ignition/make.h"
#include "machineconfig/labels.h"

#include <algorithm>
#include <array>
#include <map>

namespace slipway::machineconfig {

namespace {

struct MirrorKind {
  std::string_view kind;
  std::string_view list;  // field of the spec
  bool by_tag = false;    // mirrors can also resolve tags; otherwise digests only
};
constexpr std::array mirror_kinds = {MirrorKind{"ImageDigestMirrorSet", "imageDigestMirrors"},
                                     MirrorKind{"ImageTagMirrorSet", "imageTagMirrors", true},
                                     MirrorKind{"ImageContentSourcePolicy", "repositoryDigestMirrors"}};

const MirrorKind* find_kind(std::string_view kind) {
  const auto found = std::ranges::find(mirror_kinds, kind, &MirrorKind::kind);
  return found == mirror_kinds.end() ? nullptr : &*found;
}

struct Mirror {
  std::string url;  // "https://mirror.example.com:5000/v2/prefix"
  bool by_tag = false;
};
using MirrorsByHost = std::map<std::string, std::vector<Mirror>>;

void add_mirror(std::vector<Mirror>& mirrors, Mirror mirror) {
  const auto same = std::ranges::find(mirrors, mirror.url, &Mirror::url);
  if (same == mirrors.end())
    mirrors.push_back(std::move(mirror));
  else
    same->by_tag |= mirror.by_tag;
}

// The names become paths and TOML strings.
bool is_plain(std::string_view text, std::string_view marks) {
  return std::ranges::all_of(text, [&](char c) { return is_letter_or_digit(c) || marks.find(c) != std::string_view::npos; });
}

bool is_host(std::string_view text) { return !text.empty() && !text.starts_with('.') && is_plain(text, ".-:[]"); }

// Splits "host:5000/a/b" into "host:5000" and "/a/b". The path is empty for a whole registry.
std::pair<std::string_view, std::string_view> host_and_path(std::string_view reference) {
  const std::size_t slash = std::min(reference.find('/'), reference.size());
  return {reference.substr(0, slash), reference.substr(slash)};
}

void read_entry(const Json& entry, const MirrorKind& kind, const Place& place, MirrorsByHost& hosts, Findings& findings) {
  const std::string_view source = find_string(entry, {"source"}).value_or("");
  const auto [host, path] = host_and_path(source);
  if (!is_host(host)) {
    findings.error(place, "source", "'{}' is not a registry", source).hint("list each registry");
    return;
  }
  if (find_string(entry, {"mirrorSourcePolicy"}) == "NeverContactSource") {
    findings.error(place, "mirrorSourcePolicy", "not supported, containerd always tries the source last").hint("omit it");
  }
  for (const Json& item : find_array(entry, {"mirrors"})) {
    const std::string_view mirror = item.is_string() ? std::string_view(item.get_string()) : "";
    const auto [mirror_host, mirror_path] = host_and_path(mirror);
    if (!is_host(mirror_host) || !is_plain(mirror_path, "/.-_")) {
      findings.error(place, "mirrors", "'{}' is not a registry or repository", mirror)
          .hint("for example registry.example.com/a/b");
      continue;
    }
    if (!mirror_path.ends_with(path)) {
      findings.error(place, "mirrors", "'{}' must end with '{}'", mirror, path)
          .hint("containerd uses the path of the source with mirrors");
      continue;
    }
    const std::string_view prefix = mirror_path.substr(0, mirror_path.size() - path.size());
    add_mirror(hosts[std::string(host)], {fmt::format("https://{}/v2{}", mirror_host, prefix), kind.by_tag});
  }
}

Result<std::string> hosts_text(const std::string& host, const std::vector<Mirror>& mirrors, std::string_view ca_file) {
  constexpr std::string_view frame = "registries/hosts.toml", part = "registries/mirror.toml";
  std::string parts;
  for (const Mirror& mirror : mirrors) {
    parts += TRY(fill_template(data::content(data::machine_config(), part), part,
                               {{"URL", mirror.url},
                                {"CAPABILITIES", mirror.by_tag ? "\"pull\", \"resolve\"" : "\"pull\""},
                                {"CA", ca_file.empty() ? "" : fmt::format("  ca = \"{}\"\n", ca_file)}}));
  }
  return fill_template(data::content(data::machine_config(), frame), frame, {{"HOST", host}, {"MIRRORS", parts}});
}

}  // namespace

bool names_mirrors(std::string_view kind) { return find_kind(kind) != nullptr; }

Result<std::vector<MachineConfig>> registry_configs(std::string_view role, const std::vector<Json>& mirror_sets,
                                                    std::string_view controller_version, std::string_view ca_file) {
  MirrorsByHost hosts;
  Findings findings;
  for (const Json& set : mirror_sets) {
    const std::string_view kind_text = find_string(set, {"kind"}).value_or("");
    const MirrorKind* kind = find_kind(kind_text);
    if (!kind) continue;
    const Place place{fmt::format("{} {}", kind_text, find_string(set, {"metadata", "name"}).value_or(""))};
    for (const Json& entry : find_array(set, {"spec", kind->list})) read_entry(entry, *kind, place, hosts, findings);
  }
  TRY(findings.to_result());
  MachineConfig config;
  for (const auto& [host, mirrors] : hosts) {
    if (mirrors.empty()) continue;
    const std::string text = TRY(hosts_text(host, mirrors, ca_file));
    ignition::put(config.config, ignition::make_file(fmt::format("/etc/containerd/certs.d/{}/hosts.toml", host), text, 0644));
  }
  if (config.config.storage.files.empty()) return std::vector<MachineConfig>();
  config.name = fmt::format("99-{}-generated-registries", role);
  config.labels = {{std::string(role_label), std::string(role)}};
  config.annotations = {{std::string(generated_by), std::string(controller_version)}};
  config.config.ignition.version = ignition::Version::v3_2;
  return std::vector{std::move(config)};
}

}  // namespace slipway::machineconfig
