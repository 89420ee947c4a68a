#include "components/static_pod_installer/run_when_ready.h"

#include "support/memory_files.h"
#include "support/seeded_random.h"
#include "support/test_context.h"
#include "sys/runner.h"

#include <gtest/gtest.h>

#include <functional>

namespace slipway::components::static_pod_installer {
namespace {

using namespace std::chrono_literals;

// A server that gives the test's answer to the n-th request.
class PlayedServer final : public net::Http {
 public:
  explicit PlayedServer(std::function<Result<net::Answer>(int n)> play) : play_(std::move(play)) {}
  Result<net::Answer> send(const net::Request& request, std::stop_token, const net::Sink&) override {
    seen.push_back(request);
    return play_(static_cast<int>(seen.size()));
  }
  std::vector<net::Request> seen;

 private:
  std::function<Result<net::Answer>(int n)> play_;
};

struct World {
  explicit World(std::function<Result<net::Answer>(int n)> play) : http(std::move(play)) {}
  components::Environment environment() { return {context, files, runner, random, http}; }

  PlayedServer http;
  testing_support::MemoryFiles files;
  testing_support::TestContext test;
  const sys::Context context = test.context();
  sys::RealRunner runner;
  testing_support::SeededRandom random{1};
};

net::Answer answer(int status, std::string body = "") { return {.status = status, .headers = {}, .body = std::move(body)}; }

Gate gate(Arguments more = {}) {
  Arguments arguments = {"--url=http://127.0.0.1:9980/readyz"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  arguments.insert(arguments.end(), {"--", "sh", "-c", "exit 7"});
  return parse_gate(arguments).value();
}

TEST(ParseGate, TakesAProgramWithItsOwnFlags) {
  const Gate parsed = parse_gate({"--url=https://localhost:6443/readyz", "--ca=/ca", "--cert", "/crt", "--key=/key",
                                  "--limit=90s", "--", "hyperkube", "--url=x", "--", "-v"})
                          .value();
  EXPECT_EQ(to_string(parsed.url), "https://localhost:6443/readyz");
  EXPECT_EQ(parsed.ca, "/ca");
  EXPECT_EQ(parsed.certificate, "/crt");
  EXPECT_EQ(parsed.key, "/key");
  EXPECT_EQ(parsed.limit, Milliseconds(90s));
  EXPECT_EQ(parsed.program, (Arguments{"hyperkube", "--url=x", "--", "-v"}));
  EXPECT_EQ(gate().limit, Milliseconds(10min));
}

TEST(ParseGate, RefusesTheRest) {
  struct Case {
    Arguments arguments;
    std::string message;
  };
  const Case cases[] = {
      {{"--", "true"}, "run-when-ready: --url is missing"},
      {{"--url=http://127.0.0.1/"}, "run-when-ready: no program given after --"},
      {{"--url=http://127.0.0.1/", "--"}, "run-when-ready: no program given after --"},
      {{"--url=http://127.0.0.1/", "true"}, "run-when-ready: 'true' is not a flag"},
      {{"--url=http://127.0.0.1/", "--cert=/crt", "--", "true"}, "run-when-ready: --cert and --key must be used together"},
      {{"--url=http://127.0.0.1/", "--limit=soon", "--", "true"}, "--limit: 'soon' is not a duration like 10m or 1h30m"},
  };
  for (const Case& c : cases) EXPECT_EQ(parse_gate(c.arguments).error().message(), c.message);
  EXPECT_FALSE(parse_gate({"--url=ftp://127.0.0.1/", "--", "true"}).ok());
}

TEST(WaitUntilOpen, AsksUntilTheAnswerIs200) {
  World world([](int n) -> Result<net::Answer> {
    if (n < 3) return error(Code::unavailable, "refused");
    if (n == 3) return error(Code::denied, "the certificate is not trusted");
    return answer(n < 6 ? 503 : 200);
  });
  EXPECT_TRUE(wait_until_open(world.environment(), gate()).ok());
  EXPECT_EQ(world.http.seen.size(), 6u);
  EXPECT_EQ(world.test.clock.elapsed(), Milliseconds(50 + 100 + 200 + 200 + 200));
}

TEST(WaitUntilOpen, SaysAfterItsLimitWhatWasWrong) {
  World world([](int) { return answer(503, "[-]leader failed\n"); });
  const Result<> waited = wait_until_open(world.environment(), gate({"--limit=3s"}));
  EXPECT_EQ(waited.error().code(), Code::timeout);
  EXPECT_EQ(waited.error().message(),
            "waiting for status 200 from http://127.0.0.1:9980/readyz: timed out after 3.0 s: status 503: [-]leader failed");
}

TEST(WaitUntilOpen, EndsWithAStop) {
  World world([&](int) -> Result<net::Answer> { return error(Code::unavailable, "refused"); });
  world.test.stop.request_stop();
  EXPECT_EQ(wait_until_open(world.environment(), gate()).error().code(), Code::cancelled);
}

TEST(WaitUntilOpen, TakesCertificatesAsTheyCome) {
  World world([](int) { return answer(200); });
  const Gate with_files = gate({"--ca=/ca", "--cert=/crt", "--key=/key", "--limit=1s"});
  EXPECT_NE(wait_until_open(world.environment(), with_files).error().message().find("reading /crt"), std::string::npos);
  ASSERT_TRUE(world.files.write("/crt", "CRT", 0600).ok());
  ASSERT_TRUE(world.files.write("/key", "KEY", 0600).ok());
  ASSERT_TRUE(wait_until_open(world.environment(), with_files).ok());
  EXPECT_EQ(world.http.seen.back().tls.ca_file, "/ca");
  EXPECT_EQ(world.http.seen.back().tls.client_pem, "CRT");
  EXPECT_EQ(world.http.seen.back().tls.client_key.reveal(), "KEY");
}

TEST(RunWhenReady, BecomesTheProgram) {
  const Arguments arguments = {"--url=http://127.0.0.1:9980/readyz", "--", "sh", "-c", "exit 7"};
  EXPECT_EXIT(
      {
        World world([](int n) { return answer(n < 3 ? 503 : 200); });
        (void)run_when_ready(world.environment(), arguments).ok();
      },
      testing::ExitedWithCode(7), "");
}

TEST(RunWhenReady, SaysThatThereIsNoProgram) {
  World world([](int) { return answer(200); });
  const Result<> ended = run_when_ready(world.environment(), {"--url=http://127.0.0.1/", "--", "/no/such/program"});
  EXPECT_EQ(ended.error().code(), Code::not_found);
}

}  // namespace
}  // namespace slipway::components::static_pod_installer
