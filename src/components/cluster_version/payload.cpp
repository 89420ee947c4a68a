#include "components/cluster_version/payload.h"

#include "base/json.h"
#include "components/cluster_version/image.h"
#include "components/cluster_version/release_manifests.h"
#include "components/cluster_version/settings.h"

namespace slipway::components::cluster_version {

namespace {

constexpr const char* termination_log = "/dev/termination-log";

Result<Payload> read_payload(const Environment& environment) {
  const release::Release release = TRY(release_of_image(environment.files, ""));
  const VersionSettings settings{.release_image = "", .profile = cluster_profile()};
  const std::vector<Manifest> manifests = TRY(all_manifests(environment.files, settings));
  const std::map<std::string, std::string> versions = release.versions();
  const auto kubernetes = versions.find("kubernetes");
  return Payload{.version = release.version,
                 .kubernetes = kubernetes == versions.end() ? "" : kubernetes->second,
                 .manifests = manifests.size()};
}

}  // namespace

std::string to_text(const Payload& payload) {
  const Json value = {{"version", payload.version}, {"kubernetes", payload.kubernetes}, {"manifests", payload.manifests}};
  return emit_json(value, JsonStyle::compact);
}

Result<Payload> parse_payload(std::string_view text) {
  const Json value = TRY(parse_json(text, "the payload"));
  Payload payload;
  payload.version = TRY(require_string(value, {"version"}));
  payload.kubernetes = TRY(require_string(value, {"kubernetes"}));
  const Json* manifests = find(value, {"manifests"});
  if (!manifests || !manifests->is_int64()) return error(Code::invalid, "the payload: manifests: missing, must be a number");
  payload.manifests = static_cast<std::size_t>(manifests->get_int64());
  return payload;
}

Result<> run_payload(const Environment& environment, const Arguments& arguments) {
  if (!arguments.empty()) return error(Code::invalid, "usage: cluster-version-operator payload");
  const Result<Payload> payload = read_payload(environment);
  // Not by a rename: the file is a mount.
  TRY(environment.files.append(termination_log, payload.ok() ? to_text(payload.value()) : payload.error().message(), 0644));
  if (!payload.ok()) return payload.error();
  environment.print(to_text(payload.value()) + "\n");
  return Ok{};
}

}  // namespace slipway::components::cluster_version
