// HttpServer: serves HTTP and HTTPS with libmicrohttpd.
//
//   HttpServer server = TRY(HttpServer::listen({.address = "0.0.0.0", .port = 22623, .tls = tls}, answer));
//   ServerAnswer answer(const ServerRequest& request) { return {.status = 200, .body = config}; }
#pragma once

#include "base/guarded.h"
#include "base/result.h"
#include "base/secret.h"
#include "net/http.h"

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::net {

struct ServerRequest {
  std::string method;  // "GET"
  std::string path;    // "/config/master", decoded, without the query
  std::string query;   // as received, without "?"
  std::vector<Header> headers;
  std::string body;  // at most ServerOptions::body_limit
  std::string peer;  // address of the client, without its port

  std::optional<std::string_view> header(std::string_view name) const;  // the first with this name, case-insensitive
};

// A part of a regular file on this machine.
struct FilePart {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// One piece of a body that is put together from several.
struct BodyPart {
  std::shared_ptr<const std::string> text{};  // null: the part is in `file`
  FilePart file{};

  std::uint64_t length() const { return text ? text->size() : file.length; }
};

// The body of an answer that is written piece by piece, long after the handler returned: server-sent events, answers that wait
// for something. Threads: any.
class AnswerStream {
 public:
  // Sends the text as soon as the client takes it. False if the client has left, or takes so little that more than 1 MiB waits;
  // the text is then dropped and the connection ends.
  bool write(std::string_view text);

  // Ends the answer after the text so far.
  void end();

  bool is_open() const;  // the client has not left, and the answer has not ended

 private:
  friend class HttpServer;
  friend struct StreamReader;
  struct State {
    std::string waiting{};
    bool is_ended = false;
    bool is_gone = false;       // the connection has ended
    void* suspended = nullptr;  // the connection, while it has nothing to send
    bool is_sent = false;       // to its end, or as far as the client took it
  };
  static void resume(State& state);
  Guarded<State> state_;
  std::promise<void> sent_{};
  std::shared_future<void> when_sent_ = sent_.get_future().share();
};

struct ServerAnswer {
  int status = 200;
  std::vector<Header> headers{};
  // Shared, so that many answers can use one large body without a copy.
  std::shared_ptr<const std::string> body{};
  // Instead of `body`; sent from the disk, a piece at a time. A file that cannot be opened or that ends before the part is
  // answered with 500. A file that becomes shorter meanwhile ends the connection
  std::optional<FilePart> file{};
  // Instead of both: sent one after the other, files as above.
  std::vector<BodyPart> parts{};
  // Instead of all of these. The idle limit does not count while there is nothing to send. The server ends it when it is destroyed.
  std::shared_ptr<AnswerStream> stream{};
};

// An answer with a text body and its content type.
ServerAnswer text_answer(int status, std::string text, std::string_view type = "text/plain; charset=utf-8");

struct ServerTls {
  std::string certificate;  // PEM, followed by its chain
  Secret key;
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // "0.0.0.0" or "::" for all addresses
  int port = 0;                       // 0: any free port
  std::optional<ServerTls> tls{};
  int threads = 2;                   // for I/O and TLS; each has eight more threads for handlers
  int connections = 512;             // further connections wait
  int connections_per_address = 0;   // further connections of an address are closed at once; 0: no limit
  std::size_t body_limit = 1 << 20;  // of a request; larger requests are answered with 413
  // Another limit for some requests, by their head: method, path, query, headers. Null: body_limit for all
  std::function<std::size_t(const ServerRequest& head)> body_limit_of{};
  Seconds idle_limit{30};
  // Maximum time from the connection (or the previous answer) to the end of a request, and again from there to the end of its
  // answer. It ends the connections of slow clients, which the idle limit does not end. 0: no limit
  Seconds exchange_limit{0};
  // Bytes a second, on average: the exchange limit of an answer with a file is longer by the time that the file takes at this
  // rate.
  std::uint64_t slowest_file_rate = 256 * 1024;
};

// Serves until it is destroyed. The destructor waits for running handlers, and up to a second for clients of streams. HEAD calls
// the handler with GET and omits the body.
class HttpServer {
 public:
  // Called on threads of the server, several in parallel. A handler that throws or is slow affects only its own request.
  using Handler = std::function<ServerAnswer(const ServerRequest&)>;

  // errors: conflict: the address is in use; invalid: bad certificate or key; unavailable
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
