#include "kube/client.h"

#include "net/curl_http.h"
#include "support/http_imposter.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <thread>

namespace slipway::kube {
namespace {

using testing_support::HttpImposter;
using testing_support::RealTimeContext;
using testing_support::TestContext;
using testing_support::unused_port;

Access access_to(int port) { return {.server = fmt::format("http://127.0.0.1:{}/prefix/", port), .token = Secret("abc")}; }

// Answers all requests with the same reply.
class Server {
 public:
  explicit Server(HttpImposter::Reply reply) : imposter_([reply](const auto&) { return reply; }) {}
  Result<Json> send(const ApiRequest& request) { return client_.send(test_.context(), request); }
  Result<> stream(const std::function<Result<>(WatchEvent)>& on_event) {
    return client_.stream(test_.context(), "/api/v1/nodes?watch=true&resourceVersion=5", on_event);
  }
  HttpImposter::Seen seen() const { return imposter_.journal().at(0); }

  RealTimeContext test_;

 private:
  HttpImposter imposter_;
  net::CurlHttp http_;
  Client client_{http_, access_to(imposter_.port())};
};

std::string status(std::string_view message) { return emit_json({{"kind", "Status"}, {"message", message}}, JsonStyle::compact); }

// Records the request and answers with an empty body.
class RecordingHttp final : public net::Http {
 public:
  Result<net::Answer> send(const net::Request& request, std::stop_token, const net::Sink&) override {
    last = request;
    net::Answer answer;
    answer.status = 200;
    return answer;
  }
  net::Request last;
};

TEST(Client, CountsRequestsAndWatches) {
  // Answers with one status after the other; 0: no connection.
  class Statuses final : public net::Http {
   public:
    Result<net::Answer> send(const net::Request&, std::stop_token, const net::Sink&) override {
      net::Answer answer;
      answer.status = next.at(at++);
      if (answer.status == 0) return error(Code::unavailable, "no connection");
      return answer;
    }
    std::vector<int> next{200, 201, 409, 0, 200, 410};
    std::size_t at = 0;
  } http;
  RealTimeContext test;
  Metrics metrics;
  Client client(http, access_to(1), &metrics);
  EXPECT_EQ(client.metrics(), &metrics);
  for (const char* method : {"GET", "GET", "PUT", "PUT"})
    (void)client.send(test.context(), {.method = method, .path = "/api/v1/nodes/a"});
  const auto no_events = [](const WatchEvent&) -> Result<> { return Ok{}; };
  for (int i = 0; i < 2; ++i) (void)client.stream(test.context(), "/api/v1/namespaces/a/pods?watch=true", no_events);
  EXPECT_EQ(metrics.samples({}),
            "slipway_api_requests_total{verb=\"GET\",code=\"2xx\"} 2\n"
            "slipway_api_requests_total{verb=\"PUT\",code=\"4xx\"} 1\n"
            "slipway_api_requests_total{verb=\"PUT\",code=\"none\"} 1\n"
            "slipway_api_requests_total{verb=\"WATCH\",code=\"2xx\"} 1\n"
            "slipway_api_requests_total{verb=\"WATCH\",code=\"4xx\"} 1\n"
            "slipway_watches_total{resource=\"pods\"} 2\n");
}

TEST(Client, SendsCompactJsonWithItsTokenBelowThePathOfTheServer) {
  Server server({.headers = {"Content-Type: application/json"}, .body = R"({"kind":"Node"})"});
  const Result<Json> answer =
      server.send({.method = "PATCH", .path = "/api/v1/nodes/a", .body = Json{{"a", 1}}, .content_type = "application/x"});
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_EQ(find_string(answer.value(), {"kind"}), "Node");
  const HttpImposter::Seen seen = server.seen();
  EXPECT_EQ(seen.line(), "PATCH /prefix/api/v1/nodes/a");
  EXPECT_EQ(seen.body, R"({"a":1})");
  EXPECT_EQ(seen.header("content-type"), "application/x");
  EXPECT_EQ(seen.header("authorization"), "Bearer abc");
}

TEST(Client, AnswersWithNullOrTextWhereThereIsNoJson) {
  EXPECT_EQ(Server({.body = ""}).send({.path = "/x"}).value(), Json(nullptr));
  EXPECT_EQ(Server({.headers = {"Content-Type: text/plain; charset=utf-8"}, .body = "ok"}).send({.path = "/readyz"}).value(),
            Json("ok"));
}

TEST(Client, TellsWhatTheServerSaid) {
  struct Case {
    int status;
    std::string body;
    Code code;
    const char* message;
  };
  const Case cases[] = {
      {404, status("nodes \"a\" not found"), Code::not_found, "GET /api/v1/nodes/a: nodes \"a\" not found"},
      {409, status("it was changed"), Code::conflict, "GET /api/v1/nodes/a: it was changed"},
      {410, status("too old"), Code::conflict, "GET /api/v1/nodes/a: too old"},
      {401, status("Unauthorized"), Code::denied, "GET /api/v1/nodes/a: Unauthorized"},
      {403, status("no"), Code::denied, "GET /api/v1/nodes/a: no"},
      {403, status("nodes is forbidden: not yet ready to handle request"), Code::unavailable,
       "GET /api/v1/nodes/a: nodes is forbidden: not yet ready to handle request"},
      {422, status("bad name"), Code::invalid, "GET /api/v1/nodes/a: bad name"},
      {429, status("too many"), Code::unavailable, "GET /api/v1/nodes/a: too many"},
      {503, "down\n", Code::unavailable, "GET /api/v1/nodes/a: down"},
      {500, "", Code::unavailable, "GET /api/v1/nodes/a: the server answered with HTTP status 500"},
  };
  for (const Case& c : cases) {
    Server server({.status = c.status, .headers = {"Retry-After: 1"}, .body = c.body});
    const Result<Json> answer = server.send({.path = "/api/v1/nodes/a?pretty=false"});
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code(), c.code) << c.status;
    EXPECT_EQ(answer.error().message(), c.message);
    const Result<> watched = server.stream([](WatchEvent) -> Result<> { return Ok{}; });
    ASSERT_FALSE(watched.ok());
    EXPECT_EQ(watched.error().code(), c.code) << c.status;
  }
}

TEST(Client, SaysThatNobodyListens) {
  TestContext test;
  net::CurlHttp http;
  const int port = unused_port();
  Client client(http, access_to(port));
  const Result<Json> answer = client.send(test.context(), {.path = "/api/v1/nodes"});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Code::unavailable);
  EXPECT_EQ(answer.error().message(), fmt::format("GET /api/v1/nodes: 127.0.0.1:{}: cannot connect: Connection refused", port));
}

