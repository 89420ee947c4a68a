#include "cluster/change_masters.h"

#include "base/digest.h"
#include "net/curl_http.h"
#include "provider/fake/fake_provider.h"
#include "support/fake_kube.h"
#include "support/memory_files.h"
#include "support/seeded_random.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::cluster {
namespace {

// Three masters that work, "master-0" to "master-2".
ControlPlane three() {
  ControlPlane seen{.makes_machines = true, .replicas = 3};
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("master-{}", i), address = fmt::format("10.0.0.{}", 11 + i);
    seen.members.push_back({.name = name, .address = address, .votes = true, .is_healthy = true});
    seen.rows.push_back({name, "master", {address}});
    seen.nodes.push_back({.name = name, .is_ready = true, .addresses = {address}});
    seen.machines.push_back({.name = name, .state = "running", .address = address, .is_on = true});
  }
  return seen;
}

kube::MachineRow& row(ControlPlane& seen, std::string_view name) {
  return *std::ranges::find(seen.rows, name, &kube::MachineRow::name);
}
void forget_member(ControlPlane& seen, std::string_view name) {
  std::erase_if(seen.members, [&](const EtcdMember& it) { return it.name == name; });
}
void forget_machine(ControlPlane& seen, std::string_view name) {
  std::erase_if(seen.machines, [&](const provider::MachineStatus& it) { return it.name == name; });
}
void forget_node(ControlPlane& seen, std::string_view name) {
  std::erase_if(seen.nodes, [&](const NodeState& it) { return it.name == name; });
}

const MastersChange same{"master-1", "master-1"}, other{"master-1", "master-3"}, grow{"", "master-3"}, shrink{"master-1", ""};

TEST(MastersChange, IsATextInTheCluster) {
  for (const auto& [change, text] : {std::pair{same, "remove master-1, add master-1"}, std::pair{grow, "add master-3"},
                                     std::pair{shrink, "remove master-1"}}) {
    EXPECT_EQ(to_text(change), text);
    EXPECT_EQ(parse_change(text), change);
  }
  EXPECT_EQ(parse_change(""), std::nullopt);
  EXPECT_EQ(parse_change("something else"), std::nullopt);
}

TEST(EtcdMembers, AreReadFromTheConfigMap) {
  const auto list = [](const char* text) {
    return parse_etcd_members({{"kind", "ConfigMap"}, {"metadata", {{"name", "etcd-members"}}}, {"data", {{"members", text}}}});
  };
  EXPECT_EQ(list(R"([{"id":"a","name":"m","address":"10.0.0.1","votes":true,"healthy":false,"leads":false}])").value(),
            (std::vector<EtcdMember>{{"m", "10.0.0.1", true, false}}));
  EXPECT_EQ(list("{}").error().code(), Code::invalid);
  EXPECT_FALSE(list("[").ok());
}

