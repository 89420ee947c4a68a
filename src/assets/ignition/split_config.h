// How the config of the bootstrap machine reaches it. The user data of most platforms has a limit. A config that exceeds it is
// uploaded by the user, and the machine gets a small config that fetches it.
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
  std::size_t bytes;  // at most, in that form
};

// Nothing for platforms that take any size, and for those without machines of ours.
std::optional<UserDataLimit> user_data_limit(std::string_view platform);

// Whether a platform hands a machine this text. errors: internal: zlib has no memory
Result<bool> fits(std::string_view text, const UserDataLimit& limit);

// The config to hand to a machine instead of one that does not fit: it has the machine fetch that, and trust and use for it what
// the install-config says of authorities and proxies.
//
//   text    of the whole config, byte for byte
//   url     where it will be
//   errors  invalid: a URL that Ignition does not take, a limit that even the small config exceeds
Result<ignition::Config> make_fetching_config(std::string_view text, const std::string& url, const config::InstallConfig& config,
                                              const UserDataLimit& limit);

}  // namespace slipway::assets