TEST(Client, EndsARequestThatTakesTooLongAlthoughBytesFlow) {
  Server server({.body = std::string(1'000'000, 'x'), .piece_pause = Milliseconds(20)});
  const auto start = server.test_.clock.steady();
  const Result<Json> answer = server.send({.path = "/x", .limit = Milliseconds(300)});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code(), Code::unavailable);
  EXPECT_LT(server.test_.clock.steady() - start, Seconds(5));
}

TEST(Client, ConnectsToTheServerUnderAnotherName) {
  TestContext test;
  RecordingHttp http;
  struct Case {
    Access access;
    const char* url;
    const char* connect_to;
  };
  const Case cases[] = {
      {{.server = "https://127.0.0.1:6443"}, "https://127.0.0.1:6443/x", ""},
      {{.server = "https://127.0.0.1:6443", .tls_server_name = "api.demo"}, "https://api.demo:6443/x", "127.0.0.1:6443"},
      {{.server = "https://[::1]", .tls_server_name = "api.demo"}, "https://api.demo/x", "[::1]:443"},
      {{.server = "https://api.demo:6443", .connect_to = "127.0.0.1:1"}, "https://api.demo:6443/x", "127.0.0.1:1"},
      {{.server = "https://a:6443", .tls_server_name = "b", .connect_to = "127.0.0.1:1"}, "https://b:6443/x", "127.0.0.1:1"},
  };
  for (const Case& c : cases) {
    Access access = c.access;
    access.ca = "CA";
    access.client_certificate = "CERT";
    access.client_key = Secret("KEY");
    Client client(http, access);
    ASSERT_TRUE(client.send(test.context(), {.path = "/x"}).ok());
    EXPECT_EQ(to_string(http.last.url), c.url);
    EXPECT_EQ(http.last.tls.connect_to, c.connect_to);
    EXPECT_EQ(http.last.tls.ca_pem, "CA");
    EXPECT_EQ(http.last.tls.client_pem, "CERT");
    EXPECT_EQ(http.last.tls.client_key, Secret("KEY"));
    EXPECT_FALSE(http.last.authorization.has_value());
  }
}

