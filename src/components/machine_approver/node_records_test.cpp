#include "components/machine_approver/node_records.h"

#include "base/digest.h"
#include "support/client_request.h"

#include <gtest/gtest.h>

namespace slipway::components::machine_approver {
namespace {

// A certificate request of a node.
class Request {
 public:
  Request(const std::string& node, const std::string& time) : node_(node) {
    object_ = {{"metadata", {{"name", "csr"}, {"creationTimestamp", time}}},
               {"spec", testing_support::client_request_spec("")},
               {"status", JsonObject()}};
    content({}, {});
  }
  Request& serving(std::vector<std::string> names, std::vector<std::string> addresses) {
    spec()["signerName"] = "kubernetes.io/kubelet-serving";
    spec()["username"] = "system:node:" + node_;
    return content(names, addresses);
  }
  Request& by(std::string_view user, Json extra = nullptr) {
    spec()["username"] = user;
    spec()["extra"] = std::move(extra);
    return *this;
  }
  Request& approved() {
    status()["conditions"] = JsonArray{JsonObject{{"type", "Approved"}, {"status", "True"}}};
    return *this;
  }
  Request& issued() {
    status()["certificate"] = "c29tZQ==";
    return approved();
  }
  const Json& json() const { return object_; }
  std::string key() const { return sha256_hex(net::public_key(key_).value()); }

 private:
  JsonObject& spec() { return object_.as_object()["spec"].as_object(); }
  JsonObject& status() { return object_.as_object()["status"].as_object(); }
  Request& content(const std::vector<std::string>& names, const std::vector<std::string>& addresses) {
    const net::SubjectName subject = {.common_name = "system:node:" + node_, .organizations = {"system:nodes"}};
    spec()["request"] = base64_encode(net::make_request(key_, subject, names, addresses).value());
    return *this;
  }

