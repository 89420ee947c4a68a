#include "release/release_info.h"

#include "base/findings.h"

namespace slipway::release {

namespace {

Json to_json(const std::map<std::string, std::string>& map) {
  JsonObject object;
  for (const auto& [key, value] : map) object.emplace(key, value);
  return object;
}

std::map<std::string, std::string> texts_of(const JsonObject& object) {
  std::map<std::string, std::string> map;
  for (const auto& member : object) {
    if (member.value().is_string()) map.emplace(member.key(), member.value().get_string());
  }
  return map;
}

void read_component(const Json& given, const Place& place, const std::string& field, Release& release, Findings& findings) {
  const std::string name(find_string(given, {"name"}).value_or(""));
  if (name.empty()) findings.error(place, field + ".name", "missing");
  Result<Reference> image = parse_reference(find_string(given, {"image"}).value_or(""));
  if (!image.ok() || !image->digest) {
    findings.error(place, field + ".image", "{}", image.ok() ? "must have a digest" : image.error().message());
  } else if (!name.empty()) {
    release.components.insert_or_assign(name, Component{std::move(image).value(), texts_of(find_object(given, {"versions"}))});
  }
}

}  // namespace

Json release_info(const Release& release) {
  JsonArray components;
  for (const auto& [name, component] : release.components) {
    components.push_back({{"name", name}, {"image", to_string(component.image)}, {"versions", to_json(component.versions)}});
  }
  return {{"version", release.version},
          {"digest", release.digest.text()},
          {"created", release.created},
          {"metadata", to_json(release.metadata)},
          {"versions", to_json(release.versions())},
          {"components", std::move(components)},
          {"manifests", JsonArray(release.manifests.begin(), release.manifests.end())}};
}

Result<Release> parse_release_info(std::string_view text, std::string_view name) {
  const Json document = TRY(parse_json(text, name));
  const Place place{.file = std::string(name)};
  Findings findings;
  const Result<Digest> digest = Digest::parse(find_string(document, {"digest"}).value_or(""));
  if (!digest.ok()) findings.error(place, "digest", "{}", digest.error().message());
  Release release{.version = text_of(document, {"version"}),
                  .digest = digest.ok() ? digest.value() : Digest::of(""),
                  .created = text_of(document, {"created"}),
                  .metadata = texts_of(find_object(document, {"metadata"})),
                  .components = {},
                  .manifests = {}};
  if (release.version.empty()) findings.error(place, "version", "missing");
  const JsonArray& components = find_array(document, {"components"});
  if (components.empty()) findings.error(place, "components", "missing");
  for (std::size_t i = 0; i < components.size(); ++i) {
    read_component(components[i], place, fmt::format("components[{}]", i), release, findings);
  }
  for (const Json& each : find_array(document, {"manifests"})) {
    if (each.is_string()) release.manifests.emplace_back(each.get_string());
  }
  TRY(findings.to_result());
  return release;
}

}  // namespace slipway::release
