#include "config/platforms.h"
#include "config/rules/platform_rules.h"

namespace slipway::config {

namespace {

void validate_publishing(const Section& top, std::string_view platform) {
  const std::string_view publish = top.text("publish");
  if (publish == "Mixed" || (publish == "Internal" && !platform_row(platform).is_cloud)) {
    top.error_at("publish", "{} is not supported on platform {}", publish, platform)
        .hint(platform_row(platform).is_cloud ? "use External or Internal" : "use External or omit it");
  }
  const Section strategy = top.at("operatorPublishingStrategy");
  if (strategy.value().is_null()) return;
  if (publish != "Mixed") strategy.error("requires publish: Mixed").hint("omit it");
}

void validate_credentials(const Section& top, std::string_view platform) {
  const std::string_view mode = top.text("credentialsMode");
  if (mode.empty()) return;
  if (platform == "local") {
    if (mode != "Manual") top.error_at("credentialsMode", "must be Manual on platform local, got {}", mode);
  } else if (!platform_row(platform).is_cloud) {
    top.error_at("credentialsMode", "must be left out on platform {}", platform);
  }
}

void validate_image_mode(Document& document) {
  if (!document.was_given("imageMode")) return;
  const std::string_view policy = document.text({"imageMode", "policy"});
  if (policy.empty()) document.error("imageMode.policy", "missing").hint("use BuildOnBootstrap, PreBuilt or None");
  if (policy == "BuildOnBootstrap" && find(document.value, {"bootstrapInPlace"})) {
    document.error("imageMode.policy", "a single node that bootstraps itself has no other machine to build its image on")
        .hint("use PreBuilt, with an image that exists");
  }
}

}  // namespace

void validate_features(Document& document) {
  const Section top(document, {});
  if (const std::string platform = platform_type(document); is_supported_platform(platform)) {
    validate_publishing(top, platform);
    validate_credentials(top, platform);
    validate_capabilities(document);
  }
  validate_gates(document);
  if (document.was_given("bootstrapInPlace") && !top.at("bootstrapInPlace").has("installationDisk")) {
    document.warning("bootstrapInPlace.installationDisk", "missing, required for bootstrap in place");
  }
  validate_image_mode(document);
}

}  // namespace slipway::config
