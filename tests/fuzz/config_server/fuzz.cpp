// Requests to the machine-config-server, any bytes over a real connection. The server must keep serving, and a client without the
// token must not get the config of a machine.
#include "base/check.h"
#include "components/machine_config_server/server.h"
#include "net/http_server.h"
#include "sys/clock.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace {

using namespace slipway;

constexpr std::string_view token = "k3Yq", secret = "for-machines-only";

class OneConfig final : public components::machine_config_server::ConfigSource {
 public:
  Result<std::shared_ptr<const components::machine_config_server::PoolConfig>> find(const std::string& pool) override {
    if (pool != "worker") return error(Code::not_found, "no pool {}", pool);
    return config_;
  }

 private:
  std::shared_ptr<const components::machine_config_server::PoolConfig> config_ = [] {
    components::machine_config_server::PoolConfig config{
        .rendered = {.name = "rendered"}, .controller = {.version = "1"}, .kubeconfig = Secret(std::string(secret))};
    config.rendered.config.ignition.version = ignition::newest_version;
    return std::make_shared<const components::machine_config_server::PoolConfig>(std::move(config));
  }();
};

struct Server {
  sys::RealClock clock;
  Log log{Level::error, [](Level, std::string_view) {}};
  sys::Events events{clock, "fuzz"};
  sys::Context context{clock, log, events};
  OneConfig source;
  components::machine_config_server::ConfigServer configs{
      context, source, {Secret(std::string(token)), Secret(std::string(token))}};
  net::HttpServer http = net::HttpServer::listen({.threads = 1}, [this](const net::ServerRequest& request) {
                           return configs.answer(request);
                         }).value();
};

// Everything that the server answers until it closes the connection.
std::string answer(int port, std::string_view bytes) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(fd >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;  // the server closed the connection
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  // The server treats a half-closed connection as a client that has gone, so the client first waits for an answer.
  timeval patience{.tv_sec = 0, .tv_usec = 20'000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::string text;
  char buffer[4096];
  for (bool is_done = false;;) {
    const ssize_t got = recv(fd, buffer, sizeof buffer, 0);
    if (got > 0) {
      text.append(buffer, static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EAGAIN) {
      break;
    } else if (!is_done) {
      is_done = true;
      shutdown(fd, SHUT_WR);
    }
  }
  close(fd);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Server server;
  static std::size_t runs = 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string answered = answer(server.http.port(), bytes);
  CHECK(answered.empty() || answered.starts_with("HTTP/1."));
  if (answered.find(secret) != std::string::npos) CHECK(bytes.find(token) != std::string_view::npos);
  // On a busy machine the answer may come too late and is then empty.
  if (runs++ % 64 == 0) {
    const std::string health = answer(server.http.port(), "GET /healthz HTTP/1.0\r\n\r\n");
    CHECK(health.empty() || health.find(" 200 ") != std::string::npos);
  }
  return 0;
}
