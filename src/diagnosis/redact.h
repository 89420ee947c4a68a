// Removes secrets from files of a log bundle, in every encoding that this program and the machines write.
//
//   const Redactor redactor({Secret("hunter2hunter2")});
//   redactor.redact("proxy=http://u:hunter2hunter2@p:3128 aHVudGVyMmh1bnRlcjI=")   // "proxy=http://***@p:3128 ***"
//
// A secret is recognized by its value, if it is known, or by its kind: private keys in PEM, JSON web tokens, bearer and basic
// authorization, user and password in a URL, hashes of passwords, fields that hold credentials (pull secrets, kubeconfigs), and
// the content of data URLs, which carry files of users' MachineConfigs. Each is also found below percent encoding, JSON and
// systemd escapes, base64 at any alignment, gzip, and any nesting of these up to `deepest` levels.
#pragma once

#include "base/secret.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::diagnosis {

// Threads: any; an object of it is never changed.
class Redactor {
 public:
  static constexpr int deepest = 5;
  // A shorter value would also be found in words that have nothing to do with it. Such a secret is found by its kind only.
  static constexpr std::size_t shortest_value = 6;
  static constexpr std::size_t largest_file = 256u << 20;  // unpacked

  explicit Redactor(const std::vector<Secret>& known);
  Redactor(Redactor&&) noexcept;
  ~Redactor();

  // The content with "***" in place of each secret, and of all base64 or gzip data around it. A gzip file is unpacked, redacted
  // and packed again. What cannot be looked at (a broken gzip file, one larger than `largest_file`) is replaced by a sentence.
  std::string redact(std::string content) const;

 private:
  class Search;
  std::unique_ptr<const Search> search_;
};

}  // namespace slipway::diagnosis
