// Encryption of files to public keys, in the format of age, version 1 (https://age-encryption.org/v1): the program `age` reads
// what encrypt_file writes, and the other way round. Keys are those of `age-keygen`, of type X25519.
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "sys/files.h"
#include "sys/random.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::net {

// Checks a public key, "age1..." with 62 characters. errors: invalid
Result<> check_age_recipient(std::string_view recipient);

// Encrypts a file to all recipients; each of their private keys decrypts it. `to` is replaced and has mode 0600. A failure or a
// kill leaves a part of it, which decrypt_file refuses.
//
//   errors  invalid: no recipient, or one that check_age_recipient refuses; those of Files and Random
//   time    that of reading and writing the file
Result<> encrypt_file(sys::Files& files, sys::Random& random, const std::string& from, const std::string& to,
                      const std::vector<std::string>& recipients);

// Decrypts a file. `to` is replaced, has mode 0600, and is removed again after an error.
//
//   identities  the content of a file of age-keygen: a private key, "AGE-SECRET-KEY-1...", on each line that is not a comment
//   errors      invalid: no private key, not a file of age, damaged or cut off; denied: it is encrypted to other keys
Result<> decrypt_file(sys::Files& files, const std::string& from, const std::string& to, const Secret& identities);

}  // namespace slipway::net
