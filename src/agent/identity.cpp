#include "agent/identity.h"

#include "agent/inventory.h"
#include "base/digest.h"
#include "base/text.h"
#include "net/x509.h"

#include <fmt/core.h>

namespace slipway::agent {

namespace {

std::string key_file(const std::string& folder) { return folder + "/key.pem"; }
std::string id_file(const std::string& folder) { return folder + "/host-id"; }

Result<Secret> load_key(sys::Files& files, const std::string& path) {
  const std::optional<std::string> text = TRY(files.read_if_exists(path));
  if (text) return net::private_key(Secret(*text)).context(path);
  Secret key = TRY(net::make_key());
  TRY(files.write(path, key.reveal(), 0600));
  return key;
}

}  // namespace

Result<Identity> load_identity(sys::Files& files, const std::string& folder, const SystemTree& tree, std::string_view forced_id) {
  Identity identity;
  identity.key = TRY(load_key(files, key_file(folder)));
  identity.public_key = TRY(net::public_key(identity.key));
  const std::optional<std::string> recorded = TRY(files.read_if_exists(id_file(folder)));
  identity.host_id = !forced_id.empty() ? std::string(forced_id) : recorded ? std::string(trim(*recorded)) : host_id(tree, "");
  if (!recorded || *recorded != identity.host_id) TRY(files.write(id_file(folder), identity.host_id, 0600));
  return identity;
}

Result<Identity> with_own_id(sys::Files& files, const std::string& folder, const SystemTree& tree, Identity identity) {
  identity.host_id = host_id(tree, sha256_hex(identity.public_key));
  TRY(files.write(id_file(folder), identity.host_id, 0600));
  return identity;
}

Result<std::string> sign_request(const Secret& key, std::string_view method, std::string_view target, std::string_view body) {
  return base64_encode(TRY(net::sign(key, fmt::format("{} {}\n{}", method, target, sha256_hex(body)))));
}

}  // namespace slipway::agent
