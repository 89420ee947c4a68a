#include "components/etcd/observer.h"

#include "base/digest.h"
#include "components/controller/operand.h"
#include "components/render/manifest.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

namespace slipway::components::etcd {
namespace {

using namespace std::chrono_literals;

const std::string bootstrap_address = "10.0.0.10";
const std::vector<std::string> masters = {"10.0.0.11", "10.0.0.12", "10.0.0.13"};

// A fake of etcd's members and their gateways. Threads: any, one at a time.
class FakeEtcd final : public net::Http {
 public:
  struct Entry {
    std::string address, name;
    bool is_learner = true;
    bool is_dead = false;
    int refusals = 2;  // number of promotions that are refused before the learner has caught up
  };

  Result<net::Answer> send(const net::Request& request, std::stop_token, const net::Sink&) override {
    const std::lock_guard lock(mutex);
    Entry* asked = at(request.url.host);
    if (!asked || asked->name.empty() || asked->is_dead || request.url.port != gateway_port) {
      return error(Code::unavailable, "connection refused after {} ms", ++milliseconds);
    }
    const Json body = parse_json(request.body, "body").value();
    const std::string& path = request.url.target;
    if (!path.ends_with("/list") && !path.ends_with("/status")) changes.push_back(request.url.host + " " + path);
    if (path == "/v3/cluster/member/list") return asked->is_learner ? refuse("not supported for learner") : list();
    if (path == "/v3/maintenance/status")
      return net::Answer{200, {}, fmt::format(R"({{"leader":"{}","raftTerm":"2"}})", id(leader))};
    if (path == "/v3/cluster/member/add") {
      const std::string url(find_array(body, {"peerURLs"}).at(0).as_string());
      entries.push_back({.address = url.substr(8, url.size() - 13), .name = ""});
      return net::Answer{200, {}, "{}"};
    }
    Entry* target = by_id(text_of(body, {path.ends_with("leadership") ? "targetID" : "ID"}));
    if (!target) return refuse("member not found");
    if (path == "/v3/cluster/member/promote") {
      if (target->refusals-- > 0) return refuse("in sync with leader");
      target->is_learner = false;
    }
    if (path == "/v3/maintenance/transfer-leadership") leader = target->address;
    if (path == "/v3/cluster/member/remove") std::erase_if(entries, [&](const Entry& it) { return &it == target; });
    return net::Answer{200, {}, "{}"};
  }

  Entry* at(const std::string& address) {
    const auto found = std::ranges::find(entries, address, &Entry::address);
    return found == entries.end() ? nullptr : &*found;
  }
  void start_all() {
    for (Entry& it : entries) it.name = it.name.empty() ? "master-" + it.address.substr(8) : it.name;
  }

  std::mutex mutex;
  std::vector<Entry> entries = {{.address = bootstrap_address, .name = "etcd-bootstrap", .is_learner = false}};
  std::string leader = bootstrap_address;
  std::vector<std::string> changes;
  int milliseconds = 0;

 private:
  static std::string id(const std::string& address) { return address.substr(7); }
  Entry* by_id(const std::string& text) { return at("10.0.0." + text); }
  static net::Answer refuse(const std::string& why) { return {400, {}, fmt::format(R"({{"code":9,"message":"{}"}})", why)}; }
  net::Answer list() const {
    JsonArray members;
    for (const Entry& it : entries) {
      members.push_back({{"ID", id(it.address)},
                         {"name", it.name},
                         {"peerURLs", JsonArray{Json(peer_url(it.address))}},
                         {"isLearner", it.is_learner}});
    }
    return {200, {}, emit_json(JsonObject{{"members", std::move(members)}}, JsonStyle::compact)};
  }
};

struct World {
  Milliseconds observe() {
    return observer.observe(context, {}, {bootstrap_address, masters[0], masters[1], masters[2]}, [&](ObservedMembers members) {
      MembershipInput input{.members = std::move(members), .replicas = 3, .is_managed = is_managed, .now = test.clock.now()};
      for (const std::string& address : masters) {
        if (left.contains(std::stoull(address.substr(7)))) continue;
        input.masters.push_back({"master-" + address.substr(8), address, test.clock.now()});
      }
      input.is_bootstrap_complete = is_complete;
      input.left = left;
      return input;
    });
  }
  // Repeats until no action is due; returns the last pause.
  Milliseconds look_until_quiet() {
    Milliseconds pause{};
    for (int i = 0; i < 20 && (pause = observe()) == 0ms; ++i) continue;
    return pause;
  }
  void pass(Milliseconds time) { test.clock.wait(test.clock.steady() + time, {}, nullptr, 0); }