TEST(ChangeProblems, AreAllNamed) {
  struct Case {
    std::string_view what;
    MastersChange change;
    std::function<void(ControlPlane&)> made;
    std::vector<std::string> begins;  // of the problems
  };
  const auto dead = [](int number) { return [number](ControlPlane& seen) { seen.members[number].is_healthy = false; }; };
  const std::vector<Case> cases = {
      {"nothing is wrong", same, [](ControlPlane&) {}, {}},
      {"its own member is dead", same, dead(1), {}},
      {"another member is dead",
       same,
       dead(2),
       {"etcd would lose its quorum without master-1: master-0 healthy, master-1 healthy, "
        "master-2 not healthy (start the others first"}},
      {"the other of two masters is no quorum while the machine is off and its member is not removed",
       {"master-1", ""},
       [](ControlPlane& seen) {
         seen.replicas = 1;
         seen.members.pop_back();
       },
       {"etcd would lose its quorum without master-1: master-0 healthy, master-1 healthy (first add a master"}},
      {"two of four are none either",
       same,
       [](ControlPlane& seen) {
         seen.members.push_back({"master-3", "10.0.0.14", true, false});
       },
       {"etcd would lose its quorum without master-1"}},
      {"no name of a node", {"", "Master_3"}, [](ControlPlane&) {}, {"'Master_3' cannot be the name of a node"}},
      {"not a master",
       {"worker-0", "worker-0"},
       [](ControlPlane&) {},
       {"worker-0 is not a master: the masters are master-0, "
        "master-1, master-2"}},
      {"the new name is taken", {"master-1", "master-2"}, [](ControlPlane&) {}, {"master-2 exists already"}},
      {"too few stay", shrink, [](ControlPlane&) {}, {"the cluster would have 2 masters, but controlPlane.replicas is 3"}},
      {"enough stay", shrink, [](ControlPlane& seen) { seen.replicas = 2; }, {}},
      {"no row, but a member of etcd", same, [](ControlPlane& seen) { seen.rows.erase(seen.rows.begin() + 1); }, {}},
      {"during the installation",
       grow,
       [](ControlPlane& seen) {
         seen.members.push_back({"etcd-bootstrap", "10.0.0.10", true, true});
       },
       {"the installation is not complete"}},
      {"the name of the bootstrap machine", {"", "bootstrap"}, [](ControlPlane&) {}, {"bootstrap is the name"}},
      {"two at once", {"master-1", "master-2"}, dead(2), {"etcd would lose its quorum", "master-2 exists already"}},
      {"a restored cluster: the others are learners that never started",
       same,
       [](ControlPlane& seen) {
         for (int i : {1, 2}) seen.members[i] = {"", seen.members[i].address, false, false};
       },
       {}},
  };
  for (const Case& it : cases) {
    ControlPlane seen = three();
    it.made(seen);
    const std::vector<std::string> problems = change_problems(seen, it.change);
    ASSERT_EQ(problems.size(), it.begins.size()) << it.what << (problems.empty() ? "" : ": " + problems.front());
    for (std::size_t i = 0; i < problems.size(); ++i) EXPECT_TRUE(problems[i].starts_with(it.begins[i])) << problems[i];
  }
}

TEST(NextStep, GoesThroughAReplacement) {
  for (const MastersChange& change : {same, other}) {
    ControlPlane seen = three();
    const auto next = [&](bool is_drained = false) { return name_of(next_step(seen, change, is_drained)); };
    EXPECT_EQ(next(), "begin");
    seen.unfinished = change;
    row(seen, "master-1").role = kube::removed_role;
    EXPECT_EQ(next(), "await-operator") << "the list of members may be old";
    seen.members[1].leaves = true;
    EXPECT_EQ(next(), "drain");
    EXPECT_EQ(next(true), "remove-machine");
    forget_machine(seen, "master-1");
    EXPECT_EQ(next(true), "await-removal") << "the Node is Ready for some more seconds";
    forget_member(seen, "master-1");
    EXPECT_EQ(next(true), "remove-node");
    forget_node(seen, "master-1");
    EXPECT_EQ(next(true), "forget");
    std::erase_if(seen.rows, [](const kube::MachineRow& it) { return it.name == "master-1"; });
    seen.unfinished = MastersChange{"", change.added};
    EXPECT_EQ(next(), "make-machine");
    seen.machines.push_back({.name = change.added, .state = "running", .address = "10.0.0.10"});
    EXPECT_EQ(next(), "admit");
    seen.rows.push_back({change.added, "master", {"10.0.0.10"}});
    EXPECT_EQ(next(), "await-node");
    seen.nodes.push_back({.name = change.added, .addresses = {"10.0.0.10"}});
    EXPECT_EQ(next(), "await-node");
    seen.nodes.back().is_ready = true;
    EXPECT_EQ(next(), "await-member");
    seen.members.push_back({"", "10.0.0.10", false, false});
    EXPECT_EQ(next(), "await-member");
    seen.members.back() = {change.added, "10.0.0.10", false, true};
    EXPECT_EQ(next(), "await-member") << "a learner";
    seen.members.back().votes = true;
    EXPECT_EQ(next(), "finish");
  }
}

