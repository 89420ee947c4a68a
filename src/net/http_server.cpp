#include "net/http_server.h"

#include "base/check.h"
#include "base/guarded.h"
#include "base/queue.h"
#include "base/text.h"
#include "net/ip.h"
#include "net/x509.h"
#include "sys/clock.h"
#include "sys/fd.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <map>
#include <thread>

namespace slipway::net {

namespace {

// Handlers have their own threads, so that a slow handler does not delay the connections of an I/O thread.
constexpr int handlers_per_thread = 8;
constexpr int backlog = 1024;
constexpr Seconds stream_time = std::chrono::hours(24);  // a client of a longer stream asks again
constexpr Milliseconds stream_end_limit{1000};           // for the end of all streams, when the server is destroyed
constexpr Milliseconds check_interval{500};              // between checks for connections over their exchange limit
// Large enough to send a rendered config at once, without waiting for the socket again.
constexpr int send_buffer = 512 * 1024;
// Four records of TLS. libmicrohttpd itself reads files in pieces of 4 KiB.
constexpr std::size_t file_piece = 64 * 1024;
// Prefers what is cheapest for all clients: X25519, because every client sends a key share for it and another group costs a
// round trip, and AES-128, which is as safe here as AES-256 and cheaper.
constexpr const char* tls_priorities =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1"
    ":-CIPHER-ALL:+AES-128-GCM:+CHACHA20-POLY1305:+AES-256-GCM:%SERVER_PRECEDENCE";

// One request, from its first line to the last byte of its answer.
struct Exchange {
  ServerRequest request;
  ServerAnswer answer;
  MHD_Connection* connection = nullptr;
  bool started = false;  // the headers are complete
  std::size_t body_limit = 0;
  bool too_large = false;  // the body exceeded the limit and was dropped
  bool answered = false;
};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Result<SocketAddress> socket_address(const ServerOptions& options) {
  const IpAddress ip = TRY(parse_ip(options.address));
  SocketAddress address;
  if (ip.is_v4()) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<std::uint16_t>(options.port));
    std::copy_n(ip.bytes().begin(), sizeof v4->sin_addr, reinterpret_cast<std::uint8_t*>(&v4->sin_addr));
    address.size = sizeof *v4;
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<std::uint16_t>(options.port));
    std::copy_n(ip.bytes().begin(), sizeof v6->sin6_addr, reinterpret_cast<std::uint8_t*>(&v6->sin6_addr));
    address.size = sizeof *v6;
  }
  return address;
}

