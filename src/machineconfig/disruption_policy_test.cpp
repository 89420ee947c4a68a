#include "machineconfig/disruption_policy.h"

#include "base/text.h"
#include "base/yaml.h"

#include <gtest/gtest.h>

namespace slipway::machineconfig {
namespace {

using Type = DisruptionAction::Type;

Json with_policy(std::string_view policy) {
  return parse_yaml(fmt::format("spec: {{nodeDisruptionPolicy: {}}}", policy), "test").value().value;
}

std::string text_of(const Findings& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings.all()) lines.push_back(fmt::format("{}: {}", finding.field, finding.message));
  return join(lines, "\n");
}

TEST(DisruptionPolicy, EntriesOfUsersReplaceDefaults) {
  const Json object = with_policy(R"({
    files: [{path: /etc/app/, actions: [{type: Drain}, {type: Reload, reload: {serviceName: app.service}}]},
            {path: /etc/containerd/certs.d, actions: [{type: Reboot}]},
            {path: /, actions: [{type: None}]}],
    units: [{name: app.service, actions: [{type: DaemonReload}, {type: Restart, restart: {serviceName: app.service}}]}],
    sshkey: {actions: [{type: Restart, restart: {serviceName: 'a:b-c_d\e.timer'}}]}})");
  const PolicyInForce found = policy_in_force(object);
  EXPECT_EQ(text_of(found.findings), "");
  DisruptionPolicy expected = default_disruption_policy();
  expected.files["/etc/app"] = {{Type::drain}, {Type::reload, "app.service"}};
  expected.files["/etc/containerd/certs.d"] = {{Type::reboot}};
  expected.files[""] = {};
  expected.units["app.service"] = {{Type::daemon_reload}, {Type::restart, "app.service"}};
  expected.core_access = {{Type::restart, "a:b-c_d\\e.timer"}};
  EXPECT_EQ(found.policy, expected);
  EXPECT_EQ(*found.policy.for_file("/etc/app/conf"), expected.files["/etc/app"]);
  EXPECT_EQ(*found.policy.for_file("/etc/application"), DisruptionActions());
}

TEST(DisruptionPolicy, WithoutAPolicyTheDefaultsAreInForce) {
  for (const Json& object : {Json(), with_policy("{}"), with_policy("null"), Json(JsonObject{{"spec", JsonObject()}})}) {
    EXPECT_EQ(policy_in_force(object).policy, default_disruption_policy());
    EXPECT_TRUE(policy_in_force(object).findings.empty());
  }
  EXPECT_EQ(default_disruption_policy().for_file("/etc/motd"), nullptr);
  EXPECT_EQ(default_disruption_policy().for_unit("kubelet.service"), nullptr);
  EXPECT_NE(default_disruption_policy().for_file("/etc/containerd/certs.d/a/hosts.toml"), nullptr);
}

TEST(DisruptionPolicy, WhileSpecIsNotValidTheLastPolicyStays) {
  const Json good = with_policy("{files: [{path: /etc/app, actions: [{type: None}]}]}");
  const DisruptionPolicy last = policy_in_force(good).policy;
  Json object = with_policy("{files: [{path: etc/app, actions: [{type: Drain}]}]}");
  EXPECT_EQ(policy_in_force(object).policy, default_disruption_policy());
  object.as_object()["status"] = JsonObject{{"nodeDisruptionPolicyStatus", {{"clusterPolicies", to_json(last)}}}};
  const PolicyInForce found = policy_in_force(object);
  EXPECT_EQ(found.policy, last);
  EXPECT_EQ(text_of(found.findings), "spec.nodeDisruptionPolicy.files[0].path: 'etc/app' is not an absolute path");
  object.at("status")
      .at("nodeDisruptionPolicyStatus")
      .at("clusterPolicies")
      .at("files")
      .as_array()
      .push_back(JsonObject{{"path", "/etc/x"}, {"actions", JsonArray{JsonObject{{"type", "Special"}}}}});
  EXPECT_EQ(policy_in_force(object).policy, default_disruption_policy());
}

