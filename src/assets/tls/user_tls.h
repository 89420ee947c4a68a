// Files in tls/ that the user provides: keys, certificates, the hash of a password.
#pragma once

#include "assets/assets.h"
#include "assets/plan.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::assets {

// Every file that may be given, by its path in the asset directory.
std::span<const std::string> user_tls_files();

struct FoundTls {
  UserTls tls;
  std::vector<std::string> warnings;
};

// Takes them out of a folder, certificates only when the environment asks for them. Pure.
//
//   errors  invalid, all at once, each with its file: half a pair, a key that does not fit, what is expired, not valid yet,
//   broken,
//           no authority where one is needed
Result<FoundTls> find_user_tls(const Snapshot& folder, const Environment& environment);

}  // namespace slipway::assets
