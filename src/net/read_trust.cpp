#include "net/read_trust.h"

namespace slipway::net {

Result<Trust> read_trust(sys::Files& files, const std::string& ca, const std::string& certificate, const std::string& key) {
  Trust trust;
  trust.ca_pem = TRY(files.read(ca));
  trust.client_pem = TRY(files.read(certificate));
  trust.client_key = Secret(TRY(files.read(key)));
  return trust;
}

}  // namespace slipway::net
