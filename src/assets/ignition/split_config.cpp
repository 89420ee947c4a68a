#include "assets/ignition/split_config.h"

#include "assets/ignition/pointer.h"
#include "base/digest.h"
#include "base/text.h"
#include "config/platforms.h"
#include "ignition/data_url.h"
#include "ignition/gzip.h"
#include "ignition/validate.h"

#include <algorithm>
#include <array>

namespace slipway::assets {

namespace {

Result<std::string> encode(std::string_view text, UserDataForm form) {
  switch (form) {
    case UserDataForm::plain: return std::string(text);
    case UserDataForm::base64: return base64_encode(text);
    case UserDataForm::gzip_base64: return base64_encode(TRY(ignition::gzip(text)));
  }
  return std::string();
}

ignition::Proxy proxy_of(const config::Proxy& proxy) {
  ignition::Proxy made;
  if (!proxy.http_proxy.empty()) made.http_proxy = proxy.http_proxy;
  if (!proxy.https_proxy.empty()) made.https_proxy = proxy.https_proxy;
  for (const std::string_view each : split(proxy.no_proxy, ',')) {
    if (!trim(each).empty()) made.no_proxy.emplace_back(trim(each));
  }
  return made;
}

}  // namespace

std::optional<UserDataLimit> user_data_limit(std::string_view platform) {
  const config::PlatformRow* row = config::find_platform_row(platform);
  if (!row || !row->user_data) return std::nullopt;
  return UserDataLimit{row->name, row->user_data->form, row->user_data->bytes};
}

Result<bool> fits(std::string_view text, const UserDataLimit& limit) {
  return TRY(encode(text, limit.form)).size() <= limit.bytes;
}

Result<ignition::Config> make_fetching_config(std::string_view text, const std::string& url, const config::InstallConfig& config,
                                              const UserDataLimit& limit) {
  ignition::Config made{.ignition = {.version = ignition::Version::v3_2}};
  made.ignition.config.replace.source = url;
  made.ignition.config.replace.verification.hash = "sha256-" + sha256_hex(text);
  if (config.proxy) made.ignition.proxy = proxy_of(*config.proxy);
  if (!config.additional_trust_bundle.empty()) {
    made.ignition.security.tls.certificate_authorities = {
        {.source = ignition::encode_data_url(config.additional_trust_bundle, ignition::DataEncoding::base64)}};
  }
  TRY(ignition::validate(made).to_result().context(fmt::format("the config that fetches {}", url)));
  const std::string small = ignition_text(made);
  if (TRY(fits(small, limit))) return made;
  return error(Code::invalid,
               "platform {}: user data has at most {} bytes, but the config that fetches {} is larger (shorten "
               "additionalTrustBundle or the URL)",
               limit.platform, limit.bytes, url);
}

}  // namespace slipway::assets
