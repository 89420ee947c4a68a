#include "base/text.h"
#include "config/rules/platform_rules.h"

#include <algorithm>
#include <array>

namespace slipway::config {

namespace {

// Feature gates of install-config fields that are on by default.
constexpr std::array<std::string_view, 2> default_gates = {"GCPLabelsTags", "VSphereStaticIPs"};

constexpr std::string_view custom = "CustomNoUpgrade";

// Splits "NAME=true" at '='. The second half is in lower case, and empty if there is no '='.
std::pair<std::string_view, std::string> halves_of(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {text, ""};
  return {text.substr(0, equals), to_lower(text.substr(equals + 1))};
}

}  // namespace

bool has_gate(const Document& document, std::string_view name) {
  const std::string_view set = document.text({"featureSet"});
  if (set == "TechPreviewNoUpgrade" || set == "DevPreviewNoUpgrade") return true;
  bool is_on = std::ranges::find(default_gates, name) != default_gates.end();
  if (set != custom) return is_on;
  for (const Json& gate : find_array(document.value, {"featureGates"})) {
    if (!gate.is_string()) continue;
    const auto halves = halves_of(gate.get_string());
    if (halves.first == name) is_on = halves.second == "true";
  }
  return is_on;
}

void refuse_without_gate(const Section& section, std::string_view field, std::string_view gate) {
  if (has_gate(section.document(), gate)) return;
  section.error_at(field, "requires the feature gate {}", gate)
      .hint(fmt::format("featureSet: TechPreviewNoUpgrade, or CustomNoUpgrade with featureGates: ['{}=true']", gate));
}

void validate_gates(Document& document) {
  const std::string_view set = document.text({"featureSet"});
  if (!set.empty()) document.warning("featureSet", "{} cannot be undone and prevents minor updates", set);
  const Section top(document, {});
  if (top.has("featureGates") && set != custom) top.error_at("featureGates", "requires featureSet: {}", custom);
  for (const Section& gate : top.items("featureGates")) {
    if (!gate.value().is_string()) continue;
    const auto [name, value] = halves_of(gate.text());
    if (name.empty() || (value != "true" && value != "false")) {
      gate.error("must be NAME=true or NAME=false, got '{}'", gate.text());
    }
  }
}

}  // namespace slipway::config
