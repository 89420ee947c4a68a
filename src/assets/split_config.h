// How a config reaches Ignition on a machine: platforms hand a machine only so much (providers 2.0). What does not fit is put
// where the machine can fetch it, and the machine is handed a small config that says where.
#pragma once

#include "base/result.h"
#include "ignition/types.h"

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

// errors: internal: zlib has no memory
Result<std::string> encode_user_data(std::string_view text, UserDataForm form);

// Where the config will be, and what a machine needs to get there.
struct RemoteConfig {
  std::string url;
  std::string certificate_authority{};          // PEM; whom to trust there besides the system's own; may be empty
  std::vector<ignition::HttpHeader> headers{};  // of the request
  ignition::Proxy proxy{};                      // of the machine
  bool is_compressed = false;                   // the answer is the config in gzip
};

struct SplitConfig {
  std::string user_data;                // what the platform is handed, in its form
  std::optional<std::string> remote{};  // what the URL has to answer with; nothing when the config itself fits
};

// errors  invalid: a URL that Ignition does not take, a limit that even the small config exceeds
Result<SplitConfig> split_config(const ignition::Config& config, const UserDataLimit& limit, const RemoteConfig& remote);

}  // namespace slipway::assets