// Delivers a body in pieces of a fixed size.
class PieceHttp final : public net::Http {
 public:
  PieceHttp(std::string body, std::size_t size) : body_(std::move(body)), size_(size) {}
  Result<net::Answer> send(const net::Request&, std::stop_token, const net::Sink& sink) override {
    for (std::size_t at = 0; at < body_.size(); at += size_) TRY(sink(std::string_view(body_).substr(at, size_)));
    net::Answer answer;
    answer.status = 200;
    return answer;
  }

 private:
  std::string body_;
  std::size_t size_;
};

TEST(Stream, ReadsEventsHoweverTheyAreCut) {
  const std::string body =
      "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n"
      "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"b\u00e4\"}}}\r\n\n"
      "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\"}}}\n"
      "{\"type\":\"NEWER\",\"object\":{}}\n"
      "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n";
  for (std::size_t size = 1; size <= body.size(); ++size) {
    TestContext test;
    PieceHttp http(body, size);
    Client client(http, access_to(1));
    std::vector<WatchEvent::Kind> kinds;
    const Result<> ended = client.stream(test.context(), "/x", [&](WatchEvent event) -> Result<> {
      kinds.push_back(event.kind);
      return Ok{};
    });
    ASSERT_TRUE(ended.ok()) << ended.error().message();
    using Kind = WatchEvent::Kind;
    EXPECT_EQ(kinds, (std::vector<Kind>{Kind::added, Kind::modified, Kind::bookmark, Kind::deleted})) << size;
  }
}

TEST(Stream, TakesAnEventOfTwoMegabytes) {
  const std::string text(2'000'000, 'x');
  Server server({.body = fmt::format("{{\"type\":\"ADDED\",\"object\":{{\"text\":\"{}\"}}}}\n", text)});
  std::size_t size = 0;
  const Result<> ended = server.stream([&](WatchEvent event) -> Result<> {
    size = find_string(event.object, {"text"}).value_or("").size();
    return Ok{};
  });
  ASSERT_TRUE(ended.ok()) << ended.error().message();
  EXPECT_EQ(size, text.size());
}

TEST(Stream, EndsWithWhatTheServerOrTheCallerSays) {
  const std::string event = R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})";
  struct Case {
    std::string body;
    Code code;
    const char* message;
  };
  const Case cases[] = {
      {R"({"type":"ERROR","object":{"code":410,"message":"too old resource version: 5"}})"
       "\n",
       Code::conflict, "GET /api/v1/nodes: too old resource version: 5"},
      {R"({"type":"ERROR","object":{"code":500,"message":"etcd is away"}})"
       "\n",
       Code::unavailable, "GET /api/v1/nodes: etcd is away"},
      {event, Code::unavailable, "GET /api/v1/nodes: the watch ended in the middle of an event"},
      {event + "\n", Code::conflict, "mine"},
      {"no json\n", Code::invalid, ""},
  };
  for (const Case& c : cases) {
    Server server({.body = c.body});
    const Result<> ended = server.stream([](WatchEvent) -> Result<> { return error(Code::conflict, "mine"); });
    ASSERT_FALSE(ended.ok()) << c.body;
    EXPECT_EQ(ended.error().code(), c.code) << ended.error().message();
    EXPECT_TRUE(ended.error().message().starts_with(c.message)) << ended.error().message();
  }
}

TEST(Stream, EndsAtOnceWhenStopped) {
  const std::string event = "{\"type\":\"ADDED\",\"object\":{}}\n";
  Server server({.body = event + event, .cut_after = event.size(), .hang = true});
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    server.test_.stop.request_stop();
  });
  const auto start = server.test_.clock.steady();
  const Result<> ended = server.stream([](WatchEvent) -> Result<> { return Ok{}; });
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code(), Code::cancelled);
  EXPECT_LT(server.test_.clock.steady() - start, Seconds(5));
}

}  // namespace
}  // namespace slipway::kube
