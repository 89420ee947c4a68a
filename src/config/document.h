// An install-config on its way: its value with the right names and kinds, the place of every field, what was found wrong.
// Private to the folder. The steps run in the order in which they stand here.
#pragma once

#include "base/findings.h"
#include "base/json.h"
#include "base/yaml.h"

#include <map>
#include <string>
#include <string_view>

namespace slipway::config {

class Document {
 public:
  explicit Document(std::string name) : name_(std::move(name)) {}

  Json value = JsonObject();
  Findings findings;

  void remember(const std::string& path, Place place) { places_.insert_or_assign(path, std::move(place)); }

  // Whether the text has this field; its value may have been unusable, which was said then.
  bool was_given(std::string_view path) const { return places_.contains(path); }

  // Of a field, or of the nearest one around it that the text has.
  Place place(std::string_view path) const;

  template <class... Args>
  Findings::Added error(const std::string& path, fmt::format_string<Args...> text, Args&&... args) {
    return findings.error(place(path), path, text, std::forward<Args>(args)...);
  }
  template <class... Args>
  Findings::Added warning(const std::string& path, fmt::format_string<Args...> text, Args&&... args) {
    return findings.warning(place(path), path, text, std::forward<Args>(args)...);
  }

  // The text at a path of keys, empty when there is none.
  std::string_view text(std::initializer_list<std::string_view> keys) const { return find_string(value, keys).value_or(""); }

 private:
  std::string name_;
  std::map<std::string, Place, std::less<>> places_;
};

// Takes from the YAML what the schema knows. Keys are compared without case; a null is no value.
void read_fields(const YamlDocument& yaml, Document& document);

// Older fields into today's, where those are not given (installer 2.1). The older ones stay (11.4 #18).
void convert_older_fields(Document& document);

// What the user left out (installer 2.3).
void fill_in_defaults(Document& document);

// Each adds what it finds; none stops at the first.
void validate_identity(Document& document);  // names, secrets, keys, certificates
void validate_machines(Document& document);  // pools
void validate_networking(Document& document);
void validate_platform(Document& document);
void validate_delivery(Document& document);  // proxy and mirrors
void validate_features(Document& document);  // publishing, credentials, capabilities, gates

// The one platform of a document; "none" also for none and external together (11.1 #5); empty when there is not exactly one.
std::string platform_type(const Document& document);

}  // namespace slipway::config