  testing_support::TestContext test;
  sys::Context context = test.context();
  FakeEtcd etcd;
  MembershipObserver observer{etcd};
  bool is_complete = false, is_managed = true;
  std::set<MemberId> left;
};

TEST(Observer, MovesEtcdStepByStep) {
  World world;
  world.pass(1s);
  EXPECT_EQ(world.observe(), 0ms);
  EXPECT_EQ(world.etcd.entries.size(), 4u);
  EXPECT_EQ(world.look_until_quiet(), 200ms);
  world.etcd.start_all();
  // Each promotion is refused twice.
  EXPECT_EQ(world.observe(), 200ms);
  EXPECT_TRUE(world.observer.facts().refused.starts_with("promoting master-3: ")) << world.observer.facts().refused;
  EXPECT_EQ(world.observe(), 200ms);
  EXPECT_EQ(world.look_until_quiet(), 200ms);
  EXPECT_EQ(world.observer.facts().refused, "");
  EXPECT_EQ(world.etcd.leader, masters[0]);
  EXPECT_EQ(world.etcd.entries.size(), 4u) << "the bootstrap is not complete";
  world.is_complete = true;
  EXPECT_EQ(world.look_until_quiet(), 30s);
  EXPECT_EQ(world.etcd.at(bootstrap_address), nullptr);
  EXPECT_EQ(world.etcd.changes.back(), "10.0.0.11 /v3/cluster/member/remove") << "asked of the leader";

  std::vector<std::string> reasons;
  for (const Change& change : world.observer.facts().changes) reasons.push_back(change.reason);
  EXPECT_EQ(reasons, (std::vector<std::string>{"MemberAdded", "MemberAdded", "MemberAdded", "MemberPromoted", "MemberPromoted",
                                               "MemberPromoted", "LeaderMoved", "BootstrapMemberRemoved"}));
  EXPECT_EQ(world.observer.facts().changes.back().message,
            "etcd-bootstrap is removed from etcd; previous members: etcd-bootstrap voter healthy, master-1 voter healthy "
            "leader, master-2 voter healthy, master-3 voter healthy");
}

TEST(Observer, MakesNoChangesWhenUnmanaged) {
  World world;
  world.is_managed = false;
  world.observe();
  EXPECT_EQ(world.etcd.changes, std::vector<std::string>{});
  EXPECT_EQ(world.observer.facts().members.size(), 1u);
}

// Learners that are in sync stay learners, and the bootstrap machine's member stays a member.
TEST(Observer, MakesNoChangesWhenItBecomesUnmanaged) {
  World world;
  world.pass(1s);
  world.look_until_quiet();
  world.etcd.start_all();
  world.is_managed = false;
  world.is_complete = true;
  const std::vector<std::string> before = world.etcd.changes;
  for (int i = 0; i < 5; ++i) world.observe();
  EXPECT_EQ(world.etcd.changes, before);
  EXPECT_NE(world.etcd.at(bootstrap_address), nullptr);
  world.is_managed = true;
  EXPECT_EQ(world.look_until_quiet(), 200ms);
  EXPECT_NE(world.etcd.changes, before);
}

// curl's message contains the elapsed milliseconds; that must not count as a new problem each time.
TEST(Observer, RemovesAMemberThatLeftOnlyAfterAWhileWithoutAnAnswer) {
  World world;
  world.is_complete = true;
  world.left = {13};
  world.etcd.leader = masters[0];
  world.etcd.entries.clear();
  for (const std::string& address : masters) {
    world.etcd.entries.push_back({.address = address, .name = "master-" + address.substr(8), .is_learner = false});
  }
  const auto member_stays = [&] { return world.etcd.at(masters[2]) != nullptr; };
  world.look_until_quiet();
  world.etcd.at(masters[2])->is_dead = true;
  world.look_until_quiet();
  world.pass(9s);
  world.look_until_quiet();
  EXPECT_TRUE(member_stays());
  world.etcd.at(masters[2])->is_dead = false;
  world.look_until_quiet();
  world.etcd.at(masters[2])->is_dead = true;
  world.pass(9s);
  world.look_until_quiet();
  world.pass(9s);
  world.look_until_quiet();
  EXPECT_TRUE(member_stays()) << "it had answered";
  world.pass(1s);
  world.look_until_quiet();
  EXPECT_FALSE(member_stays());
}

TEST(Observer, KeepsTheMessageOfALastingProblem) {
  World world;
  world.is_managed = false;
  for (const std::string& address : masters) world.etcd.entries.push_back({.address = address, .name = "m", .is_learner = false});
  world.etcd.at(masters[1])->is_dead = true;
  world.observe();
  const Facts first = world.observer.facts();
  EXPECT_EQ(describe(first.members), "etcd-bootstrap voter healthy leader, m voter healthy, m voter unhealthy, m voter healthy");
  EXPECT_TRUE(first.members[2].problem.starts_with("no answer: ")) << first.members[2].problem;
  world.observe();
  EXPECT_EQ(world.observer.facts(), first);
}

TEST(Observer, ReportsUnreadableMembersOnlyAfterAWhile) {
  World world;
  world.pass(1s);
  world.look_until_quiet();
  world.etcd.entries.front().is_dead = true;
  world.pass(4s);
  world.observe();
  EXPECT_EQ(world.observer.facts().unreadable, "");
  world.pass(2s);
  world.observe();
  EXPECT_NE(world.observer.facts().unreadable, "");
  EXPECT_EQ(world.observer.facts().members.size(), 4u) << "what was seen last is kept";
  world.etcd.entries.front().is_dead = false;
  world.observe();
  EXPECT_EQ(world.observer.facts().unreadable, "");
}

TEST(Observer, PollsLessOftenWhenNothingChanges) {
  World world;
  world.pass(1s);
  EXPECT_EQ(world.look_until_quiet(), 200ms);
  world.pass(61s);
  EXPECT_EQ(world.observe(), 2s);
}

TEST(Observer, FactsSurviveTheView) {
  Facts facts{.unreadable = "why", .refused = "no", .changes = {{"MemberAdded", "text"}}};
  facts.members.push_back({.member = {17402023945615046372u, "a", {"https://10.0.0.1:2380"}, {"https://10.0.0.1:2379"}, true},
                           .is_healthy = true,
                           .is_leader = true,
                           .problem = "p"});
  View view;
  EXPECT_EQ(find_facts(view.snapshot()), std::nullopt);
  view.put(facts_object(facts));
  EXPECT_EQ(find_facts(view.snapshot()), facts);
}

}  // namespace
}  // namespace slipway::components::etcd
