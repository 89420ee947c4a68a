// Masks secrets and long payloads in files of an asset directory, so that the files can be shown.
//
//   Masker masker;                              // use one for all files that are compared with each other
//   masker.text("openshift/a.yaml", content)    // "data:\n  password: '*** #1'\n"
//
// Equal secrets have the same number, different secrets have different numbers. So a diff shows that a secret changed.
#pragma once

#include "base/json.h"

#include <map>
#include <string>
#include <string_view>

namespace slipway::assets {

// Whether the value of a key is secret: true for "password", "pullSecret", "tls.key"; false for "secretName".
bool is_secret_key(std::string_view key);

// Threads: one at a time.
class Masker {
 public:
  // Formats YAML and JSON files as YAML without comments, because comments may contain secrets. Masks data of Secrets, private
  // keys, values of secret keys (also in documents in strings) and credentials in URLs. Replaces base64 payloads and data URLs
  // by their size and number. Other files are masked completely, except certificates.
  std::string text(std::string_view path, std::string_view content);

 private:
  Json shown(const Json& value, std::string_view key, bool is_secret);
  std::string shown_text(std::string_view text, std::string_view key, bool is_secret);
  std::string shown_lines(std::string_view text);
  std::string secret(std::string_view text);
  std::string payload(std::string_view text, std::string_view kind);
  std::size_t number_of(std::string_view text);

  std::map<std::string, std::size_t, std::less<>> numbers_;
};

}  // namespace slipway::assets
