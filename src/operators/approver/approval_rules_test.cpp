#include "operators/approver/approval_rules.h"

#include "base/digest.h"
#include "base/yaml.h"
#include "net/x509.h"
#include "support/client_request.h"

#include <gtest/gtest.h>

#include <functional>

namespace slipway::operators {
namespace {

const MachineTable table = {{"master-0", "master", {"10.97.77.11", "fd00::11", "m0.internal"}},
                            {"worker-0", "worker", {"10.97.77.20"}}};

std::string request_text(const net::SubjectName& subject, const std::vector<std::string>& dns = {},
                         const std::vector<std::string>& ip = {}) {
  static const Secret key = net::make_key().value();
  return base64_encode(net::make_request(key, subject, dns, ip).value());
}

net::SubjectName node_subject(const std::string& name) {
  return {.common_name = "system:node:" + name, .organizations = {"system:nodes"}};
}

Json client_request() { return {{"spec", testing_support::client_request_spec(request_text(node_subject("master-0")))}}; }

Json serving_request() {
  return {{"spec",
           {{"request", request_text(node_subject("master-0"), {"master-0"}, {"10.97.77.11"})},
            {"signerName", "kubernetes.io/kubelet-serving"},
            {"username", "system:node:master-0"},
            {"groups", {"system:nodes", "system:authenticated"}},
            {"usages", {"digital signature", "server auth"}}}}};
}

Json& spec(Json& request) { return request.as_object()["spec"]; }
auto set(std::string key, Json value) {
  return [key = std::move(key), value = std::move(value)](Json& request) { spec(request).as_object()[key] = value; };
}

struct Case {
  const char* what;
  std::function<void(Json&)> change;
  const char* reason;  // "" for an approval
};

std::string reason_of(const std::optional<Verdict>& verdict) {
  if (!verdict) return "not judged";
  return verdict->approve ? "" : verdict->reason;
}

// Two common names; both Go and we take the last one.
constexpr const char* two_names = R"(-----BEGIN CERTIFICATE REQUEST-----
MIIBETCBtwIBADBVMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxHTAbBgNVBAMMFHN5
c3RlbTpub2RlOm1hc3Rlci0wMR0wGwYDVQQDDBRzeXN0ZW06bm9kZTptYXN0ZXIt
OTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOKM9VnbwUma27kJwxqMJ8qLKpVf
kkqN+G3c6XzFDjlSI8s2WTOaQc8qVai/hh0nCfZUbeMMHHoSWJq4O7PZZRmgADAK
BggqhkjOPQQDAgNJADBGAiEAiBChG4YMuwcxIMQeIKH4WIGxv85VdUFwlQoLpocA
mOACIQCbYFIKPGw/dlfLkCnM/fGU0tm+k3S/4Cp+RiH5VKM03g==
-----END CERTIFICATE REQUEST-----
)";

TEST(ApprovalRules, ClientCertificatesAreForMachinesThatJoin) {
  const auto subject = [](net::SubjectName name, std::vector<std::string> dns = {}) {
    return set("request", Json(request_text(name, dns)));
  };
  const Case cases[] = {
      {"as it should be", [](Json&) {}, ""},
      {"keys that can encipher", set("usages", {"digital signature", "key encipherment", "client auth"}), ""},
      {"another user", set("username", "system:serviceaccount:default:evil"), "WrongRequester"},
      {"an administrator", set("username", "system:admin"), "WrongRequester"},
      {"a renewal", set("username", "system:node:master-0"), "not judged"},
      {"a group less", set("groups", {"system:serviceaccounts", "system:authenticated"}), "WrongGroups"},
      {"a group more",
       set("groups", {"system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator",
                      "system:authenticated", "system:masters"}),
       "WrongGroups"},
      {"no groups", set("groups", nullptr), "WrongGroups"},
      {"a usage more", set("usages", {"digital signature", "client auth", "server auth"}), "WrongUsages"},
      {"a usage less", set("usages", JsonArray{"client auth"}), "WrongUsages"},
      {"another signer", set("signerName", "kubernetes.io/kube-apiserver-client"), "not judged"},
      {"no request", set("request", "bm90aGluZw=="), "UnreadableRequest"},
      {"no base64", set("request", "!"), "UnreadableRequest"},
      {"no node's name", subject({.common_name = "system:admin", .organizations = {"system:nodes"}}), "WrongSubject"},
      {"an empty name", subject(node_subject("")), "WrongSubject"},
      {"a second organization",
       subject({.common_name = "system:node:master-0", .organizations = {"system:nodes", "system:masters"}}), "WrongSubject"},
      {"another organization", subject({.common_name = "system:node:master-0", .organizations = {"system:masters"}}),
       "WrongSubject"},
      {"a unit",
       subject({.common_name = "system:node:master-0", .organizations = {"system:nodes"}, .organizational_units = {"u"}}),
       "WrongSubject"},
      {"a host name", subject(node_subject("master-0"), {"master-0"}), "WrongNames"},
      {"an unknown machine", subject(node_subject("master-9")), "UnknownMachine"},
      {"a machine that registered", subject(node_subject("worker-0")), "NameAlreadyRegistered"},
      {"two common names, the last unknown", set("request", Json(base64_encode(two_names))), "UnknownMachine"},
      {"approved before",
       [](Json& r) {
         r.as_object()["status"] = {{"conditions", JsonArray{JsonObject{{"type", "Approved"}}}}};
       },
       "not judged"},
      {"denied before",
       [](Json& r) {
         r.as_object()["status"] = {{"conditions", JsonArray{JsonObject{{"type", "Denied"}}}}};
       },
       "not judged"},
  };
  for (const Case& c : cases) {
    Json request = client_request();
    c.change(request);
    EXPECT_EQ(reason_of(judge_request(request, &table, {"worker-0"})), c.reason) << c.what;
  }
}

TEST(ApprovalRules, ServingCertificatesAreForRegisteredNodesAndTheirOwnNames) {
  const auto names = [](std::vector<std::string> dns, std::vector<std::string> ip) {
    return set("request", Json(request_text(node_subject("master-0"), dns, ip)));
  };
  const Case cases[] = {
      {"as it should be", [](Json&) {}, ""},
      {"all names of the machine", names({"master-0", "m0.internal"}, {"10.97.77.11", "fd00:0::11"}), ""},
      {"another machine's address", names({"master-0"}, {"10.97.77.20"}), "WrongNames"},
      {"the API's address beside its own", names({"master-0"}, {"10.97.77.11", "10.97.77.5"}), "WrongNames"},
      {"another name", names({"api.example.com"}, {"10.97.77.11"}), "WrongNames"},
      {"an address as a name", names({"10.97.77.5"}, {"10.97.77.11"}), "WrongNames"},
      {"no names", names({}, {}), "WrongNames"},
      {"another node", set("username", "system:node:worker-0"), "WrongSubject"},
      {"no node", set("username", "system:admin"), "WrongRequester"},
      {"not in the group", set("groups", JsonArray{"system:authenticated"}), "WrongGroups"},
      {"client usages", set("usages", {"digital signature", "client auth"}), "WrongUsages"},
      {"a node that has not registered",
       [](Json& r) {
         spec(r).as_object()["username"] = "system:node:worker-0";
         spec(r).as_object()["request"] = request_text(node_subject("worker-0"), {"worker-0"}, {"10.97.77.20"});
       },
       "NodeMissing"},
      {"an unknown machine",
       [](Json& r) {
         spec(r).as_object()["username"] = "system:node:other";
         spec(r).as_object()["request"] = request_text(node_subject("other"), {"other"}, {"10.97.77.11"});
       },
       "UnknownMachine"},
  };
  for (const Case& c : cases) {
    Json request = serving_request();
    c.change(request);
    EXPECT_EQ(reason_of(judge_request(request, &table, {"master-0", "other"})), c.reason) << c.what;
  }
}

TEST(ApprovalRules, ANodeComesBackWithItsKeyOnly) {
  const Json request = client_request();
  const std::string pem = base64_decode(*find_string(request, {"spec", "request"})).value();
  const std::string own = sha256_hex(net::parse_request(pem)->public_key);
  const struct {
    NodeKeys keys;
    const char* reason;
  } rows[] = {
      {{}, "NameAlreadyRegistered"},
      {{{"master-0", {}}}, "NameAlreadyRegistered"},
      {{{"master-0", {"0123"}}, {"worker-0", {own}}}, "NameAlreadyRegistered"},
      {{{"master-0", {"0123", own}}}, ""},
  };
  for (const auto& row : rows)
    EXPECT_EQ(reason_of(judge_request(request, &table, {"master-0", "worker-0"}, row.keys)), row.reason);
  // Whoever asks, the rest is as for one that joins.
  Json stranger = request;
  spec(stranger).as_object()["username"] = "system:serviceaccount:default:evil";
  EXPECT_EQ(reason_of(judge_request(stranger, &table, {"master-0"}, {{"master-0", {own}}})), "WrongRequester");
}

TEST(ApprovalRules, KeysOfIssuedCertificatesAreRemembered) {
  const auto issued = [](const std::string& time, const Secret& key, const std::string& node, bool is_signed = true) {
    Json request = client_request();
    spec(request).as_object()["request"] = base64_encode(net::make_request(key, node_subject(node), {}, {}).value());
    request.as_object()["metadata"] = {{"creationTimestamp", time}};
    if (is_signed) request.as_object()["status"] = {{"certificate", "c29tZQ=="}};
    return request;
  };
  const auto node = [](const std::string& name, const std::string& keys) -> Json {
    return {{"metadata", {{"name", name}, {"annotations", {{"slipway.internal/kubelet-keys", keys}}}}}};
  };
  const auto said = [](const Json& request) {
    return sha256_hex(net::parse_request(base64_decode(*find_string(request, {"spec", "request"})).value())->public_key);
  };
  const Secret one = net::make_key().value(), two = net::make_key().value();
  const Json first = issued("2026-01-01T00:00:00Z", one, "master-0"), second = issued("2026-01-02T00:00:00Z", two, "master-0");
  const std::string a = said(first), b = said(second);
  Json of_others = issued("2026-01-03T00:00:00Z", one, "master-0");
  spec(of_others).as_object()["signerName"] = "kubernetes.io/kubelet-serving";
  const struct {
    const char* what;
    std::string before;
    std::vector<Json> requests;
    std::string after;  // "": no patch
  } rows[] = {
      {"the first", "", {first}, a},
      {"the newest is first", "", {first, second}, b + "," + a},
      {"one more is there already", a, {second}, b + "," + a},
      {"the oldest goes", "x,y", {second}, b + ",x"},
      {"known", b + "," + a, {first, second}, ""},
      {"known, and nothing to learn", "x,y", {}, ""},
      {"not signed yet", "", {issued("2026-01-03T00:00:00Z", one, "master-0", false)}, ""},
      {"another node's", "", {issued("2026-01-03T00:00:00Z", one, "master-1")}, ""},
      {"of another kind", "", {of_others}, ""},
      {"unreadable", "", {Json{{"spec", {{"signerName", "kubernetes.io/kube-apiserver-client-kubelet"}}}}}, ""},
  };
  for (const auto& row : rows) {
    const auto patches = key_patches({node("master-0", row.before)}, row.requests);
    EXPECT_EQ(patches.size(), row.after.empty() ? 0u : 1u) << row.what;
    if (patches.empty()) continue;
    EXPECT_EQ(find_string(patches.at("master-0"), {"metadata", "annotations", "slipway.internal/kubelet-keys"}), row.after)
        << row.what;
  }
  EXPECT_EQ(known_keys(node("master-0", "x,y")), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(known_keys(Json{{"metadata", {{"name", "master-0"}}}}), std::vector<std::string>());
}

TEST(ApprovalRules, WithoutATableIdentityIsWhatCounts) {
  Json client = client_request();
  spec(client).as_object()["request"] = request_text(node_subject("anybody"));
  EXPECT_EQ(reason_of(judge_request(client, nullptr, {})), "");
  EXPECT_EQ(reason_of(judge_request(client, nullptr, {"anybody"})), "NameAlreadyRegistered");
  Json serving = serving_request();
  spec(serving).as_object()["request"] = request_text(node_subject("master-0"), {"elsewhere"}, {"192.0.2.1"});
  EXPECT_EQ(reason_of(judge_request(serving, nullptr, {"master-0"})), "");
  spec(serving).as_object()["username"] = "system:node:master-1";
  EXPECT_EQ(reason_of(judge_request(serving, nullptr, {"master-0"})), "WrongSubject");
}

TEST(ApprovalRules, TableIsReadFromItsConfigMap) {
  const auto machines = parse_machine_table(
      "data:\n  machines: '[{\"name\":\"master-0\",\"role\":\"master\",\"addresses\":[\"10.97.77.11\"]}]'\n", "t.yaml");
  ASSERT_TRUE(machines.ok()) << machines.error().message();
  EXPECT_EQ(machines.value(), (MachineTable{{"master-0", "master", {"10.97.77.11"}}}));
  EXPECT_EQ(parse_machine_table("data: {}", "t.yaml").error().message(), "t.yaml: data.machines: missing");
  EXPECT_EQ(parse_machine_table("data: {machines: '[{\"name\":\"a\"}]'}", "t.yaml").error().code(), Code::invalid);
  EXPECT_EQ(parse_machine_table("data: {machines: '{}'}", "t.yaml").error().code(), Code::invalid);
}

TEST(ApprovalRules, NodesGetTheirRole) {
  const auto patch_of = [](const char* node) {
    const auto patch = role_patch(parse_yaml(node, "n").value().value, table);
    return patch ? emit_json(*patch, JsonStyle::compact) : "none";
  };
  EXPECT_EQ(
      patch_of("metadata: {name: master-0, resourceVersion: '7'}"),
      R"({"metadata":{"resourceVersion":"7","labels":{"node-role.kubernetes.io/master":"","node-role.kubernetes.io/control-plane":""}},)"
      R"("spec":{"taints":[{"key":"node-role.kubernetes.io/master","effect":"NoSchedule"}]}})");
  EXPECT_EQ(patch_of("metadata: {name: master-0, resourceVersion: '7', labels: {node-role.kubernetes.io/master: ''}}\n"
                     "spec: {taints: [{key: node-role.kubernetes.io/master, effect: NoSchedule}]}"),
            R"({"metadata":{"resourceVersion":"7","labels":{"node-role.kubernetes.io/control-plane":""}}})");
  EXPECT_EQ(patch_of("metadata: {name: master-0}\n"
                     "spec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}"),
            R"({"metadata":{"resourceVersion":"","labels":{"node-role.kubernetes.io/master":"",)"
            R"("node-role.kubernetes.io/control-plane":""}},)"
            R"("spec":{"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"},)"
            R"({"key":"node-role.kubernetes.io/master","effect":"NoSchedule"}]}})");
  // Somebody made the masters schedulable.
  EXPECT_EQ(
      patch_of(
          "metadata: {name: master-0, labels: {node-role.kubernetes.io/master: '', node-role.kubernetes.io/control-plane: ''}}"),
      "none");
  EXPECT_EQ(patch_of("metadata: {name: worker-0, resourceVersion: '7'}"),
            R"({"metadata":{"resourceVersion":"7","labels":{"node-role.kubernetes.io/worker":""}}})");
  EXPECT_EQ(patch_of("metadata: {name: worker-0, labels: {node-role.kubernetes.io/worker: ''}}"), "none");
  EXPECT_EQ(patch_of("metadata: {name: stranger}"), "none");
}

}  // namespace
}  // namespace slipway::operators
