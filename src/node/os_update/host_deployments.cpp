#include "node/os_update/host_deployments.h"

#include "base/json.h"

#include <algorithm>
#include <optional>

namespace slipway::node {

namespace {

constexpr std::string_view rpm_ostree_name = "the output of rpm-ostree status --json";
constexpr std::string_view bootc_name = "the output of bootc status --json";

Result<HostDeployment> of_rpm_ostree(const Json& entry) {
  HostDeployment found;
  found.deployment.os = TRY(require_string(entry, {"osname"}).context(rpm_ostree_name));
  found.deployment.commit = TRY(require_string(entry, {"checksum"}).context(rpm_ostree_name));
  found.deployment.serial = std::to_string(integer_of(entry, {"serial"}));
  found.deployment.version = text_of(entry, {"version"});
  found.deployment.booted = is_true(entry, {"booted"});
  found.image = text_of(entry, {"container-image-reference"});
  found.image_digest = text_of(entry, {"container-image-reference-digest"});
  found.is_staged = is_true(entry, {"staged"});
  found.packages = texts_of(entry, {"requested-packages"});
  found.base_removals = texts_of(entry, {"requested-base-removals"});
  return found;
}

// Nothing if bootc has no deployment in this role.
Result<std::optional<HostDeployment>> of_bootc(const Json& status, std::string_view role) {
  const Json* entry = find(status, {role});
  if (!entry || !entry->is_object()) return std::optional<HostDeployment>();
  if (const Json* composefs = find(*entry, {"composefs"}); composefs && !composefs->is_null()) {
    return error(Code::invalid,
                 "{}: status.{}: this machine stores its deployments in composefs, which is not supported; install "
                 "it with the OSTree backend",
                 bootc_name, role);
  }
  HostDeployment found;
  found.deployment.os = TRY(require_string(*entry, {"ostree", "stateroot"}).context(bootc_name));
  found.deployment.commit = TRY(require_string(*entry, {"ostree", "checksum"}).context(bootc_name));
  found.deployment.serial = std::to_string(integer_of(*entry, {"ostree", "deploySerial"}));
  found.deployment.version = text_of(*entry, {"image", "version"});
  found.deployment.booted = role == "booted";
  found.image = text_of(*entry, {"image", "image", "image"});
  found.image_digest = text_of(*entry, {"image", "imageDigest"});
  found.is_staged = role == "staged";
  return std::optional(std::move(found));
}

}  // namespace

Result<HostDeployments> parse_rpm_ostree_status(std::string_view text) {
  const Json value = TRY(parse_json(text, rpm_ostree_name));
  HostDeployments deployments;
  for (const Json& entry : find_array(value, {"deployments"})) deployments.push_back(TRY(of_rpm_ostree(entry)));
  return deployments;
}

// A deployment that is written to the disk and boots next, but has not booted yet, is "rollback", too.
Result<HostDeployments> parse_bootc_status(std::string_view text) {
  const Json value = TRY(parse_json(text, bootc_name));
  const Json* status = find(value, {"status"});
  if (!status) return error(Code::invalid, "{}: status: missing", bootc_name);
  const bool is_rollback_next = is_true(*status, {"rollbackQueued"});
  HostDeployments deployments;
  for (const std::string_view role :
       {"staged", is_rollback_next ? "rollback" : "booted", is_rollback_next ? "booted" : "rollback"}) {
    std::optional<HostDeployment> found = TRY(of_bootc(*status, role));
    if (found) deployments.push_back(*std::move(found));
  }
  return deployments;
}

const HostDeployment* find_booted(const HostDeployments& deployments) {
  const auto booted = std::ranges::find_if(deployments, [](const HostDeployment& each) { return each.deployment.booted; });
  return booted == deployments.end() ? nullptr : &*booted;
}

bool is_of_image(const HostDeployment& deployment, std::string_view digest) {
  return deployment.image_digest == digest || deployment.image.ends_with("@" + std::string(digest));
}

bool needs_image(const machineconfig::MachineConfig& config, const HostDeployment& deployment) {
  const std::string_view wanted = config.os_image_url;
  return !wanted.empty() && !is_of_image(deployment, wanted.substr(wanted.rfind('@') + 1));
}

}  // namespace slipway::node
