#include "net/curl_http.h"

#include "support/http_imposter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <thread>

namespace slipway::net {
namespace {

using testing_support::HttpImposter;
using Seen = HttpImposter::Seen;
using Reply = HttpImposter::Reply;

Milliseconds took(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - start);
}

TEST(CurlHttp, SendsMethodHeadersAndBody) {
  HttpImposter server([](const Seen&) { return Reply{.status = 201, .headers = {"X-Answer: a: b "}, .body = "made"}; });
  CurlHttp http;
  auto answer = http.send({.method = "PUT",
                           .url = server.url("/v2/a/../b?c=d"),
                           .headers = {{"Content-Type", "application/json"}, {"X-Empty", ""}},
                           .authorization = Secret("Bearer x"),
                           .body = "{}"},
                          {});
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "made");
  EXPECT_EQ(answer->header("x-answer"), "a: b");
  EXPECT_EQ(answer->header("x-other"), std::nullopt);
  const Seen seen = server.journal().at(0);
  EXPECT_EQ(seen.line(), "PUT /v2/a/../b?c=d");
  EXPECT_EQ(seen.body, "{}");
  EXPECT_EQ(seen.headers, (std::map<std::string, std::string>{{"host", server.host()},
                                                              {"user-agent", "slipway"},
                                                              {"accept", "*/*"},
                                                              {"content-type", "application/json"},
                                                              {"x-empty", ""},
                                                              {"authorization", "Bearer x"},
                                                              {"content-length", "2"}}));
}

TEST(CurlHttp, SendsEveryMethodTheRegistryApiHas) {
  HttpImposter server([](const Seen&) { return Reply{.body = "12345"}; });
  CurlHttp http;
  for (const char* method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}) {
    auto answer = http.send({.method = method, .url = server.url("/")}, {});
    ASSERT_TRUE(answer.ok()) << method << ": " << answer.error().message();
    EXPECT_EQ(answer->body, method == std::string("HEAD") ? "" : "12345");
    EXPECT_EQ(answer->header("Content-Length"), "5");
    const Seen seen = server.journal().back();
    EXPECT_EQ(seen.line(), std::string(method) + " /");
    EXPECT_EQ(seen.header("content-length"), method[0] == 'P' ? "0" : "") << method;
  }
}

TEST(CurlHttp, KeepsConnections) {
  HttpImposter server([](const Seen&) { return Reply{}; });
  CurlHttp http;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(http.send({.url = server.url("/")}, {}).ok());
  EXPECT_EQ(server.journal().at(2).connection, 1);
  ASSERT_TRUE(http.send({.url = server.url("/"), .sends_once = true}, {}).ok());
  EXPECT_EQ(server.journal().at(3).connection, 2);
}

