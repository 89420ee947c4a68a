#include "components/etcd/discover.h"

#include "base/digest.h"
#include "base/guarded.h"
#include "support/http_imposter.h"
#include "support/operator_environment.h"

#include <gtest/gtest.h>

namespace slipway::components::etcd {
namespace {

using testing_support::HttpImposter;

Member member(int number, std::string name, bool is_learner = false) {
  return {.id = static_cast<MemberId>(number),
          .name = std::move(name),
          .peer_urls = {fmt::format("https://10.0.0.1{}:2380", number)},
          .is_learner = is_learner};
}

const Member boot = member(0, "etcd-bootstrap");

TEST(Discover, DecidesFromTheListOfMembers) {
  struct Case {
    std::string_view what;
    std::vector<Member> members;
    bool has_data;
    StartPlan::Kind kind;
  };
  const std::vector<Case> cases = {
      {"not a member yet", {boot, member(2, "", true)}, false, StartPlan::Kind::wait},
      {"removed, or never was", {boot}, true, StartPlan::Kind::wait},
      {"new", {boot, member(1, "", true)}, false, StartPlan::Kind::start},
      {"data of an earlier member", {boot, member(1, "", true)}, true, StartPlan::Kind::move_aside},
      {"again", {boot, member(1, "master-1")}, true, StartPlan::Kind::start},
      {"lost", {boot, member(1, "master-1")}, false, StartPlan::Kind::lost},
  };
  for (const Case& it : cases) {
    const StartPlan plan = plan_start(it.members, {"https://10.0.0.11:2380", "master-1", it.has_data});
    EXPECT_EQ(static_cast<int>(plan.kind), static_cast<int>(it.kind)) << it.what;
    EXPECT_EQ(plan.initial_cluster.empty(), it.has_data || it.kind != StartPlan::Kind::start) << it.what;
  }
}

TEST(Discover, ContinuesWithItsOwnLog) {
  const std::vector<Member> members = {boot, member(1, "", true)};
  const Joining begun{"https://10.0.0.11:2380", "master-1", true, 1}, earlier{"https://10.0.0.11:2380", "master-1", true, 7};
  EXPECT_EQ(plan_start(members, begun).kind, StartPlan::Kind::start);
  EXPECT_EQ(plan_start(members, begun).initial_cluster, "");
  EXPECT_EQ(plan_start(members, earlier).kind, StartPlan::Kind::move_aside);
}

// etcd compares the peer URLs of all members, including members that have not started, and requires distinct names.
TEST(Discover, NamesAllMembers) {
  const std::vector<Member> members = {member(3, "", true), member(1, "", true), boot, member(2, "", true)};
  const StartPlan plan = plan_start(members, {"https://10.0.0.12:2380", "master-2"});
  EXPECT_EQ(plan.initial_cluster,
            "etcd-bootstrap=https://10.0.0.10:2380,master-2=https://10.0.0.12:2380,not-started-1=https://10.0.0.11:2380,"
            "not-started-3=https://10.0.0.13:2380");
}

// A fake etcd: the handler returns the members, and the fake stores the key of the turn.
struct World : testing_support::OperatorEnvironment {
  explicit World(HttpImposter::Handler members)
      : server([this, members = std::move(members)](const HttpImposter::Seen& seen) {
          return seen.target == "/v3/kv/txn" ? exchange(seen.body) : members(seen);
        }) {
    for (const char* file : {"/ca", "/cert", "/key"}) put(file, "");
  }
  HttpImposter::Reply exchange(const std::string& body) {
    const Json asked = parse_json(body, "transaction").value();
    const auto decoded = [](const Json& object, std::initializer_list<std::string_view> path) {
      return base64_decode(find_string(object, path).value_or("")).value();
    };
    return turn.with_lock([&](std::string& holder) {
      if (decoded(find_array(asked, {"compare"}).front(), {"value"}) == holder) {
        holder = decoded(find_array(asked, {"success"}).front(), {"requestPut", "value"});
        return HttpImposter::Reply{.body = R"({"succeeded":true})"};
      }
      return HttpImposter::Reply{
          .body = fmt::format(R"({{"responses":[{{"response_range":{{"kvs":[{{"value":"{}"}}]}}}}]}})", base64_encode(holder))};
    });
  }
  std::string holder() {
    return turn.with_lock([](const std::string& now) { return now; });
  }
  Result<> run() {
    return run_discover(environment(), {"--cacert=/ca", "--cert=/cert", "--key=/key", "--endpoints=" + to_string(server.url("/")),
                                        "--data-dir=/data", "--target-peer-url-host=10.0.0.11", "--target-name=master-1"});
  }
  Guarded<std::string> turn{""};
  HttpImposter server;
};

std::string list_of(const std::vector<Member>& members) {
  JsonArray list;
  for (const Member& it : members) {
    list.push_back({{"ID", std::to_string(it.id)},
                    {"name", it.name},
                    {"peerURLs", JsonArray(it.peer_urls.begin(), it.peer_urls.end())},
                    {"isLearner", it.is_learner}});
  }
  return emit_json(JsonObject{{"members", std::move(list)}}, JsonStyle::compact);
}

// The operator adds members one after another, and etcd refuses a list that lacks a member.
TEST(Discover, WaitsUntilTheListIsTheSameTwice) {
  std::atomic<int> asked = 0;
  World world([&](const HttpImposter::Seen&) {
    const int number = ++asked;
    if (number == 1) return HttpImposter::Reply{.status = 503, .body = R"({"message": "no leader"})"};
    std::vector<Member> members = {boot};
    if (number > 2) members.push_back(member(1, "", true));
    if (number > 3) members.push_back(member(2, "", true));
    return HttpImposter::Reply{.body = list_of(members)};
  });
  const Result<> done = world.run();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(world.printed,
            "etcd-bootstrap=https://10.0.0.10:2380,master-1=https://10.0.0.11:2380,not-started-2=https://10.0.0.12:2380\n");
  EXPECT_EQ(asked, 5);
}

// When all machines boot together, no member answers.
TEST(Discover, StartsWithItsDataWhenNoMemberAnswers) {
  World world([](const HttpImposter::Seen&) { return HttpImposter::Reply{.status = 503}; });
  world.put("/data/member/snap/db", "");
  const Result<> done = world.run();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(world.printed, "\n");
}

TEST(Discover, MovesAsideDataOfAnEarlierMember) {
  World world([](const HttpImposter::Seen&) { return HttpImposter::Reply{.body = list_of({boot, member(1, "", true)})}; });
  world.put("/data/member/snap/db", "old");
  const Result<> done = world.run();
  ASSERT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(world.printed, "etcd-bootstrap=https://10.0.0.10:2380,master-1=https://10.0.0.11:2380\n");
  EXPECT_EQ(world.names("/data"), (std::vector<std::string>{"joined-as", "member-removed-archive-1795253400/snap/db"}));
}

TEST(Discover, RecordsTheMemberThatItJoinedAs) {
  World world([](const HttpImposter::Seen&) { return HttpImposter::Reply{.body = list_of({boot, member(1, "", true)})}; });
  ASSERT_TRUE(world.run().ok());
  EXPECT_EQ(world.text("/data/joined-as"), "1");
  // etcd ended before it published its name. Its data is kept only if it has a log.
  world.put("/data/member/snap/db", "");
  world.put("/data/member/wal/0.wal", "");
  world.printed.clear();
  ASSERT_TRUE(world.run().ok());
  EXPECT_EQ(world.printed, "\n");
  ASSERT_TRUE(world.files.remove("/data/member/wal").ok());
  world.printed.clear();
  ASSERT_TRUE(world.run().ok());
  EXPECT_NE(world.printed, "\n");
}

TEST(Discover, ReportsLostData) {
  World world([](const HttpImposter::Seen&) { return HttpImposter::Reply{.body = list_of({boot, member(1, "master-1")})}; });
  const Result<> done = world.run();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::conflict);
  EXPECT_EQ(world.printed, "");
}

// No member answers at the peer URLs here. Discover waits for a member that has not started, but not without a limit.
TEST(Discover, TakesItsTurn) {
  const Member other{
      .id = 9, .peer_urls = {fmt::format("https://0.0.0.0:{}", testing_support::unused_port())}, .is_learner = true};
  Member started = other;
  started.name = "master-9";
  struct Row {
    std::string_view what;
    std::string holder;
    std::vector<Member> others;
    Seconds wait;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"no member had the turn", "", {other}, Seconds(0)},
           {"the member had the turn before it restarted", "https://10.0.0.11:2380", {other}, Seconds(0)},
           {"the other has not started", other.peer_urls[0], {other}, Seconds(60)},
           {"the other has started", other.peer_urls[0], {started}, Seconds(0)},
           {"the other was removed", other.peer_urls[0], {}, Seconds(0)},
       }) {
    std::vector<Member> members = {boot, member(1, "", true)};
    members.insert(members.end(), row.others.begin(), row.others.end());
    World world([list = list_of(members)](const HttpImposter::Seen&) { return HttpImposter::Reply{.body = list}; });
    world.turn.with_lock([&](std::string& holder) { holder = row.holder; });
    const Result<> done = world.run();
    ASSERT_TRUE(done.ok()) << row.what << ": " << done.error().message();
    EXPECT_EQ(world.holder(), "https://10.0.0.11:2380") << row.what;
    EXPECT_GE(world.test.clock.elapsed(), row.wait) << row.what;
    EXPECT_LT(world.test.clock.elapsed(), row.wait + Seconds(2)) << row.what;
  }
}

TEST(Discover, StopsWhenAsked) {
  World world([](const HttpImposter::Seen&) { return HttpImposter::Reply{.body = list_of({boot})}; });
  world.test.stop.request_stop();
  const Result<> done = world.run();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::cancelled);
}

}  // namespace
}  // namespace slipway::components::etcd
