#include "components/machine_approver/approval_rules.h"

#include "base/digest.h"
#include "base/yaml.h"
#include "net/x509.h"
#include "support/client_request.h"

#include <gtest/gtest.h>

#include <functional>

namespace slipway::components::machine_approver {
namespace {

const kube::MachineTable table = {{"master-0", "master", {"10.97.77.11", "fd00::11", "m0.internal"}},
                                  {"worker-0", "worker", {"10.97.77.20"}}};

std::string request_text(const net::SubjectName& subject, const std::vector<std::string>& dns = {},
                         const std::vector<std::string>& ip = {}) {
  static const Secret key = net::make_key().value();
  return base64_encode(net::make_request(key, subject, dns, ip).value());
}

net::SubjectName node_subject(const std::string& name) {
  return {.common_name = "system:node:" + name, .organizations = {"system:nodes"}};
}

ApprovalFacts knowing(std::set<std::string, std::less<>> nodes, NodeRecords records = {}) {
  return {.machines = table, .nodes = std::move(nodes), .records = std::move(records), .approvals = {}};
}

constexpr const char* bootstrapper = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper";
const Json by_certificate = {{"authentication.kubernetes.io/credential-id", {"X509SHA256=5f0c"}}};
const Json by_token = {{"authentication.kubernetes.io/credential-id", {"JTI=0b1e"}}};

// Requests as machines send them. Masters use the installer's certificate.
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

// Two common names: Go and this code both use the last one.
constexpr const char* two_names = R"(-----BEGIN CERTIFICATE REQUEST-----
MIIBETCBtwIBADBVMRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxHTAbBgNVBAMMFHN5
c3RlbTpub2RlOm1hc3Rlci0wMR0wGwYDVQQDDBRzeXN0ZW06bm9kZTptYXN0ZXIt
OTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOKM9VnbwUma27kJwxqMJ8qLKpVf
kkqN+G3c6XzFDjlSI8s2WTOaQc8qVai/hh0nCfZUbeMMHHoSWJq4O7PZZRmgADAK
BggqhkjOPQQDAgNJADBGAiEAiBChG4YMuwcxIMQeIKH4WIGxv85VdUFwlQoLpocA
mOACIQCbYFIKPGw/dlfLkCnM/fGU0tm+k3S/4Cp+RiH5VKM03g==
-----END CERTIFICATE REQUEST-----
)";

TEST(ApprovalRules, AMachineThatLeavesGetsNoCertificateAndNoRole) {
  ApprovalFacts facts = knowing({"master-0"});
  facts.machines = {{"master-0", "removed", {"10.97.77.11"}}};
  EXPECT_EQ(reason_of(judge_request(client_request(), facts)), "RemovedMachine");
  EXPECT_EQ(reason_of(judge_request(serving_request(), facts)), "RemovedMachine");
  EXPECT_EQ(role_patch({{"metadata", {{"name", "master-0"}}}}, facts.machines), std::nullopt);
}

TEST(ApprovalRules, ClientCertificatesAreForMachinesThatJoin) {
  const auto subject = [](net::SubjectName name, std::vector<std::string> dns = {}) {
    return set("request", Json(request_text(name, dns)));
  };
  const Case cases[] = {
      {"as it should be", [](Json&) {}, ""},
      {"keys that can encipher", set("usages", {"digital signature", "key encipherment", "client auth"}), ""},
      {"another user", set("username", "system:serviceaccount:default:evil"), "WrongRequester"},
      {"an administrator", set("username", "system:admin"), "WrongRequester"},
      {"by the masters' token", set("username", Json(std::string(bootstrapper) + "-master")), ""},
      {"by the workers' token", set("extra", by_token), "WrongCredential"},
      {"by a token without an end", set("extra", nullptr), "WrongCredential"},
      {"by two credentials", set("extra", Json{{"authentication.kubernetes.io/credential-id", {"JTI=1", "X509SHA256=2"}}}),
       "WrongCredential"},
      {"an account of nearly that name", set("username", Json(std::string(bootstrapper) + "-masters")), "WrongRequester"},
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
    EXPECT_EQ(reason_of(judge_request(request, knowing({"worker-0"}))), c.reason) << c.what;
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
    EXPECT_EQ(reason_of(judge_request(request, knowing({"master-0", "other"}))), c.reason) << c.what;
  }
}

TEST(ApprovalRules, AWorkersCredentialIsForWorkers) {
  for (const Json& extra : {by_token, by_certificate, Json(nullptr)}) {
    Json request = client_request();
    spec(request).as_object()["request"] = request_text(node_subject("worker-0"));
    spec(request).as_object()["extra"] = extra;
    EXPECT_EQ(reason_of(judge_request(request, knowing({}))), "");
  }
  // If the API server does not write how a user authenticated, certificates and tokens look the same.
  Json request = client_request();
  spec(request).as_object().erase("extra");
  ApprovalFacts old = knowing({});
  old.certificates_have_ids = false;
  EXPECT_EQ(reason_of(judge_request(request, old)), "");
  // The known key of a returning machine does not replace the check of the credential.
  const std::string pem = base64_decode(*find_string(request, {"spec", "request"})).value();
  const std::string own = sha256_hex(net::parse_request(pem)->public_key);
  EXPECT_EQ(reason_of(judge_request(request, knowing({"master-0"}, {{"master-0", {.keys = {own}}}}))), "WrongCredential");
}

TEST(ApprovalRules, ANameHasOneApprovalUntilItsNodeExists) {
  const Json request = client_request();
  const std::string pem = base64_decode(*find_string(request, {"spec", "request"})).value();
  const std::string own = sha256_hex(net::parse_request(pem)->public_key);
  ApprovalFacts known = knowing({});
  known.approvals = {{"master-0", {"0123"}}, {"worker-0", {own}}};
  EXPECT_EQ(reason_of(judge_request(request, known)), "NameAlreadyApproved");
  known.approvals = {{"master-0", {own}}};
  EXPECT_EQ(reason_of(judge_request(request, known)), "") << "the same machine asks once more";
}

TEST(ApprovalRules, RenewalsAreOfOthersToApproveAndAreReportedWhenTheyAreNot) {
  const auto subject = [](net::SubjectName name, std::vector<std::string> dns = {}) {
    return set("request", Json(request_text(name, dns)));
  };
  const Case cases[] = {
      {"its own", [](Json&) {}, "RenewalNotApproved"},
      {"another node's", subject(node_subject("worker-0")), "WrongSubject"},
      {"another group", subject({.common_name = "system:node:master-0", .organizations = {"system:masters"}}), "WrongSubject"},
      {"a host name", subject(node_subject("master-0"), {"master-0"}), "WrongNames"},
      {"a usage more", set("usages", {"digital signature", "client auth", "server auth"}), "WrongUsages"},
      {"no request", set("request", "!"), "UnreadableRequest"},
  };
  for (const Case& c : cases) {
    Json request = client_request();
    spec(request).as_object()["username"] = "system:node:master-0";
    spec(request).as_object()["groups"] = {"system:nodes", "system:authenticated"};
    c.change(request);
    const auto verdict = judge_request(request, knowing({"master-0", "worker-0"}));
    EXPECT_EQ(reason_of(verdict), c.reason) << c.what;
    EXPECT_EQ(verdict->grace, Seconds(verdict->reason == "RenewalNotApproved" ? 60 : 0)) << c.what;
  }
}

TEST(ApprovalRules, RenewedServingCertificatesHaveTheNamesOfTheLast) {
  const auto names = [](std::vector<std::string> dns, std::vector<std::string> ip) {
    return set("request", Json(request_text(node_subject("master-0"), dns, ip)));
  };
  const NodeRecord record = {.joined = {"10.9.9.9", "master-0"},
                             .serving = ServingNames{{"m0.example.com", "master-0"}, {"10.9.9.8", "fd00::1"}}};
  const struct {
    const char* what;
    std::function<void(Json&)> change;
    const char* without_addresses;  // reason if the row has no addresses
    const char* with_addresses;
  } rows[] = {
      {"the last ones", names({"master-0", "m0.example.com"}, {"fd00:0::1", "10.9.9.8"}), "", ""},
      {"one less", names({"master-0", "m0.example.com"}, {"10.9.9.8"}), "WrongNames", "WrongNames"},
      {"one more", names({"master-0", "m0.example.com"}, {"10.9.9.8", "fd00::1", "10.9.9.9"}), "WrongNames", "WrongNames"},
      {"those that it joined with", names({"master-0"}, {"10.9.9.9"}), "", "WrongNames"},
      {"those of its row", names({"master-0"}, {"10.97.77.11"}), "WrongNames", ""},
      {"its name", names({"master-0"}, {}), "", ""},
      {"another address", names({"master-0"}, {"192.0.2.1"}), "WrongNames", "WrongNames"},
  };
  for (const auto& row : rows) {
    Json request = serving_request();
    row.change(request);
    ApprovalFacts known = knowing({"master-0"}, {{"master-0", record}});
    EXPECT_EQ(reason_of(judge_request(request, known)), row.with_addresses) << row.what;
    known.machines = {{"master-0", "master", {}}};
    EXPECT_EQ(reason_of(judge_request(request, known)), row.without_addresses) << row.what;
    known.machines = {};
    EXPECT_EQ(reason_of(judge_request(request, known)), "UnknownMachine") << row.what;
  }
}

TEST(ApprovalRules, ANodeComesBackWithItsKeyOnly) {
  const Json request = client_request();
  const std::string pem = base64_decode(*find_string(request, {"spec", "request"})).value();
  const std::string own = sha256_hex(net::parse_request(pem)->public_key);
  const struct {
    NodeRecords records;
    const char* reason;
  } rows[] = {
      {{}, "NameAlreadyRegistered"},
      {{{"master-0", {}}}, "NameAlreadyRegistered"},
      {{{"master-0", {.keys = {"0123"}}}, {"worker-0", {.keys = {own}}}}, "NameAlreadyRegistered"},
      {{{"master-0", {.keys = {"0123", own}}}}, ""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(reason_of(judge_request(request, knowing({"master-0", "worker-0"}, row.records))), row.reason);
  }
  // The other rules are the same as for a joining machine, whoever requests.
  Json stranger = request;
  spec(stranger).as_object()["username"] = "system:serviceaccount:default:evil";
  EXPECT_EQ(reason_of(judge_request(stranger, knowing({"master-0"}, {{"master-0", {.keys = {own}}}}))), "WrongRequester");
}

TEST(ApprovalRules, NamesWithoutARowJoinByTheirCredentialOnTheBootstrapMachineAlone) {
  Json client = client_request();
  spec(client).as_object()["request"] = request_text(node_subject("anybody"));
  ApprovalFacts known{.machines = {}, .admits_by_credential = true, .nodes = {}, .records = {}, .approvals = {}};
  EXPECT_EQ(reason_of(judge_request(client, known)), "");
  EXPECT_EQ(judge_request(client, known)->reason, "BootstrapIdentity");
  known.admits_by_credential = false;
  EXPECT_EQ(reason_of(judge_request(client, known)), "UnknownMachine");
  known.admits_by_credential = true;
  known.nodes = {"anybody"};
  EXPECT_EQ(reason_of(judge_request(client, known)), "NameAlreadyRegistered");
  Json serving = serving_request();
  known.nodes = {"master-0"};
  EXPECT_EQ(reason_of(judge_request(serving, known)), "WrongNames") << "its Node has not said its addresses yet";
  known.records = {{"master-0", {.joined = {"10.97.77.11"}}}};
  EXPECT_EQ(reason_of(judge_request(serving, known)), "");
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
  // An administrator made the masters schedulable.
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
}  // namespace slipway::components::machine_approver
