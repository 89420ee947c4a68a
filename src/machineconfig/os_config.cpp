#include "machineconfig/os_config.h"

#include "base/characters.h"
#include "base/digest.h"
#include "base/text.h"
#include "machineconfig/containerfile.h"
#include "machineconfig/labels.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace slipway::machineconfig {

namespace {

constexpr std::size_t longest_push_spec = 447, longest_part = 61;
// "build-POOL-" and 32 characters are the name of a Job, which may have 63.
constexpr std::size_t longest_pool = 24;
constexpr std::string_view builder_type = "Job", architecture = "NoArch";
constexpr std::string_view hold = "Hold", no_hold = "Immediate";  // of first_boot_annotation

bool consists_of(std::string_view text, std::string_view others) {
  return !text.empty() &&
         std::ranges::all_of(text, [&](char c) { return is_lower_or_digit(c) || others.find(c) != std::string_view::npos; });
}

// "registry.example.com:5000": a host with a dot.
bool is_registry(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    if (port.size() < 2 || port.size() > 5 || !std::ranges::all_of(port, is_digit)) return false;
    text = text.substr(0, colon);
  }
  if (text.find('.') == std::string_view::npos) return false;
  return std::ranges::all_of(split(text, '.'), [](std::string_view label) {
    return consists_of(label, "-") && !label.starts_with('-') && !label.ends_with('-');
  });
}

// "images.registry.svc:5000", "images.registry.svc.cluster.local"
bool is_service(std::string_view registry) {
  const std::string_view host = registry.substr(0, registry.find(':'));
  return host.ends_with(".svc") || host.ends_with(".svc.cluster.local");
}

// What is wrong with "registry.example.com/team/os"; nothing if it is right.
std::optional<std::string> wrong_repository(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '/');
  if (parts.size() < 2 || !is_registry(parts[0])) return "does not begin with a registry whose host has a dot";
  if (is_service(parts[0]))
    return "is in a Service of the cluster, whose name neither the bootstrap machine nor the nodes resolve";
  if (parts.size() > 3) return "has more than one part between registry and name, so the API could not store the result";
  const auto begins_and_ends_well = [](std::string_view part) {
    return is_lower_or_digit(part.front()) && is_lower_or_digit(part.back());
  };
  const std::string_view name = parts.back();
  if (!consists_of(name, "._-") || !begins_and_ends_well(name))
    return fmt::format("has the name '{}', which is not made of the characters a-z, 0-9 and, within, '.', '_' and '-'",
                       to_utf8(name));
  if (parts.size() == 2) return std::nullopt;
  const std::string_view part = parts[1];
  if (part.size() > longest_part || !consists_of(part, "_-") || !begins_and_ends_well(part))
    return fmt::format("has the part '{}', which is not up to {} of the characters a-z, 0-9 and, within, '_' and '-'",
                       to_utf8(part), longest_part);
  return std::nullopt;
}

std::optional<std::string> wrong_push_spec(std::string_view text) {
  if (text.size() > longest_push_spec) return fmt::format("is longer than {} characters", longest_push_spec);
  if (text.find('@') != std::string_view::npos) return "has a digest, which only the result of a build has";
  const std::size_t slash = text.rfind('/');
  const std::size_t colon = text.find(':', slash == std::string_view::npos ? 0 : slash);
  if (slash == std::string_view::npos || colon == std::string_view::npos || colon + 1 == text.size()) return "has no tag";
  const std::string_view tag = text.substr(colon + 1);
  if (tag.size() > 128 ||
      !std::ranges::all_of(tag, [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; }))
    return "has a tag with other characters than letters, digits, '.', '_' and '-'";
  return wrong_repository(text.substr(0, colon));
}

