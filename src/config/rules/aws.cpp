#include "base/characters.h"
#include "base/text.h"
#include "config/names.h"
#include "config/rules/platform_rules.h"
#include "net/url.h"

#include <algorithm>
#include <array>

namespace slipway::config {

namespace {

constexpr std::size_t most_tags = 25;  // AWS allows more, but OpenShift adds its own tags

// Images of the operating system cannot be copied to these regions.
constexpr std::array<std::string_view, 5> regions_without_images = {"cn-north-1", "cn-northwest-1", "us-iso-east-1",
                                                                    "us-iso-west-1", "us-isob-east-1"};

// Whether the key of a tag is in the namespace of a domain: "kubernetes.io/x", "a.kubernetes.io/x".
bool is_in_namespace(std::string_view key, std::string_view domain) {
  const std::string_view space = key.substr(0, key.find('/'));
  return space.size() < key.size() && (space == domain || space.ends_with(fmt::format(".{}", domain)));
}

bool is_tag_text(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return is_letter_or_digit(c) || std::string_view("_.:/=+-@ ").find(c) != std::string_view::npos; });
}

void validate_tags(const Section& platform) {
  const Section tags = platform.at("userTags");
  const JsonObject* members = tags.value().if_object();
  if (!members) return;
  if (members->size() > most_tags) tags.error("has {} tags, must have at most {}", members->size(), most_tags);
  const bool are_propagated = platform.has("propagateUserTags") || platform.has("experimentalPropagateUserTags");
  for (const auto& member : *members) {
    const std::string_view key(member.key());
    const std::string_view value = tags.text(key);
    if (to_lower(key) == "name") {
      tags.error_at(key, "this key is reserved for OpenShift");
    } else if (key.starts_with("kubernetes.io/cluster/") ||
               (are_propagated && (is_in_namespace(key, "kubernetes.io") || is_in_namespace(key, "openshift.io")))) {
      tags.error_at(key, "keys of this namespace are reserved for OpenShift");
    } else if (key.empty() || key.size() > 128 || !is_tag_text(key)) {
      tags.error_at(key, "must have 1 to 128 letters, digits and _.:/=+-@ as its key");
    } else if (value.size() > 256 || !is_tag_text(value) || (are_propagated && value.empty())) {
      tags.error_at(key, "must have {} to 256 letters, digits and _.:/=+-@", are_propagated ? 1 : 0);
    }
  }
}

// Messages do not quote URLs: they may contain credentials.
void validate_endpoints(const Section& platform) {
  Distinct names;
  for (const Section& endpoint : platform.items("serviceEndpoints")) {
    names.add(endpoint.at("name"));
    const std::string_view written = endpoint.text("url");
    if (written.empty()) continue;
    const auto url =
        net::parse_url(written.find("://") == std::string_view::npos ? fmt::format("https://{}", written) : std::string(written));
    if (!url.ok() || url->scheme != "https") {
      endpoint.error_at("url", "is not an https URL").hint("for example https://ec2.example.com, without a login");
    } else if (url->target != "/") {
      endpoint.error_at("url", "must not have a path");
    }
  }
}

void validate_network(const Section& platform) {
  if (platform.has("hostedZone") && !platform.has("subnets")) {
    platform.error_at("hostedZone", "requires platform.aws.subnets").hint("an existing zone belongs to an existing network");
  }
  Distinct subnets;
  for (const Section& subnet : platform.items("subnets")) subnets.add(subnet);
  if (platform.has("hostedZoneRole")) {
    platform.need("hostedZone", "hostedZoneRole is the role that may write to it");
    const std::string_view mode = platform.document().text({"credentialsMode"});
    if (mode != "Passthrough" && mode != "Manual") {
      platform.document().error("credentialsMode", "must be Passthrough or Manual with platform.aws.hostedZoneRole{}",
                                mode.empty() ? "" : fmt::format(", got {}", mode));
    }
  }
  if (platform.has("publicIpv4Pool") && platform.document().text({"publish"}) != "External") {
    platform.error_at("publicIpv4Pool", "requires publish: External");
  }
}

void validate_volume(const Section& volume) {
  const std::string type = to_lower(volume.text("type"));
  const std::int64_t rate = volume.number("iops").value_or(0);
  volume.not_negative("size");
  if (type.empty()) {
    volume.not_negative("iops");
    return;
  }
  if (type == "io1" || type == "io2") {
    if (rate <= 0) volume.error_at("iops", "must be at least 1 for type {}, got {}", type, rate);
  } else if (type == "gp3") {
    volume.not_negative("iops");
  } else if (!volume.one_of("type", {"gp2", "gp3", "io1", "io2", "sc1", "st1", "standard"})) {
    return;
  } else if (rate != 0) {
    volume.error_at("iops", "cannot be set for type {}", type).hint("use io1, io2 or gp3");
  }
}

void validate_image(const Section& platform) {
  const std::string_view region = platform.text("region");
  if (std::ranges::find(regions_without_images, region) == regions_without_images.end()) return;
  const Section everywhere = platform.at("defaultMachinePlatform");
  if (platform.has("amiID") || everywhere.has("amiID")) return;
  const Section top(platform.document(), {});
  std::vector<Section> pools = top.items("compute");
  pools.push_back(top.at("controlPlane"));
  const bool all_have =
      std::ranges::all_of(pools, [](const Section& pool) { return pool.at("platform").at("aws").has("amiID"); });
  if (!all_have) everywhere.error_at("amiID", "missing, region {} has no default image", region);
}

}  // namespace

void validate_aws(const Section& platform) {
  validate_network(platform);
  validate_tags(platform);
  validate_endpoints(platform);
  validate_image(platform);
}

void validate_aws_pool(const Section& pool, const Section& platform, bool) {
  validate_zones(pool, platform);
  validate_volume(pool.at("rootVolume"));
  constexpr std::size_t most_groups = 10;  // a machine can have 16
  const std::size_t groups = pool.items("additionalSecurityGroupIDs").size();
  if (groups > most_groups)
    pool.error_at("additionalSecurityGroupIDs", "has {} groups, must have at most {}", groups, most_groups);
  if (groups > 0 && !platform.has("subnets")) {
    pool.error_at("additionalSecurityGroupIDs", "requires platform.aws.subnets")
        .hint("existing security groups belong to an existing network");
  }
  if (pool.has("iamRole") && pool.has("iamProfile")) pool.error_at("iamProfile", "cannot be used with iamRole");
}

}  // namespace slipway::config
