// An install-config on its way: its value with the right names and kinds, the place of every field, what was found wrong.
// Private to the folder. The steps run in the order in which they stand here.
#pragma once

#include "base/findings.h"
#include "base/json.h"
#include "base/yaml.h"
#include "config/host.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace slipway::config {

class Document {
 public:
  explicit Document(std::string name) : name_(std::move(name)) {}

  Json value = JsonObject();
  Findings findings;
  std::optional<Host> host{};  // none: what depends on the host is not judged

  void remember(const std::string& path, Place place) { places_.insert_or_assign(path, std::move(place)); }

  // The value of a field was written at an older one; findings name that.
  void remember_older(const std::string& newer, const std::string& older) { older_.insert_or_assign(newer, older); }

  // Whether the text has this field; its value may have been unusable, which was said then.
  bool was_given(std::string_view path) const { return places_.contains(path); }

  // Of a field, or of the nearest one around it that the text has.
  Place place(std::string_view path) const;

  // A rule says nothing of a value that was rejected before.
  template <class... Args>
  Findings::Added error(const std::string& path, fmt::format_string<Args...> text, Args&&... args) {
    return add({Severity::error, {}, path, fmt::format(text, std::forward<Args>(args)...), ""});
  }
  template <class... Args>
  Findings::Added warning(const std::string& path, fmt::format_string<Args...> text, Args&&... args) {
    return add({Severity::warning, {}, path, fmt::format(text, std::forward<Args>(args)...), ""});
  }

  // An error of a value in itself: not of its kind, none of those allowed.
  template <class... Args>
  Findings::Added reject(const std::string& path, fmt::format_string<Args...> text, Args&&... args) {
    rejected_.insert(path);
    return findings.error(place(path), path, text, std::forward<Args>(args)...);
  }

  // The text at a path of keys, empty when there is none.
  std::string_view text(std::initializer_list<std::string_view> keys) const { return find_string(value, keys).value_or(""); }

 private:
  std::string as_written(const std::string& path) const;
  Findings::Added add(Finding finding);

  std::string name_;
  std::map<std::string, Place, std::less<>> places_;
  std::map<std::string, std::string, std::less<>> older_;  // the path of a field: that which it was written at
  std::set<std::string, std::less<>> rejected_;
  Finding unsaid_;  // takes the hint of a finding that is left out
};

// Takes from the YAML what the schema knows. Keys are compared without case; a null is no value. Fields that the schema does not
// know are left out, with a warning, or an error when it is strict; older fields get a warning.
void read_fields(const YamlDocument& yaml, bool strict, Document& document);

// Copies deprecated fields into the fields that replace them, where those are not given. The deprecated fields stay, as in
// openshift-install. Both with different values are an error.
void convert_older_fields(Document& document);

// Gives fields that the user left out their defaults.
void fill_in_defaults(Document& document);

// As Go writes its structs, keys sorted: of empty values those only that are always there.
Json effective_config(const Json& value);

// What machines of a pool are like: the section of this platform, over `defaultMachinePlatform`, over the defaults of the schema.
JsonObject effective_pool(const Json& config, const Json& pool, std::string_view platform);

// Each adds what it finds; none stops at the first.
void validate_identity(Document& document);  // names, secrets, keys, certificates
void validate_machines(Document& document);  // pools
void validate_networking(Document& document);
void validate_platform(Document& document);
void validate_delivery(Document& document);  // proxy and mirrors
void validate_features(Document& document);  // publishing, credentials, capabilities, gates
void validate_required(Document& document);  // what is missing, unless a rule said so in words of its own

// The one platform of a document; "none" also for none and external together, which openshift-install accepts; empty when
// there is not exactly one.
std::string platform_type(const Document& document);

// The text of a member; empty when there is none.
using slipway::text_of;
inline std::string text_of(const JsonObject& object, std::string_view name) {
  const Json* value = object.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : "";
}

// Calls `work` for what stands in `topology` of each failure domain of vSphere, without those that the reader could not use.
template <class Work>
void for_each_topology(JsonObject& section, const Work& work) {
  Json* domains = section.if_contains("failureDomains");
  if (!domains || !domains->is_array()) return;
  for (Json& domain : domains->get_array()) {
    Json* topology = domain.is_object() ? domain.get_object().if_contains("topology") : nullptr;
    if (topology && topology->is_object()) work(topology->get_object());
  }
}

}  // namespace slipway::config
