// Values of the secrets in an asset directory, used to remove them from other files.
#pragma once

#include "base/json.h"
#include "base/secret.h"
#include "sys/files.h"

#include <string>
#include <vector>

namespace slipway::assets {

// The secret values of a document: values of secret keys (is_secret_key in masked.h), data of objects of kind Secret (encoded and
// decoded), passwords in URLs (encoded and decoded), private keys. Also searches documents in strings of the document. Pure.
std::vector<Secret> secrets_in(const Json& document);

// The secrets of the install-config and the state file. Files that cannot be read are skipped; other code reports the error.
std::vector<Secret> known_secrets(sys::Files& files, const std::string& directory);

}  // namespace slipway::assets
