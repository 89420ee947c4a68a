#include "bootstrap/inputs.h"

#include "base/check.h"
#include "base/json.h"
#include "base/text.h"
#include "bootstrap/in_place.h"
#include "release/release.h"

namespace slipway::bootstrap {

namespace {

Result<config::ImageMode> read_image_mode(sys::Files& files, const std::string& path) {
  const std::optional<std::string> text = TRY(files.read_if_exists(path));
  if (!text) return config::ImageMode::none;
  const Json value = TRY(parse_json(*text, path));
  const std::string policy = text_of(value, {"policy"});
  if (const std::optional<config::ImageMode> mode = config::find_image_mode(policy)) return *mode;
  return error(Code::invalid, "{}: policy '{}' is unknown (use None, BuildOnBootstrap or PreBuilt)", path, to_utf8(policy));
}

}  // namespace

const std::string& Inputs::image(std::string_view component) const {
  const auto found = images.find(component);
  CHECK(found != images.end());
  return found->second;
}

Result<Inputs> read_inputs(sys::Files& files, const std::string& assets, const std::string& release_image) {
  Inputs inputs{.assets = assets, .release_image = release_image};
  const release::Reference reference = TRY(release::parse_reference(release_image).context("the release image"));
  if (!reference.digest) {
    return error(Code::invalid, "release image {}: must have a digest (NAME@sha256:...), not a tag", release_image);
  }
  constexpr const char* from = "reading the files that release-image.service extracts from the release image";
  const std::string references = TRY(files.read(assets + "/image-references").context(from));
  const std::string metadata = TRY(files.read(assets + "/release-metadata").context(from));
  const release::Release release = TRY(release::parse_release(*reference.digest, references, metadata).context(release_image));
  inputs.version = release.version;
  for (const auto& [name, component] : release.components) inputs.images.emplace(name, release::to_string(component.image));

  std::vector<std::string> missing;
  for (const std::string_view name : needed_components) {
    if (!inputs.has_image(name)) missing.emplace_back(name);
  }
  if (!missing.empty())
    return error(Code::invalid, "release {}: has no {}, which the bootstrap requires", release.version, join(missing, ", "));
  const std::map<std::string, std::string> versions = release.versions();
  const auto kubernetes = versions.find("kubernetes");
  if (kubernetes == versions.end()) {
    return error(Code::invalid, "release {}: has no version of Kubernetes", release.version);
  }
  inputs.kubernetes_version = kubernetes->second;

  const auto has = [&](const char* path) -> Result<bool> { return TRY(files.info(assets + path)).has_value(); };
  inputs.has_cloud_config = TRY(has("/manifests/cloud-provider-config.yaml"));
  inputs.has_cloud_ca = TRY(has("/tls/cloud-ca-cert.pem"));
  inputs.has_custom_dns = TRY(has("/manifests/openshift-lbconfig-custom-dns.yaml"));
  inputs.has_overrides = TRY(has("/original_cvo_overrides.patch"));
  inputs.image_mode = TRY(read_image_mode(files, assets + "/" + image_mode_file));
  inputs.in_place = TRY(has((std::string("/") + in_place_template).c_str()));
  inputs.etcd_stopped = inputs.in_place && TRY(files.info(stopped_etcd_pod)).has_value();
  return inputs;
}

}  // namespace slipway::bootstrap