TEST(NextStep, DependsOnWhatIsLeft) {
  struct Case {
    std::string_view what;
    MastersChange change;
    std::function<void(ControlPlane&)> made;
    std::string_view step;
  };
  const auto leaves = [](ControlPlane& seen) {
    seen.unfinished = shrink;
    row(seen, "master-1").role = kube::removed_role;
    forget_member(seen, "master-1");
  };
  const std::vector<Case> cases = {
      {"a machine that is off is not drained", shrink, [&](ControlPlane& seen) { leaves(seen), seen.nodes[1].is_ready = false; },
       "remove-machine"},
      {"a machine that is gone is not drained, although its Node is Ready for some more seconds", shrink,
       [&](ControlPlane& seen) { leaves(seen), forget_machine(seen, "master-1"); }, "remove-node"},
      {"gone for good", shrink,
       [&](ControlPlane& seen) { leaves(seen), forget_machine(seen, "master-1"), forget_node(seen, "master-1"); }, "forget"},
      {"nothing comes after a removal", shrink,
       [&](ControlPlane& seen) {
         leaves(seen), forget_machine(seen, "master-1"), forget_node(seen, "master-1");
         seen.rows.erase(seen.rows.begin() + 1);
       },
       "finish"},
      {"a learner that never started has to go, too", shrink,
       [&](ControlPlane& seen) {
         leaves(seen), forget_machine(seen, "master-1"), seen.nodes[1].is_ready = false;
         seen.members.push_back({"", "10.0.0.12", false, false, true});
       },
       "await-removal"},
      {"a person switches it off", shrink,
       [&](ControlPlane& seen) { leaves(seen), seen.makes_machines = false, seen.machines.clear(); }, "drain"},
      {"a person starts the new one", grow,
       [](ControlPlane& seen) {
         seen.unfinished = grow;
         seen.makes_machines = false;
         seen.machines.clear();
         seen.rows.push_back({"master-3", "master", {}});
       },
       "await-machine"},
      {"a person may start it before it is admitted", grow,
       [](ControlPlane& seen) { seen.unfinished = grow, seen.makes_machines = false, seen.machines.clear(); }, "admit"},
  };
  for (const Case& it : cases) {
    ControlPlane seen = three();
    it.made(seen);
    EXPECT_EQ(name_of(next_step(seen, it.change, false)), it.step) << it.what;
  }
  ControlPlane off = three();
  leaves(off);
  off.makes_machines = false;
  off.machines.clear();
  EXPECT_EQ(name_of(next_step(off, shrink, true)), "await-power-off");
  off.nodes[1].is_ready = false;
  off.members.push_back({"master-1", "10.0.0.12", true, true, true});
  EXPECT_EQ(name_of(next_step(off, shrink, true)), "await-power-off") << "its kubelet is silent, but its etcd answers";
  off.members.back().is_healthy = false;
  EXPECT_EQ(name_of(next_step(off, shrink, true)), "await-removal");
}

TEST(NextMasterName, IsTheFirstThatNothingHas) {
  ControlPlane seen = three();
  EXPECT_EQ(next_master_name(seen), "master-3");
  seen.rows.push_back({"master-3", "removed", {}});
  EXPECT_EQ(next_master_name(seen), "master-4");
}

// A cluster of three masters whose operators act at once.
class ChangeMastersTest : public testing::Test {
 protected:
  ChangeMastersTest() {
    kube.serve_openshift();
    provider.existing.of = provider::ExistingCluster::Of::this_cluster;
    kube::MachineTable rows;
    for (int i = 0; i < 3; ++i) {
      const std::string name = fmt::format("master-{}", i);
      provider.machines[name].status = {
          .name = name, .state = "running", .address = fmt::format("10.0.0.{}", 11 + i), .is_on = true};
      rows.push_back({name, "master", {fmt::format("10.0.0.{}", 11 + i)}});
      put_node(name);
      members.push_back(name);
    }
    kube.put(kube::with_machine_table(config_map("openshift-config", "machine-addresses", {}), rows));
    put_members();
    kube.put(config_map("kube-system", "cluster-config-v1", {{"install-config", "controlPlane: {replicas: 3}\n"}}));
    kube.put({{"apiVersion", "v1"},
              {"kind", "Secret"},
              {"metadata", {{"name", "master-user-data"}, {"namespace", "openshift-machine-api"}}},
              {"data", {{"userData", base64_encode("the pointer config of masters")}}}});
    kube.after_write = [this](const Json&) { act(); };
    provider.after_change = [this](const std::string& call) -> Result<> {
      if (call.starts_with("add ")) started.push_back(call.substr(4));
      act();
      return Ok{};
    };
  }

