#include "net/http_server.h"

#include "net/curl_http.h"
#include "net/ip.h"
#include "net/x509.h"
#include "support/http_imposter.h"
#include "support/test_certificate.h"
#include "support/test_context.h"
#include "sys/fd.h"
#include "sys/files.h"
#include "sys/runner.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <latch>
#include <map>
#include <semaphore>
#include <stdexcept>
#include <thread>

namespace slipway::net {
namespace {

using testing_support::make_test_certificate;

HttpServer serve(HttpServer::Handler handler, ServerOptions options = {}) {
  auto server = HttpServer::listen(options, std::move(handler));
  EXPECT_TRUE(server.ok()) << server.error().message();
  return std::move(server).value();
}

Url url_of(const HttpServer& server, std::string target = "/", const char* scheme = "http") {
  return {scheme, "127.0.0.1", server.port(), std::move(target)};
}

// Answers with the request that the handler received.
ServerAnswer echo(const ServerRequest& request) {
  return text_answer(200, fmt::format("{} {} ?{} {} {} {}", request.method, request.path, request.query, request.peer,
                                      request.header("x-token").value_or("-"), request.body));
}

TEST(HttpServer, GivesTheHandlerTheWholeRequest) {
  const HttpServer server = serve(echo);
  CurlHttp http;
  auto get = http.send({.url = url_of(server, "/a%20b/c?x=%20&y"), .headers = {{"X-Token", "t"}}}, {});
  ASSERT_TRUE(get.ok()) << get.error().message();
  EXPECT_EQ(get->body, "GET /a b/c ?x=%20&y 127.0.0.1 t ");
  EXPECT_EQ(get->header("content-type"), "text/plain; charset=utf-8");
  auto post = http.send({.method = "POST", .url = url_of(server), .body = std::string(100'000, 'x')}, {});
  ASSERT_TRUE(post.ok()) << post.error().message();
  EXPECT_EQ(post->body, "POST / ? 127.0.0.1 - " + std::string(100'000, 'x'));
}

TEST(HttpServer, SendsAStreamAsItIsWritten) {
  const auto stream = std::make_shared<AnswerStream>();
  const HttpServer server = serve([&](const ServerRequest&) {
    return ServerAnswer{.status = 200, .headers = {{"Content-Type", "text/event-stream"}}, .stream = stream};
  });
  EXPECT_TRUE(stream->write("first "));
  CurlHttp http;
  std::string received;
  const auto sink = [&](std::string_view piece) -> Result<> {
    received += piece;
    // The next piece is written when the one before has arrived.
    if (received == "first ") {
      EXPECT_TRUE(stream->write("second "));
    }
    if (received == "first second ") {
      EXPECT_TRUE(stream->is_open());
      EXPECT_TRUE(stream->write(std::string(100'000, 'x')));
      stream->end();
      EXPECT_FALSE(stream->write("late"));
    }
    return Ok{};
  };
  const auto answer = http.send({.url = url_of(server)}, {}, sink);
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_EQ(received, "first second " + std::string(100'000, 'x'));
}

TEST(HttpServer, EndsItsStreamsWithItself) {
  const auto stream = std::make_shared<AnswerStream>();
  std::optional<HttpServer> server = serve([&](const ServerRequest&) { return ServerAnswer{.stream = stream}; });
  const Url url = url_of(*server);
  std::binary_semaphore has_begun(0);
  std::jthread client([&] {
    CurlHttp http;
    const auto answer = http.send({.url = url}, {}, [&](std::string_view) -> Result<> {
      has_begun.release();
      return Ok{};
    });
    EXPECT_TRUE(answer.ok()) << answer.error().message();
  });
  EXPECT_TRUE(stream->write("a"));
  has_begun.acquire();
  server.reset();
  EXPECT_FALSE(stream->is_open());
}

TEST(HttpServer, NoticesThatTheClientOfAStreamHasLeft) {
  const auto stream = std::make_shared<AnswerStream>();
  const HttpServer server = serve([&](const ServerRequest&) { return ServerAnswer{.stream = stream}; });
  EXPECT_TRUE(stream->write("a"));
  CurlHttp http;
  const auto answer =
      http.send({.url = url_of(server)}, {}, [](std::string_view) -> Result<> { return error(Code::cancelled, "enough"); });
  EXPECT_FALSE(answer.ok());
  testing_support::RealTimeContext context;
  for (int i = 0; i < 500 && stream->write("b"); ++i) {
    context.clock.wait(context.clock.steady() + Milliseconds(10), {}, nullptr, 0);
  }
  EXPECT_FALSE(stream->is_open());
}

TEST(HttpServer, LimitsBodiesByTheHeadOfTheRequest) {
  ServerOptions options{.body_limit_of = [](const ServerRequest& head) { return head.path == "/logs" ? 100'000 : 10; }};
  const HttpServer server = serve(echo, options);
  CurlHttp http;
  const std::string body(1'000, 'x');
  EXPECT_EQ(http.send({.method = "POST", .url = url_of(server, "/logs"), .body = body}, {})->status, 200);
  EXPECT_EQ(http.send({.method = "POST", .url = url_of(server, "/other"), .body = body}, {})->status, 413);
}

TEST(HttpServer, AnswersHeadLikeGetWithoutTheBody) {
  const HttpServer server = serve(echo);
  CurlHttp http;
  auto head = http.send({.method = "HEAD", .url = url_of(server)}, {});
  ASSERT_TRUE(head.ok()) << head.error().message();
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->body, "");
  EXPECT_EQ(head->header("content-length"), std::to_string(std::string_view("GET / ? 127.0.0.1 - ").size()));
}

TEST(HttpServer, SendsStatusHeadersAndASharedBody) {
  const auto body = std::make_shared<const std::string>(300'000, 'b');
  HttpServer server = serve([&](const ServerRequest& request) {
    if (request.path == "/empty") return ServerAnswer{.status = 204};
    return ServerAnswer{.status = 202, .headers = {{"X-One", "1"}, {"X-Two", "2"}}, .body = body};
  });
  CurlHttp http;
  for (int i = 0; i < 3; ++i) {
    auto answer = http.send({.url = url_of(server)}, {});
    ASSERT_TRUE(answer.ok()) << answer.error().message();
    EXPECT_EQ(answer->status, 202);
    EXPECT_EQ(answer->header("x-two"), "2");
    EXPECT_TRUE(answer->body == *body);
  }
  EXPECT_EQ(http.send({.url = url_of(server, "/empty")}, {})->status, 204);
  server = serve(echo);
  EXPECT_EQ(body.use_count(), 1);
}

TEST(HttpServer, SendsPartsOfFiles) {
  const Certificate ca = make_test_certificate("ca"), identity = make_test_certificate("server", &ca);
  const sys::TempDir folder = sys::TempDir::make("http-server-test").value();
  const std::string path = folder.path() + "/blob";
  std::string content;
  for (int i = 0; content.size() < 3'000'000; ++i) content += fmt::format("{} ", i);
  sys::RealFiles files;
  ASSERT_TRUE(files.write(path, content, 0600).ok());
  ASSERT_TRUE(files.write(folder.path() + "/empty", "", 0600).ok());
  ASSERT_EQ(::symlink(path.c_str(), (folder.path() + "/link").c_str()), 0);
  ASSERT_EQ(::mkfifo((folder.path() + "/pipe").c_str(), 0600), 0);
  std::map<std::string, FilePart> parts = {
      {"/all", {path, 0, content.size()}},          {"/middle", {path, 1'000'000, 1'234'567}},
      {"/last", {path, content.size() - 1, 1}},     {"/nothing", {path, content.size(), 0}},
      {"/empty", {folder.path() + "/empty", 0, 0}}, {"/too-long", {path, 1, content.size()}},
      {"/behind", {path, content.size() + 1, 0}},   {"/missing", {folder.path() + "/no", 0, 1}},
      {"/folder", {folder.path(), 0, 1}},           {"/link", {folder.path() + "/link", 0, 1}},
      {"/pipe", {folder.path() + "/pipe", 0, 1}}};
  for (const bool tls : {false, true}) {
    ServerOptions options{.exchange_limit = Seconds(60)};
    if (tls) options.tls = ServerTls{identity.pem, identity.key};
    const HttpServer server = serve(
        [&](const ServerRequest& request) {
          return ServerAnswer{.status = 206, .headers = {{"X-Kind", "file"}}, .file = parts.at(request.path)};
        },
        options);
    CurlHttp http;
    for (const auto& [name, part] : parts) {
      const bool is_bad = name == "/too-long" || name == "/behind" || name == "/missing" || name == "/folder" ||
                          name == "/link" || name == "/pipe";
      for (const char* method : {"GET", "HEAD"}) {
        auto answer =
            http.send({.method = method, .url = url_of(server, name, tls ? "https" : "http"), .tls = {.ca_pem = ca.pem}}, {});
        ASSERT_TRUE(answer.ok()) << name << ": " << answer.error().message();
        EXPECT_EQ(answer->status, is_bad ? 500 : 206) << name;
        if (is_bad) continue;
        EXPECT_EQ(answer->header("x-kind"), "file");
        EXPECT_EQ(answer->header("content-length"), std::to_string(part.length)) << name;
        const std::string expected =
            method == std::string("HEAD") || part.length == 0 ? "" : content.substr(part.offset, part.length);
        EXPECT_TRUE(answer->body == expected) << name << " " << method;
      }
    }
  }
}

// The file takes longer than the limit of other answers, but the client is faster than the slowest rate.
TEST(HttpServer, AFileHasTimeForItsSize) {
  const sys::TempDir folder = sys::TempDir::make("http-server-test").value();
  const std::string path = folder.path() + "/blob";
  sys::RealFiles files;
  // Much more than the buffers of a connection take while the client pauses.
  constexpr std::size_t size = 64'000'000;
  ASSERT_TRUE(files.write(path, std::string(size, 'x'), 0600).ok());
  const auto fetch = [&](std::uint64_t slowest_rate) {
    const HttpServer server = serve(
        [&](const ServerRequest&) {
          return ServerAnswer{.file = FilePart{path, 0, size}};
        },
        {.exchange_limit = Seconds(1), .slowest_file_rate = slowest_rate});
    CurlHttp http;
    std::size_t received = 0;
    SteadyTime next{};
    sys::RealClock clock;
    const Sink slow = [&](std::string_view piece) -> Result<> {
      received += piece.size();
      if (received >= 4'000'000 && next == SteadyTime{}) {
        next = clock.steady() + Seconds(3);
        while (clock.steady() < next) std::this_thread::sleep_for(Milliseconds(50));
      }
      return Ok{};
    };
    const auto answer = http.send({.url = url_of(server)}, {}, slow);
    return answer.ok() && received == size;
  };
  EXPECT_TRUE(fetch(1'000'000));
  EXPECT_FALSE(fetch(1'000'000'000));
}

TEST(HttpServer, RefusesBodiesAboveItsLimit) {
  std::atomic<int> calls = 0;
  const HttpServer server = serve(
      [&](const ServerRequest& request) {
        ++calls;
        return text_answer(200, std::to_string(request.body.size()));
      },
      {.body_limit = 1000});
  CurlHttp http;
  EXPECT_EQ(http.send({.method = "POST", .url = url_of(server), .body = std::string(1000, 'x')}, {})->body, "1000");
  for (std::size_t size : {1001u, 5'000'000u}) {
    auto answer = http.send({.method = "POST", .url = url_of(server), .body = std::string(size, 'x')}, {});
    ASSERT_TRUE(answer.ok()) << answer.error().message();
    EXPECT_EQ(answer->status, 413);
    EXPECT_EQ(answer->body, "request too large, at most 1.0 kB\n");
  }
  EXPECT_EQ(calls, 1);
}

TEST(HttpServer, AHandlerThatThrowsHarmsItsOwnRequestOnly) {
  const HttpServer server = serve([](const ServerRequest& request) -> ServerAnswer {
    if (request.path == "/bad") throw std::runtime_error("secret detail");
    return text_answer(200, "fine");
  });
  CurlHttp http;
  auto bad = http.send({.url = url_of(server, "/bad")}, {});
  ASSERT_TRUE(bad.ok()) << bad.error().message();
  EXPECT_EQ(bad->status, 500);
  EXPECT_EQ(bad->body, "internal server error\n");
  EXPECT_EQ(http.send({.url = url_of(server)}, {})->body, "fine");
}

TEST(HttpServer, AHandlerThatIsSlowDelaysItsOwnRequestOnly) {
  std::latch reached(4), go(1);
  HttpServer server = serve([&](const ServerRequest& request) {
    if (request.path == "/slow") {
      reached.count_down();
      go.wait();
    }
    return text_answer(200, "done");
  });
  CurlHttp http;
  std::vector<std::jthread> slow;
  for (int i = 0; i < 4; ++i) {
    slow.emplace_back([&] { EXPECT_EQ(http.send({.url = url_of(server, "/slow")}, {})->body, "done"); });
  }
  reached.wait();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(http.send({.url = url_of(server)}, {})->body, "done");
  go.count_down();
}

TEST(HttpServer, ServesManyAtOnce) {
  const Certificate ca = make_test_certificate("ca"), identity = make_test_certificate("server", &ca);
  const HttpServer server = serve(echo, {.tls = ServerTls{identity.pem, identity.key}, .connections = 64});
  CurlHttp http;
  std::vector<std::jthread> clients;
  std::atomic<int> right = 0;
  for (int i = 0; i < 200; ++i) {
    clients.emplace_back([&, i] {
      const std::string path = fmt::format("/{}", i);
      auto answer = http.send({.url = url_of(server, path, "https"), .tls = {.ca_pem = ca.pem}}, {});
      EXPECT_TRUE(answer.ok()) << answer.error().message();
      if (answer.ok() && answer->body == fmt::format("GET {} ? 127.0.0.1 - ", path)) ++right;
    });
  }
  clients.clear();
  EXPECT_EQ(right, 200);
}

TEST(HttpServer, ProvesItselfWithItsCertificate) {
  const Certificate ca = make_test_certificate("ca"), other = make_test_certificate("ca"),
                    identity = make_test_certificate("server", &ca);
  const HttpServer server = serve(echo, {.tls = ServerTls{identity.pem, identity.key}});
  CurlHttp http;
  EXPECT_TRUE(http.send({.url = url_of(server, "/", "https"), .tls = {.ca_pem = ca.pem}}, {}).ok());
  auto refused = http.send({.url = url_of(server, "/", "https"), .tls = {.ca_pem = other.pem}}, {});
  EXPECT_EQ(refused.error().code(), Code::denied) << refused.error().message();
}

TEST(HttpServer, SpeaksTls12And13AndHttp11Only) {
  const Certificate identity = make_test_certificate("server");
  const HttpServer server = serve(echo, {.tls = ServerTls{identity.pem, identity.key}});
  testing_support::RealTimeContext context;
  sys::RealRunner runner;
  auto ask = [&](std::vector<std::string> how) {
    std::vector<std::string> argv = {"openssl", "s_client",   "-connect", fmt::format("127.0.0.1:{}", server.port()),
                                     "-alpn",   "h2,http/1.1"};
    argv.insert(argv.end(), how.begin(), how.end());
    return runner.run(context.context(), {.argv = argv, .limit = Seconds(20)}).value();
  };
  for (const char* version : {"TLSv1.2", "TLSv1.3"}) {
    const sys::Output output = ask({version == std::string("TLSv1.2") ? "-tls1_2" : "-tls1_3"});
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_NE(output.out.find(fmt::format("New, {}, Cipher is", version)), std::string::npos) << output.out;
    EXPECT_NE(output.out.find("ALPN protocol: http/1.1"), std::string::npos) << output.out;
  }
  EXPECT_NE(ask({"-tls1_1", "-cipher", "ALL:@SECLEVEL=0"}).status, 0);
}

TEST(HttpServer, SaysWhyItCannotListen) {
  const Certificate a = make_test_certificate("a"), b = make_test_certificate("b");
  const HttpServer first = serve(echo);
  struct Case {
    ServerOptions options;
    Code code;
    std::string message;
  };
  const Case cases[] = {
      {{.port = first.port()}, Code::conflict, fmt::format("listening on 127.0.0.1:{}: address already in use", first.port())},
      {{.address = "192.0.2.1"}, Code::unavailable, "listening on 192.0.2.1:0: this machine has no such address"},
      {{.address = "api.example"}, Code::invalid, "listening on api.example:0: 'api.example' is not an IP address"},
      {{.tls = ServerTls{a.pem, b.key}}, Code::invalid, "the server's key does not belong to its certificate"},
      {{.tls = ServerTls{"x", b.key}}, Code::invalid, "the server's certificate: the text contains no certificate"},
  };
  for (const Case& c : cases) {
    auto server = HttpServer::listen(c.options, echo);
    ASSERT_FALSE(server.ok()) << c.message;
    EXPECT_EQ(server.error().message(), c.message);
    EXPECT_EQ(server.error().code(), c.code);
  }
}

TEST(HttpServer, ServesBothFamiliesOnOneSocket) {
  auto server = HttpServer::listen({.address = "::"}, echo);
  if (!server.ok()) GTEST_SKIP() << "no IPv6 here: " << server.error().message();
  CurlHttp http;
  EXPECT_EQ(http.send({.url = url_of(server.value())}, {})->body, "GET / ? 127.0.0.1 - ");
  EXPECT_EQ(http.send({.url = {"http", "::1", server->port()}}, {})->body, "GET / ? ::1 - ");
}

TEST(HttpServer, EndsIdleConnections) {
  const HttpServer server = serve(echo, {.idle_limit = Seconds(1)});
  testing_support::RealTimeContext context;
  sys::RealRunner runner;
  // Sends half a request and waits until the server closes the connection.
  const std::string script = fmt::format(
      "exec 3<>/dev/tcp/127.0.0.1/{}; printf 'GET / HTTP/1.1\\r\\nHost: x\\r\\n' >&3; cat <&3 >/dev/null", server.port());
  EXPECT_TRUE(runner.run(context.context(), {.argv = {"bash", "-c", script}, .limit = Seconds(20)}).ok());
}

// Connections of a client that sends nothing or a byte from time to time.
class Strangers {
 public:
  // address: the client's, 127.0.0.N
  void connect(const HttpServer& server, const char* address) {
    sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in own{};
    own.sin_family = AF_INET;
    ASSERT_EQ(inet_pton(AF_INET, address, &own.sin_addr), 1);
    ASSERT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(static_cast<std::uint16_t>(server.port()));
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
    sockets_.push_back(std::move(socket));
  }
  void drip() {
    for (const sys::Fd& socket : sockets_) (void)send(socket.get(), "G", 1, MSG_NOSIGNAL);
  }
  // Number of connections that the server has closed.
  int ended() {
    int count = 0;
    char byte = 0;
    for (const sys::Fd& socket : sockets_) {
      const ssize_t got = recv(socket.get(), &byte, 1, MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN)) ++count;
    }
    return count;
  }

 private:
  std::vector<sys::Fd> sockets_;
};

TEST(HttpServer, OneAddressCannotHoldAllConnections) {
  const Certificate ca = make_test_certificate("ca"), identity = make_test_certificate("server", &ca);
  const HttpServer server = serve(
      echo,
      {.tls = ServerTls{identity.pem, identity.key}, .connections = 16, .connections_per_address = 4, .idle_limit = Seconds(60)});
  Strangers strangers;
  for (int i = 0; i < 40; ++i) strangers.connect(server, "127.0.0.2");
  CurlHttp http;
  auto answer = http.send({.url = url_of(server, "/", "https"), .tls = {.ca_pem = ca.pem}, .whole_limit = Seconds(20)}, {});
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(strangers.ended(), 36);
}

TEST(HttpServer, ConnectionsThatAskNothingEndThoughTheyAreNotIdle) {
  const Certificate ca = make_test_certificate("ca"), identity = make_test_certificate("server", &ca);
  for (const bool tls : {false, true}) {
    ServerOptions options{
        .connections = 8, .connections_per_address = 4, .idle_limit = Seconds(60), .exchange_limit = Seconds(2)};
    if (tls) options.tls = ServerTls{identity.pem, identity.key};
    const HttpServer server = serve(echo, options);
    Strangers strangers;
    for (const char* address : {"127.0.0.2", "127.0.0.3"}) {
      for (int i = 0; i < 4; ++i) strangers.connect(server, address);
    }
    std::jthread drip([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        strangers.drip();
        std::this_thread::sleep_for(Milliseconds(100));
      }
    });
    CurlHttp http;
    const Url url = url_of(server, "/", tls ? "https" : "http");
    auto answer = http.send({.url = url, .tls = {.ca_pem = ca.pem}, .whole_limit = Seconds(30)}, {});
    ASSERT_TRUE(answer.ok()) << answer.error().message();
    EXPECT_EQ(answer->status, 200);
    // Each connection ends at its own limit, the last one a moment after the first.
    for (int i = 0; i < 100 && strangers.ended() < 8; ++i) std::this_thread::sleep_for(Milliseconds(100));
    drip.request_stop();
    drip.join();
    EXPECT_EQ(strangers.ended(), 8);
  }
}

// The limit applies to one exchange: a connection with repeated requests may live longer.
TEST(HttpServer, ConnectionsThatAskLiveOn) {
  const HttpServer server = serve(
      [](const ServerRequest&) {
        std::this_thread::sleep_for(Milliseconds(600));
        return text_answer(200, "done");
      },
      {.exchange_limit = Seconds(2)});
  CurlHttp http;
  for (int i = 0; i < 6; ++i) {
    auto answer = http.send({.url = url_of(server)}, {});
    ASSERT_TRUE(answer.ok()) << answer.error().message();
    EXPECT_EQ(answer->body, "done");
  }
}

// The destructor waits for running handlers, answers queued requests, and does not hang.
TEST(HttpServer, EndsWhileRequestsRun) {
  const Certificate ca = make_test_certificate("ca"), identity = make_test_certificate("server", &ca);
  for (bool tls : {false, true}) {
    std::counting_semaphore<> reached(0);
    std::atomic<int> running = 0;
    ServerOptions options;
    if (tls) options.tls = ServerTls{identity.pem, identity.key};
    auto server = std::make_unique<HttpServer>(serve(
        [&](const ServerRequest&) {
          ++running;
          reached.release();
          std::this_thread::sleep_for(Milliseconds(50));
          --running;
          return text_answer(200, std::string(1'000'000, 'x'));
        },
        options));
    CurlHttp http;
    std::vector<std::jthread> clients;
    const Url url = url_of(*server, "/", tls ? "https" : "http");
    for (int i = 0; i < 40; ++i) {
      clients.emplace_back([&] { (void)http.send({.url = url, .tls = {.ca_pem = ca.pem}}, {}).ok(); });
    }
    for (int i = 0; i < 16; ++i) reached.acquire();
    server.reset();
    EXPECT_EQ(running, 0);
  }
}

}  // namespace
}  // namespace slipway::net