TEST(CurlHttp, GivesBodiesOfSuccessToTheSinkOnly) {
  HttpImposter server([](const Seen& seen) {
    return seen.target == "/good" ? Reply{.body = std::string(300'000, 'x')}
                                  : Reply{.status = 404, .body = std::string(300'000, 'y')};
  });
  CurlHttp http;
  std::size_t got = 0;
  int heads = 0;
  auto sink = [&](std::string_view piece) -> Result<> { return got += piece.size(), Ok{}; };
  auto head = [&](const Answer& answer) -> Result<> {
    EXPECT_EQ(got, 0u);
    EXPECT_EQ(answer.header("content-length"), "300000");
    return ++heads, Ok{};
  };
  auto good = http.send({.url = server.url("/good"), .check_head = head}, {}, sink);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good->body, "");
  EXPECT_EQ(got, 300'000u);
  EXPECT_EQ(heads, 1);
  auto bad = http.send({.url = server.url("/bad"), .check_head = head}, {}, sink);
  ASSERT_TRUE(bad.ok());
  EXPECT_EQ(bad->status, 404);
  EXPECT_EQ(bad->body, std::string(64'000, 'y'));
  EXPECT_EQ(got, 300'000u);
  EXPECT_EQ(heads, 1);
}

TEST(CurlHttp, ReturnsTheErrorsOfCallbacks) {
  HttpImposter server([](const Seen&) { return Reply{.body = std::string(300'000, 'x')}; });
  CurlHttp http;
  const Error mine = error(Code::conflict, "disk full");
  auto fails = [&](auto&&...) -> Result<> { return mine; };
  auto by_sink = http.send({.url = server.url("/")}, {}, fails);
  auto by_head = http.send({.url = server.url("/"), .check_head = fails}, {});
  auto by_reader = http.send({.method = "PUT",
                              .url = server.url("/"),
                              .body_reader = [&](char*, std::size_t) -> Result<std::size_t> { return mine; },
                              .body_size = 5},
                             {});
  for (const auto& result : {by_sink, by_head, by_reader}) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().message(), "disk full");
    EXPECT_EQ(result.error().code(), Code::conflict);
  }
}

TEST(CurlHttp, ReadsBodiesInPieces) {
  HttpImposter server([](const Seen&) { return Reply{.status = 201}; });
  CurlHttp http;
  const std::string body(1'000'000, 'z');
  std::size_t at = 0;
  auto reader = [&](char* buffer, std::size_t size) -> Result<std::size_t> {
    const std::size_t count = body.copy(buffer, size, at);
    return at += count, count;
  };
  auto answer = http.send({.method = "PUT", .url = server.url("/"), .body_reader = reader, .body_size = body.size()}, {});
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_TRUE(server.journal().at(0).body == body);
}

TEST(CurlHttp, LeavesRedirectsToTheCaller) {
  HttpImposter server([](const Seen&) { return Reply{.status = 307, .headers = {"Location: /other"}}; });
  CurlHttp http;
  auto answer = http.send({.url = server.url("/")}, {});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, 307);
  EXPECT_EQ(server.journal().size(), 1u);
}

TEST(CurlHttp, ExplainsFailures) {
  HttpImposter server([](const Seen& seen) {
    if (seen.target == "/cut") return Reply{.body = std::string(1000, 'x'), .cut_after = 10};
    if (seen.target == "/silent") return Reply{.hang = true};
    if (seen.target == "/stuck") return Reply{.body = std::string(1000, 'x'), .cut_after = 10, .hang = true};
    return Reply{.body = std::string(2000, 'x')};
  });
  CurlHttp http;
  const int closed = testing_support::unused_port();
  Url tls = server.url("/");
  tls.scheme = "https";
  const std::string host = server.host();
  struct Case {
    Request request;
    Code code;
    std::string message;
  };
  const Case cases[] = {
      {{.url = {"http", "127.0.0.1", closed}},
       Code::unavailable,
       fmt::format("127.0.0.1:{}: cannot connect: Connection refused", closed)},
      {{.url = {"https", "a.invalid", 443}}, Code::unavailable, "a.invalid: Could not resolve host: a.invalid"},
      {{.url = {"http", "192.0.2.1", 80}}, Code::invalid, "192.0.2.1: plain http is not allowed for this server"},
      {{.url = server.url("/cut")}, Code::unavailable, host + ": transfer closed with 990 bytes remaining to read"},
      {{.url = server.url("/silent"), .idle_limit = Milliseconds(50)},
       Code::unavailable,
       host + ": no data sent or received for 50 ms"},
      {{.url = server.url("/stuck"), .idle_limit = Milliseconds(50)},
       Code::unavailable,
       host + ": no data sent or received for 50 ms"},
      {{.url = server.url("/large"), .answer_limit = 1000}, Code::too_large, host + ": the response is larger than 1.0 kB"},
      {{.url = server.url("/"), .headers = {{"X", "a\r\nHost: b"}}}, Code::invalid, host + ": header X has a line break"},
      {{.url = tls, .tls = {.ca_file = "/nowhere.pem"}},
       Code::invalid,
       host + ": the CA file /nowhere.pem cannot be used: error setting certificate file: /nowhere.pem"},
  };
  for (const Case& c : cases) {
    auto answer = http.send(c.request, {});
    ASSERT_FALSE(answer.ok()) << c.message;
    EXPECT_EQ(answer.error().message(), c.message);
    EXPECT_EQ(answer.error().code(), c.code) << c.message;
  }
}

// The whole transfer takes longer than the limit, but no pause does, also on a busy machine.
TEST(CurlHttp, SlowIsNotIdle) {
  HttpImposter server([](const Seen&) { return Reply{.body = std::string(10'000, 'x'), .piece_pause = Milliseconds(120)}; });
  CurlHttp http;
  auto answer = http.send({.url = server.url("/"), .idle_limit = Milliseconds(1000)}, {});
  EXPECT_TRUE(answer.ok()) << answer.error().message();
}

// A watch: silence is not a failure, costs no processor time and does not delay a stop.
// Whether one of a few runs takes less than the limit: on a busy host, threads may wait longer for a processor.
bool is_within(Milliseconds limit, const std::function<std::chrono::nanoseconds()>& run) {
  for (int i = 0; i < 5; ++i) {
    if (run() < limit) return true;
  }
  return false;
}

// Sends a request that hangs after a part of its answer, and stops it. Returns how long the call took to return then.
std::chrono::nanoseconds stop_in_the_middle(const HttpImposter& server, CurlHttp& http) {
  std::stop_source source;
  std::chrono::steady_clock::time_point asked;
  std::jthread stopper;
  auto sink = [&](std::string_view) -> Result<> {
    stopper = std::jthread([&] {
      std::this_thread::sleep_for(Milliseconds(100));
      asked = std::chrono::steady_clock::now();
      source.request_stop();
    });
    return Ok{};
  };
  const std::clock_t before = std::clock();
  auto answer = http.send({.url = server.url("/"), .idle_limit = Milliseconds(0)}, source.get_token(), sink);
  const auto returned = std::chrono::steady_clock::now();
  stopper.join();
  EXPECT_FALSE(answer.ok());
  if (!answer.ok()) {
    EXPECT_EQ(answer.error().code(), Code::cancelled) << answer.error().message();
  }
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 20);  // it sleeps
  return returned - asked;
}

TEST(CurlHttp, WithoutAnIdleLimitWaitsForAStop) {
  HttpImposter server([](const Seen&) { return Reply{.body = std::string(1000, 'x'), .cut_after = 10, .hang = true}; });
  CurlHttp http;
  EXPECT_TRUE(is_within(Milliseconds(50), [&] { return stop_in_the_middle(server, http); }));
}

TEST(CurlHttp, ConnectsWhereItIsTold) {
  HttpImposter server([](const Seen& seen) { return Reply{.body = seen.header("host")}; });
  CurlHttp http;
  auto answer =
      http.send({.url = {"http", "api.demo.example", 6443, "/"}, .tls = {.plain_http = true, .connect_to = server.host()}}, {});
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_EQ(answer->body, "api.demo.example:6443");
}

// Sends a request without an answer, and stops it. Returns how long the call took to return then.
std::chrono::nanoseconds stop_before_the_answer(HttpImposter& server, CurlHttp& http) {
  std::stop_source source;
  std::chrono::steady_clock::time_point asked;
  const std::size_t earlier = server.journal().size();
  std::jthread stopper([&] {
    for (int i = 0; i < 5000 && server.journal().size() == earlier; ++i) std::this_thread::sleep_for(Milliseconds(1));
    asked = std::chrono::steady_clock::now();
    source.request_stop();
  });
  auto answer = http.send({.url = server.url("/")}, source.get_token());
  const auto returned = std::chrono::steady_clock::now();
  stopper.join();
  EXPECT_FALSE(answer.ok());
  if (!answer.ok()) {
    EXPECT_EQ(answer.error().code(), Code::cancelled);
    EXPECT_EQ(answer.error().message(), server.host() + ": stopped before the response arrived");
  }
  return returned - asked;
}

TEST(CurlHttp, ReturnsAtOnceWhenStopped) {
  HttpImposter server([](const Seen&) { return Reply{.hang = true}; });
  CurlHttp http;
  EXPECT_TRUE(is_within(Milliseconds(50), [&] { return stop_before_the_answer(server, http); }));
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_TRUE(is_within(Milliseconds(5), [&] {
    return took([&] { EXPECT_EQ(http.send({.url = server.url("/")}, stopped.get_token()).error().code(), Code::cancelled); });
  }));
}

TEST(CurlHttp, ServesManyThreads) {
  HttpImposter server([](const Seen& seen) { return Reply{.body = seen.target}; });
  CurlHttp http;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string target = fmt::format("/{}/{}", t, i);
        auto answer = http.send({.url = server.url(target)}, {});
        ASSERT_TRUE(answer.ok()) << answer.error().message();
        EXPECT_EQ(answer->body, target);
      }
    });
  }
}

}  // namespace
}  // namespace slipway::net