Result<sys::Fd> listen_on(const ServerOptions& options) {
  const std::string where = host_and_port(options.address, options.port);
  const SocketAddress address = TRY(socket_address(options).context("listening on " + where));
  const auto* const plain = reinterpret_cast<const sockaddr*>(&address.storage);
  sys::Fd socket(::socket(plain->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return sys::system_error("listening on " + where);
  const int yes = 1, no = 0;
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
  // Set before the handshake: otherwise its second flight waits 40 ms for the acknowledgement of the first.
  (void)setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (plain->sa_family == AF_INET6) (void)setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  if (bind(socket.get(), plain, address.size) != 0 || ::listen(socket.get(), backlog) != 0) {
    if (errno == EADDRINUSE) return error(Code::conflict, "listening on {}: address already in use", where);
    if (errno == EADDRNOTAVAIL) return error(Code::unavailable, "listening on {}: this machine has no such address", where);
    return sys::system_error("listening on " + where);
  }
  return socket;
}

int port_of(const sys::Fd& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  CHECK(getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return ntohs(address.ss_family == AF_INET ? reinterpret_cast<sockaddr_in&>(address).sin_port
                                            : reinterpret_cast<sockaddr_in6&>(address).sin6_port);
}

std::string address_of_peer(MHD_Connection* connection) {
  const sockaddr* address = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
  const void* bytes = address->sa_family == AF_INET
                          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr)
                          : static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(address->sa_family, bytes, text, sizeof text);
  const Result<IpAddress> peer = parse_ip(text);  // converts an IPv4 client of an IPv6 socket to IPv4
  return peer.ok() ? to_string(peer.value()) : std::string(text);
}

// Texts and parts of files that are sent: read in pieces while the client takes them.
struct OpenParts {
  struct Part {
    std::uint64_t begin = 0, end = 0;  // of the body
    std::shared_ptr<const std::string> text{};
    sys::Fd file{};
    std::uint64_t offset = 0;  // of the part in the file
  };
  std::vector<Part> parts;  // none is empty

  static ssize_t read(void* self, std::uint64_t position, char* buffer, std::size_t size) {
    const auto& all = static_cast<const OpenParts*>(self)->parts;
    const auto part = std::ranges::find_if(all, [&](const Part& each) { return position < each.end; });
    if (part == all.end()) return static_cast<ssize_t>(MHD_CONTENT_READER_END_WITH_ERROR);
    const std::uint64_t skipped = position - part->begin;
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(size, part->end - position));
    if (part->text) {
      std::copy_n(part->text->data() + skipped, count, buffer);
      return static_cast<ssize_t>(count);
    }
    ssize_t got = 0;
    do {
      got = pread(part->file.get(), buffer, count, static_cast<off_t>(part->offset + skipped));
    } while (got < 0 && errno == EINTR);
    return got > 0 ? got : static_cast<ssize_t>(MHD_CONTENT_READER_END_WITH_ERROR);
  }
  static void close(void* self) { delete static_cast<OpenParts*>(self); }
};

// A regular file that has the part; closed if there is none.
sys::Fd open_part(const FilePart& part) {
  // O_NONBLOCK: opening a pipe would wait for its writer.
  sys::Fd file(::open(part.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!file.is_open() || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return sys::Fd();
  const auto size = static_cast<std::uint64_t>(info.st_size);
  return part.offset <= size && part.length <= size - part.offset ? std::move(file) : sys::Fd();
}

constexpr std::size_t stream_limit = 1 << 20;  // bytes that wait for a client

}  // namespace

void AnswerStream::resume(State& state) {
  if (state.suspended != nullptr) MHD_resume_connection(static_cast<MHD_Connection*>(std::exchange(state.suspended, nullptr)));
}

bool AnswerStream::write(std::string_view text) {
  return state_.with_lock([&](State& state) {
    if (state.is_ended || state.is_gone) return false;
    if (state.waiting.size() + text.size() > stream_limit) {
      state.is_gone = true;
    } else {
      state.waiting += text;
    }
    resume(state);
    return !state.is_gone;
  });
}

void AnswerStream::end() {
  state_.with_lock([](State& state) {
    state.is_ended = true;
    resume(state);
  });
}

bool AnswerStream::is_open() const {
  return state_.with_lock([](const State& state) { return !state.is_ended && !state.is_gone; });
}

// Gives the text of a stream to libmicrohttpd. A connection without text is suspended until there is some.
struct StreamReader {
  std::shared_ptr<AnswerStream> stream;
  MHD_Connection* connection = nullptr;

  static ssize_t read(void* self, std::uint64_t, char* buffer, std::size_t size) {
    auto& reader = *static_cast<StreamReader*>(self);
    return reader.stream->state_.with_lock([&](AnswerStream::State& state) -> ssize_t {
      if (state.is_gone) return MHD_CONTENT_READER_END_WITH_ERROR;
      if (!state.waiting.empty()) {
        const std::size_t count = std::min(size, state.waiting.size());
        std::copy_n(state.waiting.begin(), count, buffer);
        state.waiting.erase(0, count);
        return static_cast<ssize_t>(count);
      }
      if (state.is_ended) return MHD_CONTENT_READER_END_OF_STREAM;
      state.suspended = reader.connection;
      MHD_suspend_connection(reader.connection);
      return 0;
    });
  }
  static void close(void* self) {
    const std::unique_ptr<StreamReader> reader(static_cast<StreamReader*>(self));
    const bool is_first = reader->stream->state_.with_lock([](AnswerStream::State& state) {
      state.is_gone = true;
      state.suspended = nullptr;
      return !std::exchange(state.is_sent, true);
    });
    if (is_first) reader->stream->sent_.set_value();
  }
};

namespace {

MHD_Response* make_stream_response(MHD_Connection* connection, const std::shared_ptr<AnswerStream>& stream) {
  auto reader = std::make_unique<StreamReader>(StreamReader{stream, connection});
  MHD_Response* response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, file_piece, &StreamReader::read, reader.get(), &StreamReader::close);
  if (response != nullptr) (void)reader.release();
  return response;
}

std::vector<BodyPart> parts_of(const ServerAnswer& answer) {
  return answer.file ? std::vector<BodyPart>{{.text = nullptr, .file = *answer.file}} : answer.parts;
}

std::uint64_t length_of(const std::vector<BodyPart>& parts) {
  std::uint64_t length = 0;
  for (const BodyPart& part : parts) length += part.length();
  return length;
}

// Null if a file cannot be read or does not have its part.
MHD_Response* make_parts_response(const std::vector<BodyPart>& parts) {
  auto open = std::make_unique<OpenParts>();
  std::uint64_t length = 0;
  for (const BodyPart& part : parts) {
    OpenParts::Part next{.begin = length, .end = length + part.length(), .text = part.text, .offset = part.file.offset};
    if (!part.text) next.file = open_part(part.file);
    if (!part.text && !next.file.is_open()) return nullptr;
    length = next.end;
    if (next.begin != next.end) open->parts.push_back(std::move(next));
  }
  if (length == 0) return MHD_create_response_from_buffer(0, nullptr, MHD_RESPMEM_PERSISTENT);
  MHD_Response* response = MHD_create_response_from_callback(length, file_piece, &OpenParts::read, open.get(), &OpenParts::close);
  if (response != nullptr) (void)open.release();
  return response;
}

MHD_Response* make_response(MHD_Connection* connection, const ServerAnswer& answer) {
  if (answer.stream) return make_stream_response(connection, answer.stream);
  if (const std::vector<BodyPart> parts = parts_of(answer); !parts.empty()) return make_parts_response(parts);
  if (answer.body == nullptr || answer.body->empty()) {
    return MHD_create_response_from_buffer(0, nullptr, MHD_RESPMEM_PERSISTENT);
  }
  auto* owner = new std::shared_ptr<const std::string>(answer.body);
  void* bytes = const_cast<char*>(answer.body->data());  // read only
  auto release = [](void* body) { delete static_cast<std::shared_ptr<const std::string>*>(body); };
  MHD_Response* response = MHD_create_response_from_buffer_with_free_callback_cls(answer.body->size(), bytes, release, owner);
  if (response == nullptr) release(owner);
  return response;
}

// Queues the answer on the connection; MHD_NO closes the connection.
MHD_Result send_answer(MHD_Connection* connection, const ServerAnswer& answer) {
  MHD_Response* response = make_response(connection, answer);
  if (response == nullptr && !parts_of(answer).empty())
    return send_answer(connection, text_answer(500, "internal server error\n"));
  if (response == nullptr) return MHD_NO;
  bool fine = true;
  for (const Header& header : answer.headers) {
    fine = fine && MHD_add_response_header(response, header.name.c_str(), header.value.c_str()) == MHD_YES;
  }
  const MHD_Result queued = fine ? MHD_queue_response(connection, static_cast<unsigned>(answer.status), response) : MHD_NO;
  MHD_destroy_response(response);
  return queued;
}

ServerAnswer call(const HttpServer::Handler& handler, const ServerRequest& request) {
  try {
    return handler(request);
  } catch (...) {
    return text_answer(500, "internal server error\n");
  }
}

}  // namespace

std::optional<std::string_view> ServerRequest::header(std::string_view name) const { return find_header(headers, name); }

ServerAnswer text_answer(int status, std::string text, std::string_view type) {
  return {.status = status,
          .headers = {{"Content-Type", std::string(type)}},
          .body = std::make_shared<const std::string>(std::move(text))};
}

// libmicrohttpd's threads read requests and write answers. A complete request is suspended and queued; a handler thread computes
// its answer and resumes the connection.
struct HttpServer::State {
  Handler handler;
  std::size_t body_limit = 0;
  std::function<std::size_t(const ServerRequest&)> body_limit_of;
  int port = 0;
  MHD_Daemon* daemon = nullptr;
  struct OpenConnection {
    int socket = -1;
    SteadyTime deadline{};
  };
  sys::RealClock clock;
  Seconds exchange_limit{0};
  std::uint64_t slowest_file_rate = 0;
  Guarded<std::map<MHD_Connection*, OpenConnection>>
      open;  // if there is an exchange_limit; entries are erased before the socket closes
  Guarded<std::vector<std::weak_ptr<AnswerStream>>> streams;
  Guarded<bool> closed{false};  // requests are no longer queued
  Queue<Exchange*> waiting;     // owned by their connections, which do not change while suspended
  std::stop_source stop;
  std::vector<std::jthread> threads;

  ~State();
  void run_handlers(const std::stop_token& token);
  void end_slow_connections(const std::stop_token& token);
  void restart_limit(MHD_Connection* connection, const ServerAnswer* answer = nullptr);
  void add_stream(const std::shared_ptr<AnswerStream>& stream);
  MHD_Result take(MHD_Connection* connection, Exchange& exchange, std::string_view method, std::string_view path,
                  std::string_view piece);

  static void* begin(void*, const char* uri, MHD_Connection* connection) {
    auto* exchange = new Exchange;
    exchange->connection = connection;
    const std::string_view text = uri;
    if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) exchange->request.query = text.substr(mark + 1);
    return exchange;
  }
  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* path, const char* method, const char*,
                               const char* data, std::size_t* size, void** exchange) {
    const std::string_view piece(data, *size);
    *size = 0;
    return static_cast<State*>(self)->take(connection, *static_cast<Exchange*>(*exchange), method, path, piece);
  }
  static void end(void* self, MHD_Connection* connection, void** exchange, MHD_RequestTerminationCode) {
    delete static_cast<Exchange*>(*exchange);
    *exchange = nullptr;
    static_cast<State*>(self)->restart_limit(connection);
  }
  static void on_connection(void* self, MHD_Connection* connection, void**, MHD_ConnectionNotificationCode code) {
    auto& state = *static_cast<State*>(self);
    if (state.exchange_limit.count() == 0) return;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
      state.open.with_lock([&](auto& all) { all.erase(connection); });
      return;
    }
    const int socket = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    state.open.with_lock([&](auto& all) { all[connection] = {socket, state.clock.steady() + state.exchange_limit}; });
  }
};