TEST(DisruptionPolicy, IsRefusedWithThePlaceOfEachFault) {
  struct Case {
    std::string_view policy, place, message;
  };
  const Case cases[] = {
      {"{files: [{path: /etc/../a, actions: []}]}", ".files[0].path", "'/etc/../a' is not an absolute path"},
      {"{files: [{path: /etc//a, actions: []}]}", ".files[0].path", "is not an absolute path"},
      {"{files: [{actions: []}]}", ".files[0].path", "'' is not an absolute path"},
      {"{files: [{path: /a}]}", ".files[0].actions", "missing"},
      {"{files: [{path: /a, actions: []}, {path: /a/, actions: []}]}", ".files[1].path", "'/a' has another entry"},
      {"{files: [{path: /a, actions: [{type: Halt}]}]}", ".files[0].actions[0].type", "'Halt' is unknown"},
      {"{files: [{path: /a, actions: [{type: Special}]}]}", ".files[0].actions[0].type", "'Special' is unknown"},
      {"{files: [{path: /a, actions: [{type: Drain}, {type: Reboot}]}]}", ".files[0].actions[1].type",
       "Reboot must be the only action"},
      {"{files: [{path: /a, actions: [{type: None}, {type: Drain}]}]}", ".files[0].actions[0].type",
       "None must be the only action"},
      {"{files: [{path: /a, actions: [{type: Reload}]}]}", ".files[0].actions[0].reload.serviceName",
       "'' is not the name of a unit"},
      {"{files: [{path: /a, actions: [{type: Restart, restart: {serviceName: crio}}]}]}",
       ".files[0].actions[0].restart.serviceName", "'crio' is not the name of a unit"},
      {"{files: [{path: /a, actions: [{type: Drain, reload: {serviceName: a.service}}]}]}", ".files[0].actions[0].reload",
       "unknown field"},
      {"{units: [{name: .service, actions: []}]}", ".units[0].name", "'.service' is not the name of a unit"},
      {"{units: [{name: 'a;b.service', actions: []}]}", ".units[0].name", "is not the name of a unit"},
      {"{units: [{name: -Hevil.service, actions: []}]}", ".units[0].name", "is not the name of a unit"},
      {"{units: [{name: a.service, actions: [{type: Nothing}]}]}", ".units[0].actions[0].type", "'Nothing' is unknown"},
      {"{sshkey: {actions: [{type: Reboot}, {type: Reboot}]}}", ".sshkey.actions[0].type", "Reboot must be the only action"},
      {"{sshkey: {}}", ".sshkey.actions", "missing"},
      {"{folders: []}", ".folders", "unknown field"},
      {"3", "", "is not an object"},
  };
  for (const Case& c : cases) {
    const std::string text = text_of(policy_in_force(with_policy(c.policy)).findings);
    const std::string expected = fmt::format("spec.nodeDisruptionPolicy{}: ", c.place);
    EXPECT_NE(text.find(expected), std::string::npos) << c.policy << ": " << text;
    EXPECT_NE(text.find(c.message), std::string::npos) << c.policy << ": " << text;
  }
}

TEST(DisruptionPolicy, IsReportedAsInTheApi) {
  const Json json = to_json(policy_in_force(with_policy("{units: [{name: a.service, actions: [{type: Drain}]}]}")).policy);
  EXPECT_EQ(emit_json(json.at("units"), JsonStyle::compact), R"([{"name":"a.service","actions":[{"type":"Drain"}]}])");
  EXPECT_EQ(emit_json(json.at("sshkey"), JsonStyle::compact), R"({"actions":[{"type":"None"}]})");
  EXPECT_EQ(json.at("files").at(1).at("path"), Json("/etc/containerd/conf.d/10-slipway.toml"));
  EXPECT_EQ(emit_json(json.at("files").at(1).at("actions"), JsonStyle::compact),
            R"([{"type":"Restart","restart":{"serviceName":"containerd.service"}}])");
}

}  // namespace
}  // namespace slipway::machineconfig
