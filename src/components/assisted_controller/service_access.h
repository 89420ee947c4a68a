// Requests of the controller to the service of the installation.
#pragma once

#include "base/json.h"
#include "base/secret.h"
#include "components/assisted_controller/reports.h"
#include "net/environment.h"

#include <string>
#include <vector>

namespace slipway::components::assisted_controller {

struct ServiceOptions {
  std::string url;  // "https://192.168.126.1:8090"
  std::string cluster;
  std::string ca_file{};  // PEM; empty: the system's authorities
  Secret token{};         // of kind controller
};

// errors of all functions: those of assist::refusal; unavailable: no connection. Threads: any.
class ServiceAccess {
 public:
  ServiceAccess(const net::Environment& environment, ServiceOptions options)
      : environment_(environment), options_(std::move(options)) {}

  // A service that does not know the cluster or the token any more is no error: see ServiceState::closed_because.
  Result<ServiceState> look() const;
  Result<> send(const Report& report) const;
  Result<> send_log(const std::string& text) const;

 private:
  Result<net::Answer> request(const std::string& method, const std::string& path, std::string body,
                              const std::string& content_type) const;
  Result<Json> get(const std::string& path) const;

  const net::Environment& environment_;
  const ServiceOptions options_;
};

}  // namespace slipway::components::assisted_controller
