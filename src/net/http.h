// Http: the interface for requests to servers. curl_http.h implements it.
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "net/url.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::net {

struct Header {
  std::string name;
  std::string value;
};

// The value of the first header with this name, case-insensitive.
std::optional<std::string_view> find_header(const std::vector<Header>& headers, std::string_view name);

// How client and server authenticate each other.
struct TlsOptions {
  std::string ca_file{};              // PEM; if empty, the system's authorities
  std::string ca_pem{};               // the same as text; set at most one of both. It replaces the system's authorities
  bool plain_http = false;            // allows http:// to this server; to loopback it is always allowed
  bool insecure_skip_verify = false;  // skips the check of the server's certificate: for probes that send and trust nothing
  std::string client_pem{};           // client certificate, PEM, followed by its chain; empty: none
  Secret client_key{};                // its private key
  std::string connect_to{};  // "127.0.0.1:6443": connect here instead of the URL's host and port. The server must still prove the
                             // URL's host (tls-server-name of kubeconfigs). No proxy is used
};

struct Answer {
  int status = 0;
  std::vector<Header> headers;
  std::string body;  // empty if a sink received it

  // The first header with this name, case-insensitive.
  std::optional<std::string_view> header(std::string_view name) const;
};

struct Request {
  std::string method = "GET";
  Url url;
  std::vector<Header> headers{};
  std::optional<Secret> authorization{};  // value of the Authorization header; never logged, never sent to another host
  std::string body{};
  // Reads the body in pieces, instead of `body`: fills the buffer and returns the size, 0 at the end. Requires body_size.
  std::function<Result<std::size_t>(char* buffer, std::size_t size)> body_reader{};
  std::uint64_t body_size = 0;
  // Called with status and headers of a 2xx answer before the sink gets its first piece. An error ends the transfer and is
  // returned by send().
  std::function<Result<>(const Answer& head)> check_head{};
  TlsOptions tls{};
  // Opens a connection of its own. When an idle connection ends without an answer, curl sends the request again on another one:
  // the server may get it twice.
  bool sends_once = false;
  Milliseconds connect_limit{10'000};
  // Maximum time without a byte sent or received. The whole transfer may take longer. 0: no limit, for watches; TCP keep-alives
  // then detect within a minute that the server's machine is gone.
  Milliseconds idle_limit{60'000};
  Milliseconds whole_limit{0};             // from the first byte sent to the last byte received; 0: none
  std::uint64_t answer_limit = 64u << 20;  // maximum bytes of an answer in memory; more is an error. Does not apply to a sink
};

// Receives the body of a 2xx answer in pieces. An error ends the transfer and is returned by send(). The body of other answers
// is kept in Answer::body, up to 64 kB, for error messages.
using Sink = std::function<Result<>(std::string_view piece)>;

// Sends requests. Redirects (3xx) are returned as answers: the caller that follows them decides what to send along.
//
//   errors   unavailable: no connection, unknown host name, connection lost, idle timeout (the message has the host and curl's
//            text); denied: the server's certificate is not trusted; too_large: see answer_limit; cancelled; invalid: not HTTP,
//            plain http to a server that is neither loopback nor allowed
//   time     see the limits of Request; returns within milliseconds after a stop request
//   threads  any; each call uses its own connection or reuses an idle one
class Http {
 public:
  virtual ~Http() = default;
  virtual Result<Answer> send(const Request& request, std::stop_token stop, const Sink& sink = nullptr) = 0;
};

}  // namespace slipway::net