  static Json config_map(const std::string& space, const std::string& name, const JsonObject& data) {
    return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}, {"namespace", space}}}, {"data", data}};
  }
  void put_node(const std::string& name) {
    kube.put({{"apiVersion", "v1"},
              {"kind", "Node"},
              {"metadata", {{"name", name}}},
              {"status", {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}});
  }
  void put_static_pods(const std::string& node) {
    for (const char* space :
         {"openshift-etcd", "openshift-kube-apiserver", "openshift-kube-controller-manager", "openshift-kube-scheduler"}) {
      kube.put({{"apiVersion", "v1"},
                {"kind", "Pod"},
                {"metadata", {{"name", node}, {"namespace", space}, {"annotations", {{"kubernetes.io/config.mirror", "x"}}}}},
                {"spec", {{"nodeName", node}}},
                {"status",
                 {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}},
                  {"containerStatuses", {{{"state", {{"running", {{"startedAt", "2026-11-27T12:00:00Z"}}}}}}}}}}});
    }
  }
  void put_members() {
    JsonArray list;
    for (const std::string& name : members)
      list.push_back(
          {{"name", name}, {"address", name}, {"votes", true}, {"healthy", true}, {"leaves", kube::is_removed(rows(), name)}});
    std::string text = emit_json(list, JsonStyle::compact);
    if (text == listed) return;
    listed = text;
    kube.put(config_map("openshift-etcd", "etcd-members", {{"members", std::move(text)}}));
  }
  kube::MachineTable rows() {
    return kube::parse_machine_table(*kube.stored(kube::types::config_maps, "openshift-config", "machine-addresses")).value();
  }
  std::string annotation() {
    return text_of(*kube.stored(kube::types::config_maps, "openshift-config", "machine-addresses"),
                   {"metadata", "annotations", masters_change_annotation});
  }

  // The etcd operator, the approver and the kubelets.
  void act() {
    const kube::MachineTable table = rows();
    std::erase_if(members,
                  [&](const std::string& name) { return kube::is_removed(table, name) && !provider.machines.contains(name); });
    for (const std::string& name : started) {
      const kube::MachineRow* row = kube::find_machine(table, name);
      if (!row || row->role != "master" || std::ranges::find(members, name) != members.end()) continue;
      put_node(name);
      put_static_pods(name);
      members.push_back(name);
    }
    put_members();
  }

  Result<MastersChange> change(const MastersChange& wanted, bool is_addition = false) {
    return change_masters(environment, {.api = kube, .machines = &provider}, wanted, is_addition);
  }

  testing_support::MemoryFiles files;
  testing_support::RealTimeContext test;
  testing_support::FakeKube kube;
  provider::fake::FakeProvider provider;
  std::vector<std::string> members, started;
  std::string listed;  // what the operator wrote

 private:
  sys::Context context_ = test.context();
  sys::RealRunner runner_;
  testing_support::SeededRandom random_{1};
  net::CurlHttp http_;

 protected:
  Environment environment{context_, files, runner_, random_, http_};
};

TEST_F(ChangeMastersTest, ReplacesAMasterByOneOfTheSameName) {
  const Result<MastersChange> made = change(same);
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(provider.calls, (std::vector<std::string>{"remove master-1", "add master-1"}));
  EXPECT_EQ(provider.machines.at("master-1").ignition, "the pointer config of masters");
  EXPECT_EQ(members, (std::vector<std::string>{"master-0", "master-2", "master-1"}));
  EXPECT_EQ(kube::names_with_role(rows(), "master").size(), 3u);
  EXPECT_EQ(annotation(), "");
}

TEST_F(ChangeMastersTest, GrowsAndShrinks) {
  EXPECT_EQ(change({}, true).value().added, "master-3");
  EXPECT_EQ(change({}, true).value().added, "master-4");
  EXPECT_EQ(members.size(), 5u);
  ASSERT_TRUE(change({"master-0", ""}).ok());
  ASSERT_TRUE(change({"master-4", ""}).ok());
  EXPECT_EQ(members, (std::vector<std::string>{"master-1", "master-2", "master-3"}));
  EXPECT_FALSE(provider.machines.contains("master-0"));
  EXPECT_FALSE(kube.stored(kube::types::nodes, "", "master-0"));
  const Result<MastersChange> refused = change({"master-1", ""});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::invalid);
  EXPECT_EQ(annotation(), "") << "nothing was begun";
}

