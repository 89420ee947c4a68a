// Values of secrets that an asset directory holds, so that they can be found and removed elsewhere.
#pragma once

#include "base/json.h"
#include "base/secret.h"
#include "sys/files.h"

#include <string>
#include <vector>

namespace slipway::assets {

// The values of a document that must not be shown: those of secret keys (is_secret_key in masked.h), of objects of kind Secret
// (decoded, too), passwords in URLs as they are and decoded, private keys; also in documents inside of its texts. Pure.
std::vector<Secret> secrets_in(const Json& document);

// Those of the install-config and the state file. What cannot be read has none: the command that needs it reports that.
std::vector<Secret> known_secrets(sys::Files& files, const std::string& directory);

}  // namespace slipway::assets
