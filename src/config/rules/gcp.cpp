#include "base/characters.h"
#include "base/text.h"
#include "config/rules/platform_rules.h"

#include <algorithm>

namespace slipway::config {

namespace {

constexpr std::size_t most_labels = 32;
constexpr std::size_t most_tags = 50;
constexpr std::size_t longest_name = 63;  // for keys and values of labels and tags

// Whether the text has only digits, lower-case letters, upper-case letters if allowed, and these signs.
bool has_only(std::string_view text, bool is_upper_fine, std::string_view signs) {
  return std::ranges::all_of(text, [&](char c) {
    return (is_upper_fine ? is_letter_or_digit(c) : is_lower_or_digit(c)) || signs.find(c) != std::string_view::npos;
  });
}

bool is_length(std::string_view text) { return !text.empty() && text.size() <= longest_name; }

bool is_label_key(std::string_view text) { return is_length(text) && is_lower(text.front()) && has_only(text, false, "_-"); }

bool is_label_value(std::string_view text) { return is_length(text) && has_only(text, false, "_-"); }

bool is_tag_text(std::string_view text, std::string_view signs) {
  return is_length(text) && is_letter_or_digit(text.front()) && is_letter_or_digit(text.back()) && has_only(text, true, signs);
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 32 && text.front() != '0' && std::ranges::all_of(text, is_digit);
}

bool is_project(std::string_view text) {
  return text.size() >= 6 && text.size() <= 30 && is_lower(text.front()) && text.back() != '-' && has_only(text, false, "-");
}

void validate_labels(const Section& platform) {
  const std::vector<Section> labels = platform.items("userLabels");
  if (labels.size() > most_labels)
    platform.error_at("userLabels", "has {} labels, must have at most {}", labels.size(), most_labels);
  Distinct keys;
  for (const Section& label : labels) {
    const std::string_view key = label.text("key");
    if (key.empty()) continue;
    if (!is_label_key(key)) {
      label.error_at("key", "'{}' is not a valid label key", key)
          .hint("1 to 63 lower-case letters, digits, _ and -, a letter first");
    } else if (key.starts_with("kubernetes-io") || key.starts_with("openshift-io")) {
      label.error_at("key", "'{}' begins with a prefix that is reserved for OpenShift", key);
    }
    keys.add(label.at("key"));
    if (label.has("value") && !is_label_value(label.text("value"))) {
      label.error_at("value", "'{}' is not a valid label value", label.text("value"))
          .hint("1 to 63 lower-case letters, digits, _ and -");
    }
  }
}

void validate_tags(const Section& platform) {
  const std::vector<Section> tags = platform.items("userTags");
  if (tags.size() > most_tags) platform.error_at("userTags", "has {} tags, must have at most {}", tags.size(), most_tags);
  Distinct keys;
  for (const Section& tag : tags) {
    const std::string_view parent = tag.text("parentID");
    if (!parent.empty() && !is_number(parent) && !is_project(parent)) {
      tag.error_at("parentID", "'{}' is not an organization number or a project", parent);
    }
    if (tag.has("key") && !is_tag_text(tag.text("key"), "_.-")) {
      tag.error_at("key", "'{}' is not a valid tag key", tag.text("key")).hint("1 to 63 letters, digits, and _.- inside");
    }
    keys.add(tag.at("key"), fmt::format("{}/{}", parent, tag.text("key")));
    if (tag.has("value") && !is_tag_text(tag.text("value"), "_.@%=+:,*#&()[]{}- ")) {
      tag.error_at("value", "'{}' is not a valid tag value", tag.text("value"))
          .hint("1 to 63 letters, digits, and _.@%=+:,*#&()[]{}- inside");
    }
  }
}

void validate_network(const Section& platform) {
  const bool has_subnets = platform.has("computeSubnet") || platform.has("controlPlaneSubnet");
  if (platform.has("networkProjectID") || has_subnets) platform.need("network", "the network of the subnets");
  if (platform.has("network")) {
    platform.need("computeSubnet", "of platform.gcp.network");
    platform.need("controlPlaneSubnet", "of platform.gcp.network");
  }
  const std::string_view mode = platform.document().text({"credentialsMode"});
  if (platform.has("networkProjectID") && mode != "Passthrough" && mode != "Manual") {
    platform.document().error("credentialsMode", "must be Passthrough or Manual with platform.gcp.networkProjectID{}",
                              mode.empty() ? "" : fmt::format(", got {}", mode));
  }
}

// Network tags of machines. Firewall rules refer to them.
void validate_network_tags(const Section& pool) {
  for (const Section& item : pool.items("tags")) {
    const std::string_view tag = item.text();
    if (is_length(tag) && is_lower(tag.front()) && tag.back() != '-' && has_only(tag, false, "-")) continue;
    item.error("'{}' is not a network tag", tag).hint("1 to 63 lower-case letters, digits and dashes, a letter first");
  }
}

void validate_disk(const Section& disk, bool is_control_plane) {
  constexpr std::int64_t smallest = 16;
  constexpr std::int64_t largest = 65536;
  const auto size = disk.number("DiskSizeGB");
  if (size && *size != 0 && (*size < smallest || *size > largest)) {
    disk.error_at("DiskSizeGB", "must be {} to {}, got {}", smallest, largest, *size);
  }
  if (is_control_plane && disk.text("diskType") == "pd-standard") {
    disk.error_at("diskType", "pd-standard is too slow for etcd").hint("use pd-ssd, pd-balanced or hyperdisk-balanced");
  }
}

}  // namespace

void validate_gcp(const Section& platform) {
  validate_network(platform);
  for (const std::string_view field : {"userLabels", "userTags"}) {
    if (platform.has(field)) refuse_without_gate(platform, field, "GCPLabelsTags");
  }
  validate_labels(platform);
  validate_tags(platform);
  if (platform.has("userProvisionedDNS") && platform.text("userProvisionedDNS") != "Disabled") {
    refuse_without_gate(platform, "userProvisionedDNS", "GCPClusterHostedDNS");
  }
}

void validate_gcp_pool(const Section& pool, const Section& platform, bool is_control_plane) {
  validate_zones(pool, platform);
  validate_disk(pool.at("osDisk"), is_control_plane);
  validate_network_tags(pool);
  if (pool.text("confidentialCompute") == "Enabled" && pool.text("onHostMaintenance") != "Terminate") {
    pool.error_at("onHostMaintenance", "must be Terminate with confidentialCompute")
        .hint("confidential machines cannot be migrated");
  }
}

}  // namespace slipway::config
