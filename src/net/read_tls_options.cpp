#include "net/read_tls_options.h"

namespace slipway::net {

Result<TlsOptions> read_tls_options(sys::Files& files, const std::string& ca, const std::string& certificate,
                                    const std::string& key) {
  TlsOptions tls;
  tls.ca_pem = TRY(files.read(ca));
  tls.client_pem = TRY(files.read(certificate));
  tls.client_key = Secret(TRY(files.read(key)));
  return tls;
}

}  // namespace slipway::net
