// The server that the programs of the service share: records, their one thread, the API, clients that wait.
#pragma once

#include "service/api.h"
#include "service/installation.h"
#include "service/server_certificate.h"

#include <functional>
#include <optional>
#include <string>

namespace slipway::service {

inline constexpr const char* default_openshift_version = "4.20";

struct ServerSettings {
  std::string state{};    // folder
  std::string address{};  // to listen on
  int port = 0;
  std::optional<ServerCertificate> certificate{};  // none: plain HTTP
  bool stops_at_limits = false;
  bool gives_images = false;  // to hosts; it warns without one
  ApiOptions api{};
};

// What a program does besides. Both may be null.
struct ServerHooks {
  // Before the server answers.
  std::function<Result<>(Core& core)> prepare{};
  // When the server answers, and again after each change of a record or after the returned time. On the thread of run_server.
  std::function<Milliseconds(Core& core)> drive{};
};

// Serves until a stop is requested. Prints the address when it answers.
//
//   store   of the state folder (open_state)
//   errors  those of Core and HttpServer, and of `prepare`; those of the live image, if there is one
Result<> run_server(const net::Environment& environment, Store store, ServerSettings settings, Installation& installation,
                    const ServerHooks& hooks);

// The database of the service in its folder, which is made if it does not exist. errors: those of Store and Files
Result<Store> open_state(const net::Environment& environment, const std::string& folder);

}  // namespace slipway::service