std::optional<std::string> wrong_digest_spec(std::string_view text) {
  const std::size_t at = text.find("@sha256:");
  if (at == std::string_view::npos) return "has no digest";
  const std::string_view digest = text.substr(at + 8);
  if (digest.size() != 64 || digest.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return "does not end with a digest of 64 hexadecimal characters";
  const std::string_view repository = text.substr(0, at);
  if (repository.find(':', std::min(repository.rfind('/'), repository.size())) != std::string_view::npos)
    return "has a tag beside the digest";
  return wrong_repository(repository);
}

// Reads one object with the place of each field.
class ConfigReader {
 public:
  ConfigReader(const YamlDocument& document, Findings& findings) : document_(document), findings_(findings) {}

  OsConfig read() {
    OsConfig config;
    known_fields("spec", {"machineConfigPool", "imageBuilder", "renderedImagePushSpec", "renderedImagePushSecret",
                          "baseImagePullSecret", "containerFile"});
    const std::string name = required({"metadata", "name"});
    config.pool = required({"spec", "machineConfigPool", "name"});
    if (config.pool.size() > longest_pool) {
      wrong("spec.machineConfigPool.name",
            fmt::format("has {} characters, the names of builds leave room for {}", config.pool.size(), longest_pool), "");
    }
    if (!name.empty() && !config.pool.empty() && name != config.pool)
      wrong("metadata.name", fmt::format("is {}, the name of its pool is {}", name, config.pool), "use the name of the pool");
    const std::string builder = required({"spec", "imageBuilder", "imageBuilderType"});
    if (!builder.empty() && builder != builder_type) wrong("spec.imageBuilder.imageBuilderType", "is not Job", "");
    config.push_spec = required({"spec", "renderedImagePushSpec"});
    if (const auto why = config.push_spec.empty() ? std::nullopt : wrong_push_spec(config.push_spec))
      wrong("spec.renderedImagePushSpec", fmt::format("{} {}", to_utf8(config.push_spec), *why),
            "like registry.example.com/team/os:latest");
    config.push_secret = required({"spec", "renderedImagePushSecret", "name"});
    if (find(document_.value, {"spec", "baseImagePullSecret"}))
      config.base_pull_secret = required({"spec", "baseImagePullSecret", "name"});
    read_containerfile(config);
    const std::string first_boot = text_of(document_.value, {"metadata", "annotations", first_boot_annotation});
    config.holds_first_boot = first_boot == hold;
    if (!first_boot.empty() && first_boot != hold && first_boot != no_hold)
      wrong("metadata.annotations", fmt::format("{}: {} is not known", first_boot_annotation, to_utf8(first_boot)),
            fmt::format("use {} or {}", hold, no_hold));
    config.prebuilt_image = text_of(document_.value, {"metadata", "annotations", prebuilt_image_annotation});
    if (const auto why = config.prebuilt_image.empty() ? std::nullopt : wrong_digest_spec(config.prebuilt_image))
      wrong("metadata.annotations", fmt::format("{}: {} {}", prebuilt_image_annotation, to_utf8(config.prebuilt_image), *why),
            "like registry.example.com/team/os@sha256:...");
    return config;
  }

 private:
  void wrong(const std::string& field, std::string_view message, std::string hint) {
    findings_.error(document_.place_of(field), field, "{}", message).hint(std::move(hint));
  }

  void known_fields(const std::string& field, const std::vector<std::string_view>& known) {
    for (const auto& member : find_object(document_.value, {field})) {
      if (std::ranges::find(known, std::string_view(member.key())) == known.end())
        wrong(fmt::format("{}.{}", field, std::string_view(member.key())), "is not a field of a MachineOSConfig", "");
    }
  }

  std::string required(std::initializer_list<std::string_view> keys) {
    const std::string field = join({keys.begin(), keys.end()}, ".");
    const Json* value = find(document_.value, keys);
    if (!value) {
      wrong(field, "is missing", "");
    } else if (!value->is_string() || value->as_string().empty()) {
      wrong(field, "is not a text", "");
    }
    return text_of(document_.value, keys);
  }

  void read_containerfile(OsConfig& config) {
    const JsonArray& files = find_array(document_.value, {"spec", "containerFile"});
    if (files.size() > 1)
      wrong("spec.containerFile", "has more than one entry", "a pool has machines of one architecture: use one");
    if (files.empty()) return;
    const std::string entry = "spec.containerFile[0]", field = entry + ".content";
    if (find_string(files[0], {"containerfileArch"}).value_or(architecture) != architecture)
      wrong(entry + ".containerfileArch", "is not NoArch", "leave it out");
    config.containerfile = text_of(files[0], {"content"});
    if (config.containerfile.empty()) return wrong(field, "is missing or empty", "leave out containerFile if you have none");
    // A text of several lines is a block: it begins below its key.
    const Place key = document_.place_of(field);
    const bool is_block = config.containerfile.find('\n') != std::string::npos;
    const auto place_of_line = [&](int line) {
      if (key.line == 0) return key;
      return is_block ? Place{key.file, key.line + line, 1} : key;
    };
    check_containerfile(config.containerfile, field, place_of_line, findings_);
  }

  const YamlDocument& document_;
  Findings& findings_;
};

// "registry.example.com/team" of a key of "auths", which may be a URL.
std::string place_of_login(std::string_view key) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (key.starts_with(scheme)) key.remove_prefix(scheme.size());
  }
  if (key == "index.docker.io/v1/" || key == "index.docker.io") return "docker.io";
  while (key.ends_with('/')) key.remove_suffix(1);
  return std::string(key);
}