void HttpServer::State::run_handlers(const std::stop_token& token) {
  while (const std::optional<Exchange*> exchange = waiting.pop(token)) {
    Exchange& next = **exchange;
    next.answer = token.stop_requested() ? text_answer(503, "the server is shutting down\n") : call(handler, next.request);
    next.answered = true;
    MHD_resume_connection(next.connection);
  }
}

void HttpServer::State::restart_limit(MHD_Connection* connection, const ServerAnswer* answer) {
  if (exchange_limit.count() == 0) return;
  Seconds limit = exchange_limit;
  if (answer != nullptr && answer->stream) limit += stream_time;
  if (answer != nullptr) limit += Seconds(length_of(parts_of(*answer)) / std::max<std::uint64_t>(slowest_file_rate, 1));
  open.with_lock([&](auto& all) {
    const auto found = all.find(connection);
    if (found != all.end()) found->second.deadline = clock.steady() + limit;
  });
}

void HttpServer::State::add_stream(const std::shared_ptr<AnswerStream>& stream) {
  streams.with_lock([&](auto& all) {
    std::erase_if(all, [](const std::weak_ptr<AnswerStream>& each) { return each.expired(); });
    all.push_back(stream);
  });
  // The destructor may have ended the others already.
  if (closed.with_lock([](bool is_closed) { return is_closed; })) stream->end();
}

