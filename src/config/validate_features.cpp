#include "config/platform_rules.h"

namespace slipway::config {

namespace {

// The clouds of this version: they can be told to publish nothing, and how credentials are made (installer 2.4).
bool is_cloud(std::string_view platform) { return platform == "aws" || platform == "gcp"; }

void validate_publishing(const Section& top, std::string_view platform) {
  const std::string_view publish = top.text("publish");
  if (publish == "Mixed" || (publish == "Internal" && !is_cloud(platform))) {
    top.error_at("publish", "{} is not possible on platform {}", publish, platform)
        .hint(is_cloud(platform) ? "write External or Internal" : "write External or leave it out");
  }
  const Section strategy = top.at("operatorPublishingStrategy");
  if (strategy.value().is_null()) return;
  if (publish != "Mixed") strategy.error("needs publish: Mixed").hint("leave it out");
}

void validate_credentials(const Section& top, std::string_view platform) {
  const std::string_view mode = top.text("credentialsMode");
  if (mode.empty()) return;
  if (platform == "local") {
    if (mode != "Manual") top.error_at("credentialsMode", "must be Manual on platform local, not {}", mode);
  } else if (!is_cloud(platform)) {
    top.error_at("credentialsMode", "must be left out on platform {}", platform);
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
  if (find(document.value, {"bootstrapInPlace"}) && !top.at("bootstrapInPlace").has("installationDisk")) {
    document.warning("bootstrapInPlace.installationDisk", "is missing; an installation in place needs it");
  }
}

}  // namespace slipway::config
