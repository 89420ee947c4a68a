#include "components/etcd/members.h"

#include "net/curl_http.h"
#include "support/http_imposter.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::components::etcd {
namespace {

using testing_support::HttpImposter;

struct World {
  explicit World(HttpImposter::Reply reply) : server([reply](const HttpImposter::Seen&) { return reply; }) {}

  testing_support::RealTimeContext test;
  sys::Context context = test.context();
  HttpImposter server;
  net::CurlHttp http;
  Gateway etcd{http, {}};
  std::string endpoint = to_string(server.url("/"));
};

TEST(Members, ReadsTheList) {
  World world({.body = R"({"header": {"member_id": "1"}, "members": [
      {"ID": "17402023945615046372", "name": "etcd-bootstrap", "peerURLs": ["https://10.0.0.10:2380"],
       "clientURLs": ["https://10.0.0.10:2379"]},
      {"ID": "529894714776229959", "peerURLs": ["https://[fd00::11]:2380"], "isLearner": true}]})"});
  const auto members = world.etcd.list(world.context, world.endpoint, Consistency::linearizable);
  ASSERT_TRUE(members.ok()) << members.error().message();
  ASSERT_EQ(members->size(), 2u);
  const Member& boot = members.value()[0];
  const Member& learner = members.value()[1];
  EXPECT_EQ(boot.id, 17402023945615046372u);
  EXPECT_TRUE(boot.is_started() && !boot.is_learner);
  EXPECT_EQ(boot.client_urls, std::vector<std::string>{"https://10.0.0.10:2379"});
  EXPECT_TRUE(!learner.is_started() && learner.is_learner);
  EXPECT_EQ(host_of(learner), "fd00::11");
  EXPECT_EQ(name_of(learner), "the member at fd00::11");
  EXPECT_EQ(world.server.journal().at(0).line(), "POST /v3/cluster/member/list");
  EXPECT_EQ(world.server.journal().at(0).body, R"({"linearizable":true})");
}

TEST(Members, ReadsAStatus) {
  World world({.body = R"({"leader": "17402023945615046372", "raftTerm": "7", "errors": ["alarm:NOSPACE"]})"});
  const auto status = world.etcd.status(world.context, world.endpoint);
  ASSERT_TRUE(status.ok()) << status.error().message();
  EXPECT_EQ(status->leader, 17402023945615046372u);
  EXPECT_EQ(status->term, 7u);
  EXPECT_EQ(status->errors, std::vector<std::string>{"alarm:NOSPACE"});
}

TEST(Members, SendsChanges) {
  World world({.body = "{}"});
  EXPECT_TRUE(world.etcd.add_learner(world.context, world.endpoint, "https://10.0.0.11:2380").ok());
  EXPECT_TRUE(world.etcd.promote(world.context, world.endpoint, 17402023945615046372u).ok());
  EXPECT_TRUE(world.etcd.move_leader(world.context, world.endpoint, 2).ok());
  EXPECT_TRUE(world.etcd.remove(world.context, world.endpoint, 3).ok());
  std::vector<std::string> sent;
  for (const HttpImposter::Seen& seen : world.server.journal()) sent.push_back(seen.line() + " " + seen.body);
  EXPECT_EQ(sent, (std::vector<std::string>{
                      R"(POST /v3/cluster/member/add {"peerURLs":["https://10.0.0.11:2380"],"isLearner":true})",
                      R"(POST /v3/cluster/member/promote {"ID":"17402023945615046372"})",
                      R"(POST /v3/maintenance/transfer-leadership {"targetID":"2"})",
                      R"(POST /v3/cluster/member/remove {"ID":"3"})",
                  }));
}

TEST(Members, ExchangesTheValueOfAKey) {
  World done({.body = R"({"header":{}, "succeeded":true, "responses":[{"response_put":{}}]})"});
  EXPECT_EQ(done.etcd.exchange(done.context, done.endpoint, "k", "", "b").value(), "b");
  EXPECT_EQ(done.etcd.exchange(done.context, done.endpoint, "k", "a", "b").value(), "b");
  EXPECT_EQ(done.server.journal().at(0).line(), "POST /v3/kv/txn");
  const std::string choice =
      R"("success":[{"requestPut":{"key":"aw==","value":"Yg=="}}],"failure":[{"requestRange":{"key":"aw=="}}]})";
  EXPECT_EQ(done.server.journal().at(0).body, R"({"compare":[{"key":"aw==","target":"CREATE","create_revision":"0"}],)" + choice);
  EXPECT_EQ(done.server.journal().at(1).body, R"({"compare":[{"key":"aw==","target":"VALUE","value":"YQ=="}],)" + choice);
  World other({.body = R"({"responses":[{"response_range":{"kvs":[{"key":"aw==","value":"Yw=="}],"count":"1"}}]})"});
  EXPECT_EQ(other.etcd.exchange(other.context, other.endpoint, "k", "a", "b").value(), "c");
  World gone({.body = R"({"responses":[{"response_range":{"header":{}}}]})"});
  EXPECT_EQ(gone.etcd.exchange(gone.context, gone.endpoint, "k", "a", "b").value(), "");
}

TEST(Members, DistinguishesTemporaryErrors) {
  struct Case {
    int status;
    std::string body;
    Code code;
  };
  const std::vector<Case> cases = {
      {400, R"({"code":9,"message":"etcdserver: can only promote a learner member which is in sync with leader"})",
       Code::unavailable},
      {400, R"({"code":9,"message":"etcdserver: can only promote a learner member"})", Code::conflict},
      {400, R"({"code":9,"message":"etcdserver: Peer URLs already exists"})", Code::conflict},
      {404, R"({"code":5,"message":"etcdserver: member not found"})", Code::not_found},
      {503, R"({"code":14,"message":"etcdserver: unhealthy cluster"})", Code::unavailable},
      {503, "not even JSON", Code::unavailable},
      {200, "no JSON either", Code::invalid},
      {403, "", Code::denied},
  };
  for (const Case& it : cases) {
    World world({.status = it.status, .body = it.body});
    const Result<> done = world.etcd.promote(world.context, world.endpoint, 1);
    ASSERT_FALSE(done.ok()) << it.body;
    EXPECT_EQ(done.error().code(), it.code) << done.error().message();
    EXPECT_NE(done.error().message().find("/v3/cluster/member/promote"), std::string::npos) << done.error().message();
  }
}

TEST(Members, AnEmptyListIsAnError) {
  World world({.body = "{}"});
  const auto members = world.etcd.list(world.context, world.endpoint, Consistency::local);
  ASSERT_FALSE(members.ok());
  EXPECT_EQ(members.error().code(), Code::unavailable);
}

}  // namespace
}  // namespace slipway::components::etcd