bool is_login(const Json& entry) {
  const std::string_view encoded = find_string(entry, {"auth"}).value_or("");
  if (!encoded.empty()) {
    const Result<std::string> text = base64_decode(encoded);
    return text.ok() && text->find(':') != std::string::npos;
  }
  return find_string(entry, {"username"}) && find_string(entry, {"password"});
}

}  // namespace

std::string OsConfig::repository() const { return push_spec.substr(0, push_spec.rfind(':')); }
std::string OsConfig::registry() const { return push_spec.substr(0, push_spec.find('/')); }

OsConfig read_os_config(const YamlDocument& document, Findings& findings) { return ConfigReader(document, findings).read(); }

Result<OsConfig> parse_os_config(const Json& object, std::string_view name) {
  Findings findings;
  OsConfig config = read_os_config({.name = std::string(name), .value = object, .places = {}}, findings);
  TRY(findings.to_result());
  return config;
}

Result<Secret> logins_of(const Json& secret) {
  const std::string name = fmt::format("Secret {}", text_of(secret, {"metadata", "name"}));
  const std::string type = text_of(secret, {"type"});
  const bool is_old = type == "kubernetes.io/dockercfg";
  if (!is_old && type != "kubernetes.io/dockerconfigjson") {
    return error(Code::invalid,
                 "{}: type is '{}', not kubernetes.io/dockerconfigjson (make it with kubectl create secret docker-registry)",
                 name, to_utf8(type));
  }
  const std::string_view key = is_old ? ".dockercfg" : ".dockerconfigjson";
  std::string text = text_of(secret, {"stringData", key});
  if (text.empty()) {
    Result<std::string> decoded = base64_decode(text_of(secret, {"data", key}));
    if (!decoded.ok()) return error(Code::invalid, "{}: data[{}] is not base64", name, key);
    text = std::move(decoded).value();
  }
  const Result<Json> parsed = parse_json(text, key);
  // The message of the parser may quote the secret.
  if (!parsed.ok() || !parsed->is_object()) return error(Code::invalid, "{}: {} is not a JSON object", name, key);
  const Json* auths = find(parsed.value(), {"auths"});
  const Json& logins = auths ? *auths : parsed.value();
  if (!logins.is_object() || logins.get_object().empty()) return error(Code::invalid, "{}: {} has no logins", name, key);
  for (const auto& entry : logins.get_object()) {
    if (!is_login(entry.value())) {
      return error(Code::invalid, "{}: the login for {} has neither auth nor username and password", name, to_utf8(entry.key()));
    }
  }
  return Secret(emit_json({{"auths", logins}}, JsonStyle::compact));
}

bool has_login(const Secret& logins, std::string_view repository) {
  const Result<Json> config = parse_json(logins.reveal(), "logins");
  if (!config.ok()) return false;
  return std::ranges::any_of(find_object(config.value(), {"auths"}), [&](const auto& entry) {
    const std::string place = place_of_login(entry.key());
    return repository == place || repository.starts_with(place + "/");
  });
}

}  // namespace slipway::machineconfig
