#include "components/cluster_bootstrap/butane.h"

#include "base/text.h"
#include "base/yaml.h"
#include "ignition/data_url.h"
#include "ignition/gzip.h"
#include "ignition/validate.h"

#include <algorithm>
#include <cctype>

namespace slipway::components::cluster_bootstrap {

namespace {

constexpr sys::Mode bits_of_owner = 0700, mode_of_text = 0600;

// "http_headers" becomes httpHeaders, "size_mib" becomes sizeMiB.
std::string ignition_name(std::string_view name) {
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins_word = name[i] == '_' && i + 1 < name.size();
    result += begins_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(name[++i]))) : name[i];
  }
  if (result.ends_with("Mib")) result.back() = 'B';
  return result;
}

std::string in_field(const std::string& field, std::string_view name) {
  return field.empty() ? std::string(name) : fmt::format("{}.{}", field, name);
}

// The shortest encoding of the content.
Result<ignition::Resource> resource_of(std::string_view content) {
  std::string packed = ignition::encode_data_url(TRY(ignition::gzip(content)), ignition::DataEncoding::base64);
  // A plain data URL is never shorter than its content. etcd's data is large and mostly zeros, so the plain URL is not built for
  // it.
  std::string plain = packed.size() < content.size() ? "" : ignition::encode_data_url(content);
  if (!plain.empty() && plain.size() <= packed.size()) return ignition::Resource{.source = std::move(plain)};
  return ignition::Resource{.source = std::move(packed), .compression = "gzip"};
}

class Translation {
 public:
  Translation(sys::Files& files, const std::string& folder, const YamlDocument& document)
      : files_(files), folder_(folder), document_(document) {}

  ignition::Config config() {
    const auto expect = [&](std::string_view field, std::string_view value) {
      if (find_string(document_.value, {field}) != value) wrong(std::string(field), fmt::format("must be '{}'", value));
    };
    expect("variant", "fcos");
    expect("version", "1.1.0");
    Json value = translated(document_.value, "");
    if (!value.is_object()) return {};
    JsonObject& members = value.get_object();
    for (const char* own : {"variant", "version"}) members.erase(own);
    Json& general = members["ignition"];
    if (general.is_null()) general = JsonObject();
    if (general.is_object()) general.get_object()["version"] = to_string(ignition::Version::v3_1);

    const auto place_of = [&](std::string_view field) { return document_.place_of(field); };
    ignition::Parsed parsed = ignition::parse(value);
    const Findings unknown = ignition::located(parsed.findings, place_of);
    for (Finding finding : unknown.all()) {
      finding.severity = Severity::error;  // an unknown field would be ignored
      findings_.add(std::move(finding));
    }
    add_trees(parsed.config);
    if (!findings_.has_errors()) findings_.append(ignition::located(ignition::validate(parsed.config), place_of));
    return std::move(parsed.config);
  }

  const Findings& findings() const { return findings_; }

 private:
  void wrong(const std::string& field, const std::string& message) {
    findings_.error(document_.place_of(field), field, "{}", message);
  }

  template <class T>
  std::optional<T> value_of(Result<T> result, const std::string& field) {
    if (result.ok()) return std::move(result).value();
    wrong(field, result.error().message());
    return std::nullopt;
  }

  // The path of a file or folder in the asset directory, from its name in the text.
  std::optional<std::string> local_path(const Json& local, const std::string& field) {
    if (!local.is_string()) {
      wrong(field, fmt::format("must be a path, got {}", kind_name(local)));
      return std::nullopt;
    }
    std::string path;
    for (const std::string_view name : split(std::string_view(local.get_string()), '/')) {
      if (name == "..") {
        wrong(field, "points outside of the asset directory");
        return std::nullopt;
      }
      if (!name.empty() && name != ".") path.append("/").append(name);
    }
    return folder_ + path;
  }

  // The same document with Ignition's names and with the contents of files.
  Json translated(const Json& from, const std::string& field) {
    if (const JsonArray* list = from.if_array()) {
      JsonArray to;
      for (std::size_t i = 0; i < list->size(); ++i) to.push_back(translated((*list)[i], fmt::format("{}[{}]", field, i)));
      return to;
    }
    const JsonObject* object = from.if_object();
    if (!object) return from;
    JsonObject to;
    for (const auto& member : *object) {
      const std::string_view name = member.key();
      if (name == "local" || name == "inline" || (name == "trees" && field == "storage")) continue;
      to[ignition_name(name)] = translated(member.value(), in_field(field, name));
    }
    if (object->contains("local") || object->contains("inline")) add_content(*object, field, to);
    const Json* contents = object->if_contains("contents");
    if (contents && contents->is_object() && !object->contains("mode")) to["mode"] = mode_of(*contents, field);
    return to;
  }

