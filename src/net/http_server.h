// HttpServer: answers requests over HTTP and HTTPS; libmicrohttpd behind it.
//
//   HttpServer server = TRY(HttpServer::listen({.address = "0.0.0.0", .port = 22623, .tls = tls}, answer));
//   ServerAnswer answer(const ServerRequest& request) { return {.status = 200, .body = config}; }
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "net/http.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::net {

struct ServerRequest {
  std::string method;  // "GET"
  std::string path;    // "/config/master", decoded, without the query
  std::string query;   // as it came, without "?"
  std::vector<Header> headers;
  std::string body;  // at most ServerOptions::body_limit
  std::string peer;  // address of the client, without its port

  std::optional<std::string_view> header(std::string_view name) const;  // the first of this name, case ignored
};

struct ServerAnswer {
  int status = 200;
  std::vector<Header> headers{};
  // Shared, so that one large body serves many requests without a copy.
  std::shared_ptr<const std::string> body{};
};

// An answer with a text and its type.
ServerAnswer text_answer(int status, std::string text, std::string_view type = "text/plain; charset=utf-8");

struct ServerTls {
  std::string certificate;  // PEM, its chain behind it
  Secret key;
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // "0.0.0.0" or "::" for all
  int port = 0;                       // 0: any that is free
  std::optional<ServerTls> tls{};
  int threads = 2;                   // of I/O and TLS; handlers run on eight others for each
  int connections = 512;             // more wait
  int connections_per_address = 0;   // more from one address are closed at once; 0: no limit
  std::size_t body_limit = 1 << 20;  // of a request; larger ones get 413
  Seconds idle_limit{30};
  // From the connection, or the answer before, to the end of a request, and again from there to the end of its answer. A client
  // that sends or reads a byte now and then is never idle; this limit ends its connection. 0: no limit
  Seconds exchange_limit{0};
};

// Serves until it is destroyed; that waits for handlers that run. HEAD is answered by the handler of GET without the body.
class HttpServer {
 public:
  // Called on threads of the server, several at once. A handler that throws or takes long harms only its own request.
  using Handler = std::function<ServerAnswer(const ServerRequest&)>;

  // errors: conflict: the address is in use; invalid: the certificate or key is none; unavailable
  static Result<HttpServer> listen(const ServerOptions& options, Handler handler);

  HttpServer(HttpServer&&) noexcept;
  HttpServer& operator=(HttpServer&&) noexcept;
  ~HttpServer();

  int port() const;

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace slipway::net
