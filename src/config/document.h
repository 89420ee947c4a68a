// An install-config while it is read: its value, the place of every field, and the findings. The functions below are the steps,
// in the order in which they run. Private to the folder.
#pragma once

#include "base/findings.h"
#include "base/json.h"
#include "base/yaml.h"
#include "config/host.h"
#include "config/schema/field.h"

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
  std::optional<Host> host{};  // none: rules about the host do not apply

  void remember(const std::string& path, Place place) { places_.insert_or_assign(path, std::move(place)); }

  // Records that the value of `newer` was written at the deprecated path `older`. Findings name the older path.
  void remember_older(const std::string& newer, const std::string& older) { older_.insert_or_assign(newer, older); }

  // Whether the file has this field. Its value may be unusable; the reader has reported that.
  bool was_given(std::string_view path) const { return places_.contains(path); }

  // The place of a field, or of the nearest enclosing field that the file has.
  Place place(std::string_view path) const;

  // Adds a finding of a rule. Findings about a rejected value are discarded.
  template <class... Args>
  Findings::Added error(const std::string& path, fmt::format_string<Args...> text, Args&&... args) {
    return add({Severity::error, {}, path, fmt::format(text, std::forward<Args>(args)...), ""});
  }
  template <class... Args>
  Findings::Added warning(const std::string& path, fmt::format_string<Args...> text, Args&&... args) {
    return add({Severity::warning, {}, path, fmt::format(text, std::forward<Args>(args)...), ""});
  }

  // Reports a value of the wrong kind, or a value that is not allowed.
  template <class... Args>
  Findings::Added reject(const std::string& path, fmt::format_string<Args...> text, Args&&... args) {
    rejected_.insert(path);
    return findings.error(place(path), path, text, std::forward<Args>(args)...);
  }

  // The text at a path of keys; empty if there is none.
  std::string_view text(std::initializer_list<std::string_view> keys) const { return find_string(value, keys).value_or(""); }

 private:
  std::string as_written(const std::string& path) const;
  Findings::Added add(Finding finding);

  std::string name_;
  std::map<std::string, Place, std::less<>> places_;
  std::map<std::string, std::string, std::less<>> older_;  // path of a field: deprecated path in the file
  std::set<std::string, std::less<>> rejected_;
  Finding discarded_;  // takes the hint of a discarded finding
};

// Reads the fields of a schema from the YAML. Keys are not case-sensitive. null counts as not given. Unknown fields are skipped
// with a warning, or with an error if `strict`. Deprecated fields get a warning.
void read_fields(const YamlDocument& yaml, bool strict, Fields fields, Document& document);

// Findings from the error of parse_yaml, whose lines are "name:7:3: error: MESSAGE".
Findings syntax_findings(std::string_view lines, std::string_view name);

// Copies deprecated fields to the fields that replace them, unless those are given. The deprecated fields stay, as in
// openshift-install. It is an error if both are given and differ.
void convert_older_fields(Document& document);

// Sets the defaults of fields that are not given.
void fill_in_defaults(Document& document);

// The config as Go would write it, with sorted keys: empty values are dropped, unless the schema keeps them (Empty).
Json effective_config(const Json& value);

// The settings of a pool's machines. The pool's section overrides `defaultMachinePlatform`, which overrides the defaults of the
// schema.
JsonObject effective_pool(const Json& config, const Json& pool, std::string_view platform);

// Each adds all its findings to the document.
void validate_identity(Document& document);  // names, secrets, keys, certificates
void validate_machines(Document& document);  // pools
void validate_networking(Document& document);
void validate_platform(Document& document);
void validate_delivery(Document& document);  // proxy and mirrors
void validate_features(Document& document);  // publishing, credentials, capabilities, gates
void validate_required(Document& document);  // missing fields that no other rule has reported

// The platform of a document; empty if there is not exactly one. "none" and "external" together count as "none", as in
// openshift-install.
std::string platform_type(const Document& document);

// The text of a member; empty when there is none.
using slipway::text_of;
inline std::string text_of(const JsonObject& object, std::string_view name) {
  const Json* value = object.if_contains(name);
  return value && value->is_string() ? std::string(value->get_string()) : "";
}

// Calls `work` with `topology` of each failure domain of vSphere. Skips values that the reader could not use.
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