  void add_content(const JsonObject& from, const std::string& field, JsonObject& to) {
    const Json* local = from.if_contains("local");
    const Json* text = from.if_contains("inline");
    if ((local && text) || from.contains("source")) return wrong(field, "has more than one of source, local and inline");
    std::optional<std::string> content;
    if (local) {
      const std::optional<std::string> path = local_path(*local, in_field(field, "local"));
      if (path) content = value_of(files_.read(*path), in_field(field, "local"));
    } else if (text->is_string()) {
      content = std::string(text->get_string());
    } else {
      wrong(in_field(field, "inline"), fmt::format("must be a string, got {}", kind_name(*text)));
    }
    if (!content) return;
    // With "compression" set, the content is already compressed.
    if (to.contains("compression")) {
      to["source"] = ignition::encode_data_url(*content);
      return;
    }
    const std::optional<ignition::Resource> resource = value_of(resource_of(*content), field);
    if (!resource) return;
    to["source"] = *resource->source;
    if (resource->compression) to["compression"] = *resource->compression;
  }

  sys::Mode mode_of(const Json& contents, const std::string& field) {
    const Json* local = find(contents, {"local"});
    if (!local || !local->is_string()) return mode_of_text;
    const std::optional<std::string> path = local_path(*local, field);
    if (!path) return mode_of_text;
    const Result<std::optional<sys::FileInfo>> info = files_.info(*path);
    return info.ok() && info.value() ? info.value()->mode & bits_of_owner : mode_of_text;
  }

  void add_trees(ignition::Config& config) {
    const JsonArray& trees = find_array(document_.value, {"storage", "trees"});
    for (std::size_t i = 0; i < trees.size(); ++i) {
      const std::string field = fmt::format("storage.trees[{}]", i);
      const Json* local = find(trees[i], {"local"});
      if (!local) {
        wrong(field, "must have local, the folder to copy");
        continue;
      }
      std::string path(find_string(trees[i], {"path"}).value_or("/"));
      while (path.ends_with('/')) path.pop_back();
      if (const std::optional<std::string> from = local_path(*local, field)) add_folder(config, *from, path, field);
    }
  }

  void add_folder(ignition::Config& config, const std::string& from, const std::string& path, const std::string& field) {
    const auto info = value_of(files_.info(from), field);
    if (!info) return;
    if (!*info || (*info)->kind != sys::FileKind::directory) return wrong(field, fmt::format("{} is not a folder", from));
    if (!path.empty()) config.storage.directories.push_back({.path = path, .mode = (*info)->mode & bits_of_owner});
    const auto names = value_of(files_.list(from), field);
    if (!names) return;
    for (const std::string& name : *names) {
      const std::string inner = from + "/" + name, inner_path = path + "/" + name;
      const auto found = value_of(files_.info(inner), field);
      if (!found || !*found) continue;
      switch ((*found)->kind) {
        case sys::FileKind::directory: add_folder(config, inner, inner_path, field); break;
        case sys::FileKind::file: add_file(config, inner, inner_path, (*found)->mode, field); break;
        case sys::FileKind::link:
        case sys::FileKind::other: wrong(field, fmt::format("{} is neither a file nor a folder", inner)); break;
      }
    }
  }

  // An entry without contents sets the mode of the file.
  void add_file(ignition::Config& config, const std::string& from, const std::string& path, sys::Mode mode,
                const std::string& field) {
    const auto content = value_of(files_.read(from), field);
    if (!content) return;
    std::optional<ignition::Resource> resource = value_of(resource_of(*content), field);
    if (!resource) return;
    auto file = std::ranges::find(config.storage.files, path, &ignition::File::path);
    if (file == config.storage.files.end()) file = config.storage.files.insert(file, {.path = path});
    if (file->contents.source) return wrong(field, fmt::format("{} is already in the config", path));
    file->contents = std::move(*resource);
    if (!file->mode) file->mode = mode & bits_of_owner;
  }

  sys::Files& files_;
  const std::string& folder_;
  const YamlDocument& document_;
  Findings findings_;
};

}  // namespace

Result<ignition::Config> translate_butane(sys::Files& files, const std::string& folder, std::string_view text,
                                          std::string_view name) {
  const YamlDocument document = TRY(parse_yaml(text, name));
  Translation translation(files, folder, document);
  ignition::Config config = translation.config();
  TRY(translation.findings().to_result());
  return config;
}

}  // namespace slipway::components::cluster_bootstrap
