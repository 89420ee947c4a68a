// Files in tls/ that the user provides: keys, certificates, the hash of a password.
#pragma once

#include "assets/assets.h"
#include "assets/state.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::assets {

// Paths of all files that the user may provide, relative to the asset directory.
std::span<const std::string> user_tls_files();

struct FoundTls {
  UserTls tls;
  std::vector<std::string> warnings;
};

// Reads and checks the user's files in a folder. Certificates are used only with environment.load_certificates. Pure.
//
//   errors  invalid, with all findings by file: a certificate without its key or a key without its certificate, a key that does
//           not match, a certificate that is expired, not valid yet, broken or not a certificate authority
Result<FoundTls> find_user_tls(const Snapshot& folder, const Environment& environment);

}  // namespace slipway::assets
