// How the bootstrap machine's config reaches it: platforms hand a machine only so much (providers 2.0). Where the whole config
// does not fit, the user puts it where the machine can fetch it, and the machine is handed a small one that does.
#pragma once

#include "assets/assets.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::assets {

// In which form a platform takes the text of a config.
enum class UserDataForm { plain, base64, gzip_base64 };

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
