#include "agent/agent.h"

#include "base/text.h"
#include "net/curl_http.h"
#include "support/http_imposter.h"
#include "support/memory_files.h"
#include "support/seeded_random.h"
#include "support/test_context.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

namespace slipway::agent {
namespace {

using namespace testing_support;
using Seen = HttpImposter::Seen;
using Reply = HttpImposter::Reply;

// An agent in a machine without files of the kernel, whose clock moves only while it waits.
class AgentTest : public testing::Test {
 protected:
  // Runs until `answer` has called stop().
  Result<> run(const HttpImposter::Handler& answer) {
    HttpImposter server(answer);
    AgentOptions options{
        .service = {.url = "http://" + server.host(), .infra_env_id = "env", .token = Secret("of the environment")}};
    options.version = "slipway test";
    options.folder = folder_.path();
    options.root = folder_.path() + "/no-such-folder";
    const Result<> result = run_agent(environment_, options);
    journal_ = server.journal();
    return result;
  }

  void stop() { test_.stop.request_stop(); }

  std::set<std::string> ids() const {
    std::set<std::string> found;
    for (const Seen& seen : journal_) {
      if (seen.method == "POST" && seen.target.ends_with("/hosts")) {
        found.insert(text_of(parse_json(seen.body, "body").value(), {"host_id"}));
      }
    }
    return found;
  }

  long count(const std::string& method, const std::string& part) const {
    return std::count_if(journal_.begin(), journal_.end(),
                         [&](const Seen& seen) { return seen.method == method && seen.target.find(part) != std::string::npos; });
  }

