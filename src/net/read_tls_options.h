// Reads a TlsOptions from files.
#pragma once

#include "net/http.h"
#include "sys/files.h"

#include <string>

namespace slipway::net {

// Authorities, client certificate and client key: paths of PEM files. errors: those of Files::read
Result<TlsOptions> read_tls_options(sys::Files& files, const std::string& ca, const std::string& certificate,
                                    const std::string& key);

}  // namespace slipway::net
