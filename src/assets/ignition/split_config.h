// Splits the config of the bootstrap machine. Most platforms limit the size of user data. If the config exceeds the limit, the
// user uploads it, and the machine gets a small config that fetches it.
#pragma once

#include "assets/assets.h"
#include "config/platforms.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::assets {

using config::UserDataForm;

struct UserDataLimit {
  std::string_view platform;
  UserDataForm form;
  std::size_t bytes;  // maximum, in that form
};

// Empty for platforms without a limit, and for platforms on which slipway creates no machines.
std::optional<UserDataLimit> user_data_limit(std::string_view platform);

// Whether the text does not exceed the limit. errors: internal: zlib is out of memory
Result<bool> fits(std::string_view text, const UserDataLimit& limit);

// The small config that fetches the whole config. It uses the proxy and trust bundle of the install-config.
//
//   text    the whole config, byte for byte; its hash is verified
//   url     from which the machine fetches the whole config
//   errors  invalid: Ignition does not support the URL; the small config exceeds the limit too
Result<ignition::Config> make_fetching_config(std::string_view text, const std::string& url, const config::InstallConfig& config,
                                              const UserDataLimit& limit);

}  // namespace slipway::assets
