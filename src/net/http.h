// Http: requests to servers, one interface for all of slipway; curl behind it (curl_http.h).
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

// The value of the first header of this name, case ignored.
std::optional<std::string_view> find_header(const std::vector<Header>& headers, std::string_view name);

// How a server proves itself to us and we to it.
struct Trust {
  std::string ca_file{};     // PEM; the system's when empty
  std::string ca_pem{};      // the same as text; at most one of both, and nobody else is believed then
  bool plain_http = false;   // http:// is allowed to this server; to this machine it always is
  bool any_server = false;   // the server's certificate is not looked at: for probes that send nothing and believe nothing
  std::string client_pem{};  // our certificate, PEM, its chain behind it; none when empty
  Secret client_key{};       // and its key
  std::string connect_to{};  // "127.0.0.1:6443": where to connect instead of the URL's host and port, which stay the name that
                             // the server has to prove (tls-server-name of kubeconfigs); no proxy is asked then
};

struct Answer {
  int status = 0;
  std::vector<Header> headers;
  std::string body;  // empty when a sink took it

  // The first header of this name, case ignored.
  std::optional<std::string_view> header(std::string_view name) const;
};

struct Request {
  std::string method = "GET";
  Url url;
  std::vector<Header> headers{};
  std::optional<Secret> authorization{};  // value of the Authorization header; never logged, never sent to another host
  std::string body{};
  // Body read in pieces instead of `body`: fills the buffer, returns how much, 0 at the end. body_size must be set.
  std::function<Result<std::size_t>(char* buffer, std::size_t size)> body_reader{};
  std::uint64_t body_size = 0;
  // Sees status and headers of a 2xx answer before the sink gets its first piece; an error ends the transfer and is what
  // send() returns.
  std::function<Result<>(const Answer& head)> check_head{};
  Trust trust{};
  Milliseconds connect_limit{10'000};
  // No byte in or out for so long is a failure; the whole may take as long as it flows. 0: no such limit, for watches; TCP's
  // keep-alives then notice within a minute that the server's machine is gone.
  Milliseconds idle_limit{60'000};
  Milliseconds whole_limit{0};             // from the first byte out to the last one in; 0: none
  std::uint64_t answer_limit = 64u << 20;  // bytes of an answer kept in memory; more is an error. Not for a sink
};

// Takes an answer's body in pieces; an error ends the transfer and is what send() returns. Called for status 2xx only:
// bodies of other answers are kept in Answer::body, up to 64 kB, for the message.
using Sink = std::function<Result<>(std::string_view piece)>;

// Sends requests. Redirects are answers (3xx): who follows them decides what to send along.
//
//   errors   unavailable: no connection, name not found, connection lost, idle too long (the message has the host and curl's
//            words); denied: the server's certificate is not trusted; cancelled; invalid: answer too large, no HTTP, plain http
//            to a server that is neither on this machine nor allowed to be spoken to so
//   time     see the limits of Request; returns within milliseconds of a stop
//   threads  any; each call has a connection of its own or one kept from an earlier call
class Http {
 public:
  virtual ~Http() = default;
  virtual Result<Answer> send(const Request& request, std::stop_token stop, const Sink& sink = nullptr) = 0;
};

}  // namespace slipway::net
