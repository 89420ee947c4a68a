#include "assets/preview/masked.h"

#include "base/text.h"
#include "base/yaml.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::assets {

namespace {

constexpr std::size_t max_shown_payload = 80;  // longer base64 texts are replaced
constexpr std::string_view key_begin = "PRIVATE KEY-----";

// Parts of keys whose values are secret.
constexpr auto secret_parts = std::to_array<std::string_view>(
    {"password", "passwd", "passphrase", "token", "secret", "credential", "private", "key-data", "keydata", "dockerconfig"});
// Complete names of keys whose values are secret.
constexpr auto secret_keys = std::to_array<std::string_view>({"auth", "auths", "authorization", "key", "hash"});

bool is_base64(std::string_view text) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
  return text.size() > max_shown_payload && text.find_first_not_of(alphabet) == std::string_view::npos;
}

// "http://user:password@host" becomes "http://***@host".
std::string without_credentials(std::string_view text) {
  std::string made;
  for (;;) {
    const std::size_t slashes = text.find("://");
    if (slashes == std::string_view::npos) return made.append(text);
    const std::size_t begin = slashes + 3;
    const std::size_t end = std::min(text.find_first_of("/?# \"'\n", begin), text.size());
    const std::size_t at = text.substr(begin, end - begin).rfind('@');
    made.append(text.substr(0, begin));
    if (at != std::string_view::npos) made.append("***");
    text.remove_prefix(at == std::string_view::npos ? begin : begin + at);
  }
}

}  // namespace

bool is_secret_key(std::string_view key) {
  const std::string name = to_lower(key);
  if (name.ends_with("name") || name.ends_with("namespace") || name.ends_with("type") || name.ends_with("mode")) return false;
  return name.ends_with(".key") || std::ranges::find(secret_keys, name) != secret_keys.end() ||
         std::ranges::any_of(secret_parts, [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

std::size_t Masker::number_of(std::string_view text) {
  return numbers_.try_emplace(std::string(text), numbers_.size() + 1).first->second;
}

std::string Masker::secret(std::string_view text) { return text.empty() ? "" : fmt::format("*** #{}", number_of(text)); }

std::string Masker::payload(std::string_view text, std::string_view kind) {
  return fmt::format("({}, {} characters, #{})", kind, text.size(), number_of(text));
}

std::string Masker::text(std::string_view path, std::string_view content) {
  const bool is_structured = path.ends_with(".yaml") || path.ends_with(".yml") || path.ends_with(".json") ||
                             path.ends_with(".ign") || path.ends_with("kubeconfig");
  if (!is_structured) return path.ends_with(".crt") ? shown_lines(content) : secret(content) + "\n";
  const auto documents = parse_yaml_documents(content, path);
  if (!documents.ok()) return secret(content) + "\n";
  std::string made;
  for (const YamlDocument& document : documents.value()) {
    if (!made.empty()) made += "---\n";
    made += emit_yaml(shown(document.value, "", false));
  }
  return made;
}

Json Masker::shown(const Json& value, std::string_view key, bool is_secret) {
  if (value.is_string()) return Json(shown_text(value.get_string(), key, is_secret));
  if (value.is_array()) {
    JsonArray made;
    for (const Json& item : value.get_array()) made.push_back(shown(item, key, is_secret));
    return made;
  }
  if (!value.is_object()) return is_secret || is_secret_key(key) ? Json(secret(emit_json(value, JsonStyle::compact))) : value;
  const bool is_of_secret = find_string(value, {"kind"}) == "Secret";
  // {name: Authorization, value: ...}
  const bool is_header = to_lower(find_string(value, {"name"}).value_or("")) == "authorization";
  JsonObject made;
  for (const auto& member : value.get_object()) {
    const std::string_view name = member.key();
    const bool is_data = is_of_secret && (name == "data" || name == "stringData");
    const bool is_its_value = is_header && name == "value";
    made.emplace(name, shown(member.value(), name, is_secret || is_data || is_its_value || name == "auths"));
  }
  return made;
}

std::string Masker::shown_text(std::string_view text, std::string_view key, bool is_secret) {
  if (is_secret || is_secret_key(key) || text.starts_with("Bearer ")) return secret(text);
  if (text.starts_with("data:") && text != "data:,") return payload(text, "data URL");
  if (is_base64(text)) return payload(text, "base64");
  if (text.find('\n') == std::string_view::npos && !text.starts_with('{')) return shown_lines(text);
  // A document in a string of the document: an install-config, a kubeconfig.
  const auto inner = parse_yaml(text, "");
  return inner.ok() && inner->value.is_object() ? emit_yaml(shown(inner->value, "", false)) : shown_lines(text);
}

// For texts without a known format, such as scripts and units.
std::string Masker::shown_lines(std::string_view text) {
  if (text.find(key_begin) != std::string_view::npos) return secret(text);
  std::string made;
  for (std::string_view line : split(text, '\n')) {
    if (!made.empty() || line.data() != text.data()) made += '\n';
    const std::size_t end = line.find_first_of(":=");
    const std::string_view name = trim(line.substr(0, std::min(end, line.size())));
    const std::string_view bare = name.substr(std::min(name.find_first_not_of("-'\" "), name.size()));
    const std::string_view word = bare.substr(bare.find_last_of(" ") + 1);
    if (end != std::string_view::npos && is_secret_key(word.substr(0, word.find_last_not_of("'\" ") + 1))) {
      const std::string_view value = line.substr(end + 1);
      made.append(line.substr(0, end + 1)).append(trim(value).empty() ? "" : " " + secret(value));
    } else if (is_base64(trim(line))) {
      made += payload(trim(line), "base64");
    } else {
      made += without_credentials(line);
    }
  }
  return made;
}

}  // namespace slipway::assets
