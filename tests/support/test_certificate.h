// Certificates for tests with connections on this machine.
#pragma once

#include "net/x509.h"

#include <chrono>
#include <string>

namespace slipway::testing_support {

// For servers and clients, valid for a day; a CA if there is no issuer.
inline net::Certificate make_test_certificate(const std::string& name, const net::Certificate* issuer = nullptr) {
  const auto now = std::chrono::floor<Milliseconds>(std::chrono::system_clock::now());
  return net::make_certificate({.subject = {.common_name = name},
                                .is_ca = issuer == nullptr,
                                .server_auth = true,
                                .client_auth = true,
                                .dns_names = {"api.demo.example"},
                                .ip_addresses = {"127.0.0.1"},
                                .valid_from = now - std::chrono::hours(1),
                                .valid_for = std::chrono::hours(24)},
                               issuer)
      .value();
}

}  // namespace slipway::testing_support