TEST_F(ChangeMastersTest, ContinuesAfterEachWrite) {
  // As if the program was killed after the write of this number, for each number.
  for (int killed_at = 0;; ++killed_at) {
    int count = 0;
    bool is_killed = false;
    const auto kill = [&]() -> Result<> {
      if (is_killed || count++ != killed_at) return Ok{};
      is_killed = true;
      return error(Code::internal, "killed");
    };
    kube.fail_request = [&](const kube::ApiRequest& request) -> std::optional<Error> {
      if (request.method == "GET" || request.method == "WATCH") return std::nullopt;
      const Result<> killed = kill();
      return killed.ok() ? std::nullopt : std::optional(killed.error());
    };
    const auto machines_act = provider.after_change;
    provider.after_change = [&](const std::string& call) -> Result<> {
      TRY(machines_act(call));
      return kill();
    };
    const Result<MastersChange> first = change(same);
    kube.fail_request = {};
    provider.after_change = machines_act;
    EXPECT_EQ(first.ok(), !is_killed);
    if (!is_killed) break;
    if (!annotation().empty()) {
      const Result<MastersChange> another = change({"master-2", "master-2"});
      EXPECT_EQ(another.error().code(), Code::conflict) << "another change has to wait";
      const Result<MastersChange> second = change(same);
      ASSERT_TRUE(second.ok()) << killed_at << ": " << second.error().message();
    }
    EXPECT_EQ(members.size(), 3u) << killed_at;
    EXPECT_EQ(annotation(), "");
    ASSERT_LT(killed_at, 30);
  }
}

TEST_F(ChangeMastersTest, AnAdditionThatCannotFinishIsGivenUp) {
  const auto machines_act = provider.after_change;
  provider.after_change = [](const std::string&) -> Result<> { return error(Code::internal, "no such disk"); };
  ASSERT_FALSE(change({}, true).ok());
  provider.after_change = machines_act;
  EXPECT_EQ(annotation(), "add master-3");
  const Result<MastersChange> another = change({"master-1", ""});
  EXPECT_NE(another.error().message().find("`slipway destroy master master-3` gives it up"), std::string::npos);
  const Result<MastersChange> given_up = change({"master-3", ""});
  ASSERT_TRUE(given_up.ok()) << given_up.error().message();
  EXPECT_FALSE(provider.machines.contains("master-3"));
  EXPECT_EQ(rows().size(), 3u);
  EXPECT_EQ(annotation(), "");
}

TEST_F(ChangeMastersTest, ANewMachineThatIsOffIsStarted) {
  const auto machines_act = provider.after_change;
  provider.after_change = [](const std::string&) -> Result<> { return error(Code::internal, "killed"); };
  ASSERT_FALSE(change({}, true).ok());
  provider.after_change = machines_act;
  provider.machines.at("master-3").status.is_on = false;
  const Result<MastersChange> made = change({}, true);
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_TRUE(provider.machines.at("master-3").status.is_on);
  EXPECT_EQ(members.size(), 4u);
}

TEST_F(ChangeMastersTest, OfTwoHostsThatBeginAtOnceOneIsRefused) {
  bool is_first = true;
  kube.fail_request = [&](const kube::ApiRequest& request) -> std::optional<Error> {
    if (request.method != "PUT" || !std::exchange(is_first, false)) return std::nullopt;
    Json table = *kube.stored(kube::types::config_maps, "openshift-config", "machine-addresses");
    table.at("metadata").as_object()["annotations"] = JsonObject{{masters_change_annotation, "remove master-0, add master-0"}};
    kube.put(table);
    return error(Code::conflict, "the object has been modified");
  };
  const Result<MastersChange> made = change(same);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::conflict);
  EXPECT_EQ(annotation(), "remove master-0, add master-0");
  EXPECT_EQ(kube::names_with_role(rows(), "master").size(), 3u);
  EXPECT_TRUE(provider.calls.empty());
}

TEST_F(ChangeMastersTest, WithoutAListOfMembersNothingBegins) {
  kube.drop(kube::types::config_maps, "openshift-etcd", "etcd-members");
  const Result<MastersChange> made = change(same);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::not_found);
  EXPECT_EQ(annotation(), "");
}

}  // namespace
}  // namespace slipway::cluster
