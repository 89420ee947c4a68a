#include "assets/split_config.h"

#include "assets/gzip.h"
#include "assets/pointer.h"
#include "base/digest.h"
#include "ignition/data_url.h"
#include "ignition/validate.h"

#include <algorithm>
#include <array>

namespace slipway::assets {

namespace {

// What each platform refuses to take (providers 2.0). AWS: the installer's own margin. libvirt: it takes more, but a machine
// reads it in quadratic time. vSphere: what the guest's tools accept. KubeVirt: a Secret.
constexpr std::array<UserDataLimit, 6> limits = {{
    {"aws", UserDataForm::plain, 16000},
    {"gcp", UserDataForm::plain, 262144},
    {"kubevirt", UserDataForm::base64, 1048576},
    {"libvirt", UserDataForm::plain, 700000},
    {"openstack", UserDataForm::base64, 65535},
    {"vsphere", UserDataForm::gzip_base64, 1048576},
}};

ignition::Config small_config(const std::string& text, const RemoteConfig& remote) {
  ignition::Config made{.ignition = {.version = ignition::Version::v3_2, .proxy = remote.proxy}};
  ignition::Resource& source = made.ignition.config.replace;
  source.source = remote.url;
  source.http_headers = remote.headers;
  if (remote.is_compressed) source.compression = "gzip";
  source.verification.hash = "sha256-" + sha256_hex(text);  // of what was unpacked
  if (!remote.certificate_authority.empty()) {
    made.ignition.security.tls.certificate_authorities = {
        {.source = ignition::encode_data_url(remote.certificate_authority, ignition::DataEncoding::base64)}};
  }
  return made;
}

}  // namespace

std::optional<UserDataLimit> user_data_limit(std::string_view platform) {
  const auto* found = std::ranges::find(limits, platform, &UserDataLimit::platform);
  return found == limits.end() ? std::nullopt : std::optional(*found);
}

Result<std::string> encode_user_data(std::string_view text, UserDataForm form) {
  switch (form) {
    case UserDataForm::plain: return std::string(text);
    case UserDataForm::base64: return base64_encode(text);
    case UserDataForm::gzip_base64: return base64_encode(TRY(gzip(text)));
  }
  return std::string();
}

Result<SplitConfig> split_config(const ignition::Config& config, const UserDataLimit& limit, const RemoteConfig& remote) {
  const std::string text = ignition_text(config);
  std::string whole = TRY(encode_user_data(text, limit.form));
  if (whole.size() <= limit.bytes) return SplitConfig{.user_data = std::move(whole)};
  const ignition::Config small = small_config(text, remote);
  TRY(ignition::validate(small).to_result().context("the config that leads to the whole one"));
  SplitConfig split;
  split.user_data = TRY(encode_user_data(ignition_text(small), limit.form));
  if (split.user_data.size() > limit.bytes) {
    return error(Code::invalid,
                 "platform {} hands at most {} bytes to a machine, and the config that leads to the whole one has {}: shorten "
                 "additionalTrustBundle or the URL",
                 limit.platform, limit.bytes, split.user_data.size());
  }
  split.remote = text;
  if (remote.is_compressed) split.remote = TRY(gzip(text));
  return split;
}

}  // namespace slipway::assets
