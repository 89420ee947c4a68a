// How many answers of 250 KB a second the HTTP server gives, each over a TLS connection of its own, as masters and workers ask
// the machine-config-server. Clients and server share this machine's cores, so the server's own CPU time is told too; the
// yardstick is the same clients' handshakes with `openssl s_server`, which answers nothing and serves one after another.
#include "net/http_server.h"
#include "base/time.h"
#include "net/x509.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace slipway;
using Clock = std::chrono::steady_clock;

constexpr std::size_t body_size = 250'000;
constexpr int client_threads = 4;
constexpr std::chrono::seconds run_time{3};

using Ssl = std::unique_ptr<SSL, decltype(&SSL_free)>;
using SslContext = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

net::Certificate make_identity() {
  const auto now = std::chrono::floor<Milliseconds>(std::chrono::system_clock::now());
  return net::make_certificate({.subject = {.common_name = "bench"},
                                .server_auth = true,
                                .ip_addresses = {"127.0.0.1"},
                                .valid_from = now - std::chrono::hours(1),
                                .valid_for = std::chrono::hours(24)},
                               nullptr)
      .value();
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// One answer over a fresh connection; false when it is not whole.
bool fetch(SSL_CTX* context, int port, bool handshake_only) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;  // as every client of HTTP does: the request would wait for the acknowledgement of the handshake
  (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  const sockaddr_in address = loopback(port);
  bool whole = false;
  const Ssl ssl(SSL_new(context), &SSL_free);
  SSL_set_fd(ssl.get(), socket);
  if (connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && SSL_connect(ssl.get()) == 1) {
    static constexpr char request[] = "GET /config/master HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    whole = handshake_only || SSL_write(ssl.get(), request, sizeof request - 1) > 0;
    std::size_t got = 0;
    char buffer[65536];
    for (int n; !handshake_only && (n = SSL_read(ssl.get(), buffer, sizeof buffer)) > 0;) got += static_cast<std::size_t>(n);
    whole = whole && (handshake_only || got > body_size);
  }
  close(socket);
  return whole;
}

struct Load {
  double rate = 0;
  int failures = 0;
};

Load load(int port, bool handshake_only) {
  const SslContext context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  std::atomic<int> good = 0, bad = 0;
  const auto start = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < client_threads; ++t) {
      threads.emplace_back([&] {
        while (Clock::now() < start + run_time) ++(fetch(context.get(), port, handshake_only) ? good : bad);
      });
    }
  }
  return {good / std::chrono::duration<double>(Clock::now() - start).count(), bad};
}

double cpu_seconds(const rusage& usage) {
  auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The server in a process of its own, so that its CPU time can be told from the clients'. Ends when `stop` is closed.
class ServerProcess {
 public:
  ServerProcess() {
    int ready[2], stop[2];
    if (pipe(ready) != 0 || pipe(stop) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      close(stop[1]);
      const net::Certificate identity = make_identity();
      const auto body = std::make_shared<const std::string>(body_size, 'x');
      auto server = net::HttpServer::listen({.tls = net::ServerTls{identity.pem, identity.key}},
                                            [&](const net::ServerRequest&) { return net::ServerAnswer{.body = body}; });
      const int port = server.ok() ? server->port() : 0;
      char byte;
      if (write(ready[1], &port, sizeof port) != sizeof port || read(stop[0], &byte, 1) != 0) std::abort();
      _exit(0);
    }
    close(stop[0]);
    close(ready[1]);
    if (read(ready[0], &port_, sizeof port_) != sizeof port_ || port_ == 0) std::abort();
    close(ready[0]);
    stop_ = stop[1];
  }
  int port() const { return port_; }

  // Ends it. returns: the CPU seconds it took
  double finish() {
    close(stop_);
    rusage usage{};
    wait4(pid_, nullptr, 0, &usage);
    return cpu_seconds(usage);
  }

 private:
  pid_t pid_ = 0;
  int port_ = 0;
  int stop_ = -1;
};

void report(const char* what, const Load& load, double cpu, double yardstick) {
  std::printf("%-38s %8.0f /s   %5.2f x %s; server %.3f ms CPU each, %d failed\n", what, load.rate, load.rate / yardstick,
              "openssl s_server's handshakes", cpu * 1000 / (load.rate * static_cast<double>(run_time.count())), load.failures);
}

// The yardstick: the same clients against OpenSSL's own server, handshakes alone.
class OpensslServer {
 public:
  OpensslServer() {
    const net::Certificate identity = make_identity();
    char name[] = "/tmp/slipway-bench-XXXXXX";
    const int file = mkstemp(name);
    file_ = name;
    const std::string pem = identity.pem + identity.key.reveal();
    if (write(file, pem.data(), pem.size()) != static_cast<ssize_t>(pem.size())) std::abort();
    close(file);
    port_ = free_port();
    pid_ = fork();
    if (pid_ == 0) {
      const std::string accept = "127.0.0.1:" + std::to_string(port_);
      execlp("openssl", "openssl", "s_server", "-quiet", "-num_tickets", "0", "-accept", accept.c_str(), "-cert", file_.c_str(),
             "-key", file_.c_str(), nullptr);
      _exit(127);
    }
    for (int i = 0; i < 500 && !answers(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ~OpensslServer() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
    unlink(file_.c_str());
  }
  int port() const { return port_; }

 private:
  static int free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(socket, reinterpret_cast<sockaddr*>(&address), size) != 0) std::abort();
    getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    close(socket);
    return ntohs(address.sin_port);
  }
  bool answers() const {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = loopback(port_);
    const bool there = connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(socket);
    return there;
  }

  std::string file_;
  int port_ = 0;
  pid_t pid_ = 0;
};

}  // namespace

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  double yardstick = 0;
  {
    const OpensslServer openssl;
    yardstick = load(openssl.port(), true).rate;
  }
  for (bool handshake_only : {true, false}) {
    ServerProcess server;
    const Load measured = load(server.port(), handshake_only);
    report(handshake_only ? "TLS handshakes" : "250 KB answers, fresh TLS", measured, server.finish(), yardstick);
  }
  std::printf("%-38s %8.0f /s\n", "openssl s_server's handshakes", yardstick);
}