// Shuts the sockets down without closing them: libmicrohttpd then ends the connections as if the clients had closed them.
void HttpServer::State::end_slow_connections(const std::stop_token& token) {
  while (!token.stop_requested()) {
    clock.wait(clock.steady() + check_interval, token, nullptr, 0);
    const SteadyTime now = clock.steady();
    open.with_lock([&](auto& all) {
      for (const auto& [connection, entry] : all) {
        if (entry.deadline <= now) (void)::shutdown(entry.socket, SHUT_RDWR);
      }
    });
  }
}

// Called for the head of a request, for each piece of its body, at its end and after it was resumed.
MHD_Result HttpServer::State::take(MHD_Connection* connection, Exchange& exchange, std::string_view method, std::string_view path,
                                   std::string_view piece) {
  ServerRequest& request = exchange.request;
  if (!std::exchange(exchange.started, true)) {
    request.method = method == "HEAD" ? "GET" : method;
    request.path = path;
    request.peer = address_of_peer(connection);
    auto add = [](void* headers, MHD_ValueKind, const char* name, const char* value) {
      static_cast<std::vector<Header>*>(headers)->push_back({name, value == nullptr ? "" : value});
      return MHD_YES;
    };
    MHD_get_connection_values(connection, MHD_HEADER_KIND, add, &request.headers);
    exchange.body_limit = body_limit_of ? body_limit_of(request) : body_limit;
    return MHD_YES;
  }
  if (!piece.empty()) {
    // Read a body over the limit to its end: a client that is still sending would not read the answer.
    exchange.too_large = exchange.too_large || request.body.size() + piece.size() > exchange.body_limit;
    if (!exchange.too_large) request.body += piece;
    return MHD_YES;
  }
  if (exchange.answered) {
    if (exchange.answer.file || !exchange.answer.parts.empty() || exchange.answer.stream)
      restart_limit(connection, &exchange.answer);
    if (exchange.answer.stream) add_stream(exchange.answer.stream);
    return send_answer(connection, exchange.answer);
  }
  if (exchange.too_large) {
    return send_answer(connection,
                       text_answer(413, fmt::format("request too large, at most {}\n", human_size(exchange.body_limit))));
  }
  restart_limit(connection);
  const bool queued = closed.with_lock([&](bool is_closed) {
    if (is_closed) return false;
    MHD_suspend_connection(connection);
    waiting.push(&exchange);
    return true;
  });
  return queued ? MHD_YES : MHD_NO;
}

