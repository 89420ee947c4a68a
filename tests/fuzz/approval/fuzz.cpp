// A CertificateSigningRequest, JSON or YAML, of a machine that wants to join. The first byte selects: r the request as it is; c,
// s the content of a request (PEM or DER) for a client or a serving certificate, from an allowed user; t a machine table. Only
// names of the table may be approved.
#include "base/check.h"
#include "base/digest.h"
#include "base/yaml.h"
#include "components/machine_approver/approval_rules.h"
#include "net/x509.h"

#include <cstdint>

namespace {

using namespace slipway;
using namespace slipway::components;
using namespace slipway::components::machine_approver;

constexpr std::string_view client_signer = "kubernetes.io/kube-apiserver-client-kubelet";
constexpr std::string_view serving_signer = "kubernetes.io/kubelet-serving";

void judge(const Json& request) {
  const ApprovalFacts known = {
      .machines = {{"master-0", "master", {"10.97.77.11"}}, {"worker-0", "worker", {"10.97.77.14", "worker-0"}}},
      .nodes = {"worker-0"},
      .records = {{"worker-0", {.keys = {"00"}}}},
      .approvals = {}};
  const auto verdict = judge_request(request, known);
  (void)learn(known.records, read_requests({request}, true), {}, &known.machines);
  if (!verdict || !verdict->approve) return;
  const auto pem = base64_decode(find_string(request, {"spec", "request"}).value_or(""));
  CHECK(pem.ok());
  const auto content = net::parse_request(pem.value());
  CHECK(content.ok());
  CHECK(content->subject.organizations == std::vector<std::string>{"system:nodes"});
  const std::string& name = content->subject.common_name;
  // The name without a node may join; the name with a node may get a serving certificate.
  const bool is_client = find_string(request, {"spec", "signerName"}) == client_signer;
  CHECK(name == (is_client ? "system:node:master-0" : "system:node:worker-0"));
  CHECK(is_client || find_string(request, {"spec", "username"}) == name);
}

Json wrapped(std::string_view content, bool is_client) {
  const std::string pem =
      content.starts_with("-----")
          ? std::string(content)
          : fmt::format("-----BEGIN CERTIFICATE REQUEST-----\n{}\n-----END CERTIFICATE REQUEST-----\n", base64_encode(content));
  const std::string user =
      is_client ? "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper" : "system:node:worker-0";
  const JsonArray groups = is_client ? JsonArray{"system:serviceaccounts:openshift-machine-config-operator",
                                                 "system:serviceaccounts", "system:authenticated"}
                                     : JsonArray{"system:nodes", "system:authenticated"};
  return {{"spec",
           {{"request", base64_encode(pem)},
            {"signerName", is_client ? client_signer : serving_signer},
            {"username", user},
            {"extra", {{"authentication.kubernetes.io/credential-id", {"X509SHA256=00"}}}},
            {"groups", groups},
            {"usages", JsonArray{"digital signature", is_client ? "client auth" : "server auth"}}}}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] == 'c' || data[0] == 's') {
    judge(wrapped(text, data[0] == 'c'));
  } else if (data[0] == 't') {
    const auto table = kube::parse_machine_table(Json{{"data", {{"machines", text}}}});
    if (table.ok()) (void)role_patch({{"metadata", {{"name", "master-0"}}}}, table.value());
  } else if (data[0] == 'r') {
    const auto document = parse_yaml(text, "fuzz");
    if (document.ok()) judge(document->value);
  }
  return 0;
}