  std::string node_;
  Secret key_ = net::make_key().value();
  Json object_;
};

Json node(const std::string& name, std::vector<std::string> addresses = {}) {
  JsonArray list;
  for (const std::string& address : addresses) list.push_back({{"type", "InternalIP"}, {"address", address}});
  return {{"metadata", {{"name", name}}}, {"status", {{"addresses", list}}}};
}

const kube::MachineTable one_row = {{"worker-0", "worker", {}}};
const kube::MachineTable removed_row = {{"worker-0", "removed", {}}};
const kube::MachineTable no_rows;
constexpr const char* t1 = "2026-01-01T00:00:01Z";
constexpr const char* t2 = "2026-01-01T00:00:02Z";
constexpr const char* t3 = "2026-01-01T00:00:03Z";

std::vector<RequestFacts> facts(const std::vector<const Request*>& requests) {
  std::vector<Json> all;
  for (const Request* request : requests) all.push_back(request->json());
  return read_requests(all, true);
}

TEST(NodeRecords, KeysAreThoseOfIssuedCertificatesTheTwoNewest) {
  const Request first = Request("worker-0", t1).issued(), second = Request("worker-0", t2).issued();
  const Request pending = Request("worker-0", t3), approved = Request("worker-0", t3).approved();
  const Request of_another = Request("worker-1", t3).issued();
  const Request serving = Request("worker-0", t3).serving({"worker-0"}, {}).issued();
  const struct {
    const char* what;
    std::vector<std::string> before;
    std::vector<const Request*> requests;
    std::vector<std::string> after;
  } rows[] = {
      {"the first", {}, {&first}, {first.key()}},
      {"the newest is first", {}, {&second, &first}, {second.key(), first.key()}},
      {"one more", {first.key()}, {&second}, {second.key(), first.key()}},
      {"the oldest goes", {"x", "y"}, {&second}, {second.key(), "x"}},
      {"nothing new", {second.key(), first.key()}, {&first, &second}, {second.key(), first.key()}},
      {"its requests are gone", {"x", "y"}, {}, {"x", "y"}},
      {"not signed yet", {}, {&pending, &approved}, {}},
      {"of others", {}, {&of_another, &serving}, {}},
  };
  for (const auto& row : rows) {
    NodeRecords before;
    if (!row.before.empty()) before["worker-0"].keys = row.before;
    const NodeRecords after = learn(before, facts(row.requests), {node("worker-0")}, &one_row);
    EXPECT_EQ(after.at("worker-0").keys, row.after) << row.what;
    EXPECT_EQ(learn(after, facts(row.requests), {node("worker-0")}, &one_row), after) << row.what;
    EXPECT_FALSE(after.contains("worker-1")) << row.what;
  }
}

TEST(NodeRecords, KnowTheNamesOfTheLastServingCertificate) {
  const Request first = Request("worker-0", t1).serving({"worker-0"}, {"fd00:0::1", "10.0.0.9"}).issued();
  const Request second = Request("worker-0", t2).serving({"worker-0", "a.example"}, {}).issued();
  const Request refused = Request("worker-0", t3).serving({"other"}, {});
  const auto serving = [&](const std::vector<const Request*>& requests) {
    return learn({}, facts(requests), {node("worker-0")}, &one_row).at("worker-0").serving;
  };
  EXPECT_EQ(serving({&first, &refused}), (ServingNames{{"worker-0"}, {"10.0.0.9", "fd00::1"}}));
  EXPECT_EQ(serving({&second, &first}), (ServingNames{{"a.example", "worker-0"}, {}}));
  EXPECT_EQ(serving({}), std::nullopt);
}

TEST(NodeRecords, KeepTheAddressesThatANodeJoinedWith) {
  NodeRecords records = learn({}, {}, {node("worker-0")}, &one_row);
  EXPECT_TRUE(records.at("worker-0").joined.empty());
  records = learn(records, {}, {node("worker-0", {"10.0.0.9", "10.0.0.8"})}, &one_row);
  EXPECT_EQ(records.at("worker-0").joined, (std::vector<std::string>{"10.0.0.8", "10.0.0.9"}));
  const NodeRecords later = learn(records, {}, {node("worker-0", {"10.97.77.5"})}, &one_row);
  EXPECT_EQ(later, records) << "a node can change its own status";
}

TEST(NodeRecords, ANameIsForgottenWithItsNodeAndItsRow) {
  const Request old = Request("worker-0", t1).issued();
  const NodeRecords known = learn({}, facts({&old}), {node("worker-0", {"10.0.0.9"})}, &one_row);
  EXPECT_EQ(known.at("worker-0").keys.size(), 1u);
  EXPECT_EQ(learn(known, facts({&old}), {node("worker-0")}, &no_rows), known) << "the Node is there";
  EXPECT_EQ(learn(known, facts({&old}), {}, nullptr).at("worker-0").keys, known.at("worker-0").keys) << "the table is unknown";

  // Node and row are gone, the request still exists. Its key and its approval do not count, and it creates no row.
  const NodeRecords gone = learn(known, facts({&old}), {}, &no_rows);
  EXPECT_EQ(gone.at("worker-0"), (NodeRecord{.since = t1}));
  EXPECT_EQ(learn(known, facts({&old}), {}, &removed_row), gone) << "a row that says so is the same";
  EXPECT_TRUE(approvals_of(facts({&old}), gone).empty());
  EXPECT_TRUE(rows_to_add(facts({&old}), gone, no_rows).empty());
  EXPECT_TRUE(learn(gone, {}, {}, &no_rows).empty());

  // The next machine of this name, which sent its request before it had a row.
  Request next("worker-0", t2);
  const NodeRecords waiting = learn(gone, facts({&old, &next}), {}, &no_rows);
  next.issued();
  const NodeRecords joined = learn(waiting, facts({&old, &next}), {}, &one_row);
  EXPECT_EQ(joined.at("worker-0").keys, std::vector<std::string>{next.key()});
  EXPECT_EQ(approvals_of(facts({&old, &next}), joined), (Approvals{{"worker-0", {next.key()}}}));
}

// The Node was deleted and the row exists: the machine is installed again, or returns with its key.
TEST(NodeRecords, ANodeThatIsGoneMakesRoomForTheNextApproval) {
  const Request old = Request("worker-0", t1).issued();
  const NodeRecords before = learn({}, facts({&old}), {}, &one_row);
  EXPECT_EQ(approvals_of(facts({&old}), before), (Approvals{{"worker-0", {old.key()}}})) << "it has not registered yet";
  const NodeRecords registered = learn(before, facts({&old}), {node("worker-0", {"10.0.0.9"})}, &one_row);
  const NodeRecords gone = learn(registered, facts({&old}), {}, &one_row);
  EXPECT_TRUE(approvals_of(facts({&old}), gone).empty());
  EXPECT_EQ(gone.at("worker-0").keys, std::vector<std::string>{old.key()});
  EXPECT_TRUE(gone.at("worker-0").joined.empty());
  EXPECT_EQ(learn(gone, facts({&old}), {}, &one_row), gone);
}

TEST(NodeRecords, StrangersLeaveNoTrace) {
  const Request stranger = Request("stranger", t1);
  EXPECT_TRUE(learn({}, facts({&stranger}), {}, &one_row).empty());
  const Json unreadable = {{"spec", {{"signerName", "kubernetes.io/kubelet-serving"}, {"request", "!"}}}};
  EXPECT_TRUE(read_requests({unreadable, Json{{"spec", {{"signerName", "example.com/x"}}}}}, true).empty());
}

TEST(NodeRecords, ANameWithoutARowGetsTheOneOfItsCredential) {
  const std::string account = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper";
  const Request master = Request("m0", t1).approved();
  const Request later_master = Request("m1", t1).by(account + "-master").approved();
  const Request worker = Request("w0", t1).by(account, {{"authentication.kubernetes.io/credential-id", {"JTI=1"}}}).approved();
  const Request renewal = Request("w1", t1).by("system:node:w1").approved();
  const Request waiting = Request("w2", t1);
  const Request listed = Request("worker-0", t1).approved();
  const std::vector<RequestFacts> all = facts({&master, &later_master, &worker, &renewal, &waiting, &listed});
  EXPECT_EQ(rows_to_add(all, {}, one_row),
            (kube::MachineTable{{"m0", "master", {}}, {"m1", "master", {}}, {"w0", "worker", {}}}));
  // A row that an administrator removed is not added again.
  EXPECT_EQ(rows_to_add(all, {{"w0", {.had_row = true}}, {"m1", {.since = t1}}}, one_row),
            (kube::MachineTable{{"m0", "master", {}}}));
}

TEST(NodeRecords, AreReadAsTheyAreWritten) {
  const NodeRecords records = {{"a", {}},
                               {"b.example.com",
                                {.keys = {"1", "2"},
                                 .joined = {"10.0.0.1"},
                                 .serving = ServingNames{{"b"}, {"10.0.0.1"}},
                                 .had_row = true,
                                 .is_registered = true,
                                 .since = t1}}};
  Json map = with_records(new_records_map(), records);
  std::vector<std::string> unreadable;
  EXPECT_EQ(parse_records(map, unreadable), records);
  EXPECT_TRUE(unreadable.empty());
  map.at("data").as_object()["c"] = "no record";
  EXPECT_EQ(parse_records(map, unreadable), records);
  ASSERT_EQ(unreadable.size(), 1u);
  EXPECT_TRUE(unreadable[0].starts_with("ConfigMap openshift-cluster-machine-approver/node-identities: data[c]:"));
}

TEST(NodeRecords, AreTakenFromAnnotationsOnce) {
  Json old = node("worker-0");
  old.at("metadata").as_object()["annotations"] = {{"slipway.internal/kubelet-keys", "x,y"}};
  EXPECT_EQ(records_of_annotations({old, node("worker-1")}), (NodeRecords{{"worker-0", {.keys = {"x", "y"}}}}));
}

}  // namespace
}  // namespace slipway::components::machine_approver
