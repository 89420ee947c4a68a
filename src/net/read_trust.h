// Reads a Trust from files.
#pragma once

#include "net/http.h"
#include "sys/files.h"

#include <string>

namespace slipway::net {

// Authorities, client certificate and client key: paths of PEM files. errors: those of Files::read
Result<Trust> read_trust(sys::Files& files, const std::string& ca, const std::string& certificate, const std::string& key);

}  // namespace slipway::net
