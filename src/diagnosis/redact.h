// Removes secrets from files of a log bundle, in every encoding that slipway and the machines write.
//
//   const Redactor redactor({Secret("hunter2hunter2")});
//   redactor.redact("proxy=http://u:hunter2hunter2@p:3128 aHVudGVyMmh1bnRlcjI=")   // "proxy=http://***@p:3128 ***"
//
// A secret is recognized by its value, if it is known, or by its form (secret_forms.h): private keys in PEM, JSON web tokens,
// bearer and basic authorization, user and password in a URL, hashes of passwords, fields that hold credentials (pull secrets,
// kubeconfigs), and the content of data URLs, which carry files of users' MachineConfigs. Secrets are also found in percent
// encoding, JSON and systemd escapes, base64 at any alignment, gzip, and any nesting of these up to `deepest` levels.
#pragma once

#include "base/secret.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::diagnosis {

// Threads: any; a Redactor is immutable.
class Redactor {
 public:
  static constexpr int deepest = 5;
  // Shorter values would match unrelated words. Such secrets are recognized by their form only.
  static constexpr std::size_t shortest_value = 6;
  static constexpr std::size_t largest_file = 256u << 20;  // unpacked

  explicit Redactor(const std::vector<Secret>& known);
  Redactor(Redactor&&) noexcept;
  ~Redactor();

  // Returns the content with "***" in place of each secret and of the base64 or gzip data around it. A gzip file is unpacked,
  // redacted and packed again. A file that cannot be searched (broken gzip, or larger than `largest_file`) is replaced by a
  // sentence.
  std::string redact(std::string content) const;

 private:
  class Search;
  std::unique_ptr<const Search> search_;
};

}  // namespace slipway::diagnosis
