// Files of an asset directory as they may be shown: without secrets, and without payloads that nobody reads.
//
//   Masker masker;                              // one for all files that are compared with each other
//   masker.text("openshift/a.yaml", content)    // "data:\n  password: '*** #1'\n"
//
// The same secret has the same number everywhere, another one another: so a change of it is seen.
#pragma once

#include "base/json.h"

#include <map>
#include <string>
#include <string_view>

namespace slipway::assets {

// Whether the value of such a key is a secret: "password", "pullSecret", "tls.key"; not "secretName".
bool is_secret_key(std::string_view key);

// Threads: one at a time.
class Masker {
 public:
  // YAML and JSON as YAML, laid out anew, without remarks: these may hold anything. What is masked: data of Secrets, private
  // keys, what passwords, tokens, pull secrets and the like are called, in texts inside of it too, credentials in URLs. Base64
  // payloads and data URLs are replaced by their size and number. Of a file that is neither YAML nor JSON nothing but
  // certificates is shown.
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
