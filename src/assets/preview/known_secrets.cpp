#include "assets/preview/known_secrets.h"

#include "assets/plan.h"
#include "assets/preview/masked.h"
#include "assets/state.h"
#include "base/digest.h"
#include "base/text.h"
#include "base/yaml.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::assets {

namespace {

constexpr int max_depth = 8;  // nesting of documents in strings of documents

class Collector {
 public:
  void collect(const Json& value, bool is_secret, int depth) {
    if (value.is_string()) {
      collect_text(value.get_string(), is_secret, depth);
    } else if (value.is_array()) {
      for (const Json& item : value.get_array()) collect(item, is_secret, depth);
    } else if (value.is_object()) {
      collect_object(value, is_secret, depth);
    }
  }

  std::vector<Secret> take() { return std::move(found_); }

 private:
  void collect_object(const Json& value, bool is_secret, int depth) {
    const std::optional<std::string_view> kind = find_string(value, {"kind"});
    const bool is_ours = !kind || kind == "InstallConfig";
    for (const auto& member : value.get_object()) {
      const std::string_view name = member.key();
      const bool is_data = kind == "Secret" && (name == "data" || name == "stringData");
      // Other objects refer to Secrets by name ("secret: NAME"); the name is not secret.
      collect(member.value(), is_secret || is_data || (is_ours && is_secret_key(name)), depth);
    }
  }

  void collect_text(std::string_view text, bool is_secret, int depth) {
    if (is_secret) add(text);
    collect_passwords_of_urls(text);
    if (depth == 0) return;
    const bool is_document = text.find('\n') != std::string_view::npos || trim(text).starts_with('{');
    if (!is_document || text.find("-----BEGIN ") == 0) return;
    const auto documents = parse_yaml_documents(text, "");
    if (!documents.ok()) return;
    for (const YamlDocument& inner : documents.value()) {
      if (inner.value.is_object()) collect(inner.value, is_secret, depth - 1);
    }
  }

  void add(std::string_view text) {
    found_.emplace_back(std::string(text));
    // Data of Secrets and credentials of registries ("user:password") are base64. Decoded data that is not UTF-8 is ignored.
    const Result<std::string> decoded = base64_decode(trim(text));
    if (!decoded.ok() || decoded->empty() || !is_utf8(decoded.value())) return;
    found_.emplace_back(decoded.value());
    const std::size_t colon = decoded->find(':');
    if (colon != std::string::npos && decoded->find('\n') == std::string::npos) found_.emplace_back(decoded->substr(colon + 1));
  }

  void collect_passwords_of_urls(std::string_view text) {
    constexpr std::string_view slashes = "://";
    for (std::size_t at = text.find(slashes); at != std::string_view::npos; at = text.find(slashes, at)) {
      at += slashes.size();
      const std::string_view authority = text.substr(at, std::min(text.find_first_of("/?# \n\"'", at), text.size()) - at);
      const std::size_t end = authority.rfind('@'), colon = authority.find(':');
      if (end == std::string_view::npos || colon >= end) continue;
      const std::string_view password = authority.substr(colon + 1, end - colon - 1);
      found_.emplace_back(std::string(password));
      if (password.find('%') != std::string_view::npos) found_.emplace_back(percent_decoded(password));
    }
  }

  static std::string percent_decoded(std::string_view text) {
    std::string made;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const std::string digits(text.substr(std::min(at + 1, text.size()), 2));
      const bool is_escape =
          text[at] == '%' && digits.size() == 2 && digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
      made += is_escape ? static_cast<char>(std::stoi(digits, nullptr, 16)) : text[at];
      if (is_escape) at += 2;
    }
    return made;
  }

  std::vector<Secret> found_;
};

}  // namespace

std::vector<Secret> secrets_in(const Json& document) {
  Collector collector;
  collector.collect(document, false, max_depth);
  return collector.take();
}

std::vector<Secret> known_secrets(sys::Files& files, const std::string& directory) {
  Collector collector;
  const auto content = [&](std::string_view name) {
    const Result<std::optional<std::string>> text = files.read_if_exists(fmt::format("{}/{}", directory, name));
    return text.ok() ? text.value().value_or("") : std::string();
  };
  if (const auto config = parse_yaml(content(install_config_file), ""); config.ok())
    collector.collect(config->value, false, max_depth);
  if (const auto state = parse_json(content(state_file), ""); state.ok()) collector.collect(state.value(), false, max_depth);
  return collector.take();
}

}  // namespace slipway::assets