  TestContext test_;
  sys::Context context_ = test_.context();
  sys::RealFiles files_;
  sys::RealRunner runner_;
  SeededRandom random_{1};
  net::CurlHttp http_;
  net::Environment environment_{context_, files_, runner_, random_, http_, [](std::string_view) {}};
  sys::TempDir folder_ = sys::TempDir::make("agent").value();
  std::vector<Seen> journal_;
};

bool registers(const Seen& seen) { return seen.method == "POST" && seen.target.ends_with("/hosts"); }

TEST_F(AgentTest, RegistersAndAsksWithItsOwnToken) {
  const Result<> result = run([&](const Seen& seen) {
    if (registers(seen)) return Reply{.status = 201, .body = R"({"id": "x", "host_token": "of the host"})"};
    stop();
    return Reply{.body = "{}"};
  });
  EXPECT_EQ(result.error().code(), Code::cancelled);
  ASSERT_EQ(journal_.size(), 2u);
  EXPECT_EQ(journal_[0].header("x-secret-key"), "of the environment");
  EXPECT_EQ(journal_[1].header("x-secret-key"), "of the host");
  EXPECT_EQ(journal_[1].header("prefer"), "wait=25");
}

TEST_F(AgentTest, SurvivesAServiceThatIsAwayForAnHour) {
  std::atomic<int> failures = 80;
  std::atomic<int> questions = 0;
  const Result<> result = run([&](const Seen& seen) {
    if (registers(seen)) return Reply{.status = 201, .body = "{}"};
    if (questions++ > 0 && failures-- > 0) return Reply{.status = 503};
    if (questions > 1) stop();
    return Reply{.body = R"({"next_instruction_seconds": 60})"};
  });
  EXPECT_EQ(result.error().code(), Code::cancelled);
  EXPECT_EQ(count("POST", "/hosts"), 1);  // a host that registers again while it is installed would fail
  EXPECT_GT(test_.clock.steady().time_since_epoch(), std::chrono::hours(1));
}

class AgentThatIsRefused : public AgentTest, public testing::WithParamInterface<int> {};

TEST_P(AgentThatIsRefused, RegistersAgain) {
  std::atomic<int> registrations = 0;
  (void)run([&](const Seen& seen) {
    if (!registers(seen)) {
      return Reply{.status = GetParam(), .body = R"({"next_instruction_seconds": 0, "post_step_action": "exit"})"};
    }
    if (++registrations == 2) stop();
    return Reply{.status = 201, .body = "{}"};
  });
  EXPECT_EQ(registrations, 2);
}

INSTANTIATE_TEST_SUITE_P(Answers, AgentThatIsRefused, testing::Values(200, 401, 404, 409));

TEST_F(AgentTest, ATwinTakesAnotherId) {
  std::string taken;
  const Result<> result = run([&](const Seen& seen) {
    if (!registers(seen)) {
      stop();
      return Reply{.body = "{}"};
    }
    const std::string id = text_of(parse_json(seen.body, "body").value(), {"host_id"});
    if (taken.empty()) taken = id;
    if (id == taken) return Reply{.status = 409, .body = R"({"cause": "host-id-in-use", "reason": "another host has this ID"})"};
    return Reply{.status = 201, .body = "{}"};
  });
  EXPECT_EQ(ids().size(), 2u);
  EXPECT_GE(test_.clock.steady().time_since_epoch(), std::chrono::minutes(4));
}

TEST_F(AgentTest, AnOtherRefusalKeepsTheId) {
  std::atomic<int> refusals = 0;
  (void)run([&](const Seen&) {
    if (++refusals == 10) stop();
    return Reply{.status = 409, .body = R"({"reason": "the cluster is being installed"})"};
  });
  EXPECT_EQ(ids().size(), 1u);
}

TEST_F(AgentTest, AnswersUnknownSteps) {
  std::atomic<bool> is_asked = false;
  std::string reply;
  (void)run([&](const Seen& seen) {
    if (registers(seen)) return Reply{.status = 201, .body = "{}"};
    if (seen.method == "POST") {
      reply = seen.body;
      stop();
      return Reply{.status = 204};
    }
    if (is_asked.exchange(true)) return Reply{.body = R"({"next_instruction_seconds": 60})"};
    return Reply{
        .body =
            R"({"next_instruction_seconds": 1, "instructions": [{"step_type": "execute", "step_id": "execute-1", "args": []}]})"};
  });
  const Json body = parse_json(reply, "reply").value();
  EXPECT_EQ(text_of(body, {"step_id"}), "execute-1");
  EXPECT_EQ(integer_of(body, {"exit_code"}), -1);
  EXPECT_EQ(text_of(body, {"error"}), "step type 'execute' is not supported by this agent");
}

TEST_F(AgentTest, OneRunsAtATime) {
  (void)run([&](const Seen& seen) {
    if (registers(seen)) return Reply{.status = 201, .body = "{}"};
    AgentOptions options{.service = {.url = "http://127.0.0.1:1", .infra_env_id = "env"}};
    options.folder = folder_.path();
    EXPECT_EQ(run_agent(environment_, options).error().code(), Code::conflict);
    stop();
    return Reply{.body = "{}"};
  });
}

TEST_F(AgentTest, WrongArgumentsAreNamed) {
  const std::vector<std::string> good = {"--url=https://192.168.1.1:8090", "--infra-env-id=4c4c4544-0046-3310-8058-b4c04f583232"};
  for (const auto& [argument, part] :
       std::vector<std::pair<std::string, std::string>>{{"--url=ftp://x", "--url"},
                                                        {"--infra-env-id=x", "--infra-env-id"},
                                                        {"--interval=0", "--interval"},
                                                        {"--host-id=x", "--host-id"},
                                                        {"--insecure", "insecure"},
                                                        {"--token-file=/no/such/file", "/no/such/file"}}) {
    std::vector<std::string> arguments = good;
    arguments.push_back(argument);
    const Result<> result = run_agent_command(environment_, arguments);
    ASSERT_FALSE(result.ok()) << argument;
    EXPECT_NE(result.error().message().find(part), std::string::npos) << result.error().message();
  }
}

// The unit in the config that hosts boot with is not part of this program.
TEST(AgentUnit, HasFlagsOfTheAgent) {
  std::ifstream file(SLIPWAY_SOURCE "/data/assist/slipway-agent.service");
  const std::string unit((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string_view start = "ExecStart=/usr/bin/slipway-agent run ";
  const std::size_t begin = unit.find(start);
  ASSERT_NE(begin, std::string::npos);
  const std::size_t first = begin + start.size();
  std::vector<std::string> arguments;
  for (const std::string_view word : split(std::string_view(unit).substr(first, unit.find('\n', first) - first), ' ')) {
    arguments.emplace_back(word);
  }
  const Result<Flags> flags = parse_flags("slipway-agent run", flags_of_run(), arguments);
  ASSERT_TRUE(flags.ok()) << flags.error().message();
  for (const char* name : {"url", "infra-env-id", "token-file", "cacert"}) EXPECT_TRUE(flags->is_given(name)) << name;
}

}  // namespace
}  // namespace slipway::agent
