// Who this host is to the service: its ID and its key.
#pragma once

#include "agent/system_tree.h"
#include "base/result.h"
#include "base/secret.h"
#include "sys/files.h"

#include <string>
#include <string_view>

namespace slipway::agent {

// The key is made on the host and never leaves it. The service records the public key when the host registers, and then accepts
// the host's token only in requests that the key has signed: a token that another machine has read is of no use there.
struct Identity {
  std::string host_id;
  Secret key{};              // PEM, ECDSA P-256
  std::string public_key{};  // PEM
};

// The identity in the folder; missing files are made: FOLDER/key.pem (0600), FOLDER/host-id. The folder is in memory, so a host
// has a new key after each boot of the live system, and the same one after each start of the agent.
//
//   forced_id  takes the place of the ID that the hardware gives; "": none
//   errors     invalid: a key that cannot be read; those of files
Result<Identity> load_identity(sys::Files& files, const std::string& folder, const SystemTree& tree, std::string_view forced_id);

// Replaces the ID by one that the key is part of, for a machine with the same hardware numbers as another one that is connected.
Result<Identity> with_own_id(sys::Files& files, const std::string& folder, const SystemTree& tree, Identity identity);

// The value of the header X-Host-Signature: base64 of the ECDSA signature with SHA-256 (DER) of the text
//
//   METHOD TARGET
//   SHA256
//
// without a line end after the SHA-256 of the body, which is in lower-case hexadecimal digits. TARGET is path and query as sent.
Result<std::string> sign_request(const Secret& key, std::string_view method, std::string_view target, std::string_view body);

}  // namespace slipway::agent
