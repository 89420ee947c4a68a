#include "support/http_imposter.h"

#include "base/check.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <thread>

namespace slipway::testing_support {

namespace {

constexpr int look_for_stop_ms = 5;

sys::Fd listen_on_loopback(int& port) {
  sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  CHECK(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  CHECK(listen(socket.get(), 64) == 0);
  CHECK(getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port = ntohs(address.sin_port);
  return socket;
}

bool wait_readable(const sys::Fd& socket, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd entry{socket.get(), POLLIN, 0};
    if (poll(&entry, 1, look_for_stop_ms) > 0) return true;
  }
  return false;
}

void wait_for_stop(const std::stop_token& stop, std::chrono::milliseconds at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  while (!stop.stop_requested() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(std::chrono::milliseconds(look_for_stop_ms), at_most));
  }
}

bool send_all(const sys::Fd& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Appends received bytes; false after the peer closed the connection, or after the test ended.
bool receive(const sys::Fd& socket, std::string& buffer, const std::stop_token& stop) {
  if (!wait_readable(socket, stop)) return false;
  char bytes[65536];
  const ssize_t got = recv(socket.get(), bytes, sizeof bytes, 0);
  if (got <= 0) return false;
  buffer.append(bytes, static_cast<std::size_t>(got));
  return true;
}

HttpImposter::Seen parse_head(std::string_view head) {
  HttpImposter::Seen seen;
  for (std::string_view line : split(head, '\n')) {
    line = trim(line);
    if (seen.method.empty()) {
      const std::vector<std::string_view> words = split(line, ' ');
      seen.method = words[0];
      seen.target = words.size() > 1 ? words[1] : "";
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
      seen.headers[to_lower(line.substr(0, colon))] = trim(line.substr(colon + 1));
    }
  }
  return seen;
}

// Takes one request from the start of the buffer.
std::optional<HttpImposter::Seen> next_request(const sys::Fd& socket, std::string& buffer, const std::stop_token& stop) {
  std::size_t end;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
    if (!receive(socket, buffer, stop)) return std::nullopt;
  }
  HttpImposter::Seen seen = parse_head(std::string_view(buffer).substr(0, end));
  buffer.erase(0, end + 4);
  std::size_t size = 0;
  const std::string length = seen.header("content-length");
  std::from_chars(length.data(), length.data() + length.size(), size);
  while (buffer.size() < size) {
    if (!receive(socket, buffer, stop)) return std::nullopt;
  }
  seen.body = buffer.substr(0, size);
  buffer.erase(0, size);
  return seen;
}

// What happens after the body. Returns whether the connection can be reused.
bool finish(const HttpImposter::Reply& reply, const std::stop_token& stop) {
  if (reply.hang) wait_for_stop(stop, std::chrono::hours(1));
  return !reply.hang && reply.cut_after >= reply.body.size();
}

}  // namespace

std::string HttpImposter::Seen::header(const std::string& name) const {
  auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

HttpImposter::HttpImposter(Handler handler) : handler_(std::move(handler)), listener_(listen_on_loopback(port_)) {
  acceptor_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
}

HttpImposter::~HttpImposter() {
  acceptor_.request_stop();
  acceptor_.join();
}

std::vector<HttpImposter::Seen> HttpImposter::journal() const {
  return journal_.with_lock([](const auto& journal) { return journal; });
}

std::vector<std::string> HttpImposter::lines() const {
  std::vector<std::string> lines;
  for (const Seen& seen : journal()) lines.push_back(seen.line());
  return lines;
}

void HttpImposter::accept_all(const std::stop_token& stop) {
  for (int number = 1; wait_readable(listener_, stop); ++number) {
    sys::Fd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    connections_.emplace_back(
        [this, number, socket = std::move(socket), stop]() mutable { serve(number, std::move(socket), stop); });
  }
  connections_.clear();
}

void HttpImposter::serve(int connection, sys::Fd socket, const std::stop_token& stop) {
  std::string buffer;
  while (std::optional<Seen> seen = next_request(socket, buffer, stop)) {
    seen->connection = connection;
    journal_.with_lock([&](auto& journal) { journal.push_back(*seen); });
    if (!answer(socket, *seen, stop)) return;
  }
}

// Returns whether the connection can be reused.
bool HttpImposter::answer(const sys::Fd& socket, const Seen& seen, const std::stop_token& stop) {
  const Reply reply = handler_(seen);
  std::string head = fmt::format("HTTP/1.1 {} Imposter\r\n", reply.status);
  bool has_length = reply.status == 204;
  for (const std::string& header : reply.headers) {
    head += header + "\r\n";
    has_length = has_length || to_lower(header).starts_with("content-length:");
  }
  if (!has_length) head += fmt::format("Content-Length: {}\r\n", reply.body.size());
  std::string_view body = seen.method == "HEAD" ? std::string_view() : std::string_view(reply.body).substr(0, reply.cut_after);
  if (reply.hang && body.empty()) return wait_for_stop(stop, std::chrono::hours(1)), false;
  // Head and body in one call: with two, the second would wait for the delayed acknowledgement of the peer.
  if (reply.piece_pause.count() == 0) return send_all(socket, fmt::format("{}\r\n{}", head, body)) && finish(reply, stop);
  if (!send_all(socket, head + "\r\n")) return false;
  while (!body.empty()) {
    const std::string_view piece = body.substr(0, 1000);
    if (stop.stop_requested() || !send_all(socket, piece)) return false;
    body.remove_prefix(piece.size());
    wait_for_stop(stop, reply.piece_pause);
  }
  return finish(reply, stop);
}

int unused_port() {
  int port = 0;
  listen_on_loopback(port);
  return port;
}

}  // namespace slipway::testing_support