HttpServer::State::~State() {
  if (daemon == nullptr) return;
  const sys::Fd listener(MHD_quiesce_daemon(daemon));
  closed.with_lock([](bool& is_closed) { is_closed = true; });
  stop.request_stop();
  threads.clear();  // joins: all queued requests are answered and no connection is suspended, as MHD_stop_daemon requires
  std::vector<std::shared_ptr<AnswerStream>> ending;
  for (const std::weak_ptr<AnswerStream>& each : streams.with_lock([](const auto& all) { return all; })) {
    if (std::shared_ptr<AnswerStream> stream = each.lock()) ending.push_back(std::move(stream));
  }
  for (const auto& stream : ending) stream->end();
  // MHD_stop_daemon would cut off what a client has not taken yet.
  const SteadyTime deadline = clock.steady() + stream_end_limit;
  for (const auto& stream : ending) (void)stream->when_sent_.wait_until(deadline);
  MHD_stop_daemon(daemon);
}

Result<HttpServer> HttpServer::listen(const ServerOptions& options, Handler handler) {
  if (options.tls) {
    if (!TRY(key_fits(options.tls->certificate, options.tls->key).context("the server's certificate"))) {
      return error(Code::invalid, "the server's key does not belong to its certificate");
    }
  }
  const sys::Fd listener = TRY(listen_on(options));
  auto state = std::make_unique<State>();
  state->handler = std::move(handler);
  state->body_limit = options.body_limit;
  state->body_limit_of = options.body_limit_of;
  state->port = port_of(listener);
  state->exchange_limit = options.exchange_limit;
  state->slowest_file_rate = options.slowest_file_rate;

  // Not epoll: libmicrohttpd 0.9.75 then busy-waits during a TLS handshake and needs five times the CPU.
  unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
  std::vector<MHD_OptionItem> items = {
      // A duplicate, because libmicrohttpd may or may not close it if it fails to start.
      {MHD_OPTION_LISTEN_SOCKET, fcntl(listener.get(), F_DUPFD_CLOEXEC, 0), nullptr},
      {MHD_OPTION_CONNECTION_LIMIT, std::max(options.connections, options.threads), nullptr},
      {MHD_OPTION_CONNECTION_TIMEOUT, options.idle_limit.count(), nullptr},
      {MHD_OPTION_URI_LOG_CALLBACK, reinterpret_cast<std::intptr_t>(&State::begin), nullptr},
      {MHD_OPTION_NOTIFY_COMPLETED, reinterpret_cast<std::intptr_t>(&State::end), state.get()},
      {MHD_OPTION_PER_IP_CONNECTION_LIMIT, options.connections_per_address, nullptr},
      {MHD_OPTION_NOTIFY_CONNECTION, reinterpret_cast<std::intptr_t>(&State::on_connection), state.get()},
  };
  if (options.threads > 1) items.push_back({MHD_OPTION_THREAD_POOL_SIZE, options.threads, nullptr});
  if (options.tls) {
    flags |= MHD_USE_TLS;
    items.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, const_cast<char*>(options.tls->certificate.c_str())});
    items.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, const_cast<char*>(options.tls->key.reveal().c_str())});
    items.push_back({MHD_OPTION_HTTPS_PRIORITIES, 0, const_cast<char*>(tls_priorities)});
  }
  items.push_back({MHD_OPTION_END, 0, nullptr});
  state->daemon = MHD_start_daemon(flags, 0, nullptr, nullptr, &State::on_request, state.get(), MHD_OPTION_ARRAY, items.data(),
                                   MHD_OPTION_END);
  if (state->daemon == nullptr) {
    return error(Code::unavailable, "the server on {} cannot be started", host_and_port(options.address, state->port));
  }
  for (int i = 0; i < options.threads * handlers_per_thread; ++i) {
    state->threads.emplace_back([s = state.get()] { s->run_handlers(s->stop.get_token()); });
  }
  if (options.exchange_limit.count() > 0) {
    state->threads.emplace_back([s = state.get()] { s->end_slow_connections(s->stop.get_token()); });
  }
  return HttpServer(std::move(state));
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer& HttpServer::operator=(HttpServer&&) noexcept = default;
HttpServer::~HttpServer() = default;

int HttpServer::port() const { return state_->port; }

}  // namespace slipway::net
