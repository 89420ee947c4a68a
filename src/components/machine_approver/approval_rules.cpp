#include "components/machine_approver/approval_rules.h"

#include "base/digest.h"
#include "base/text.h"
#include "kube/roles.h"
#include "net/ip.h"
#include "net/x509.h"

#include <algorithm>
#include <array>

namespace slipway::components::machine_approver {

namespace {

using TextSet = std::set<std::string, std::less<>>;

constexpr std::string_view client_signer = "kubernetes.io/kube-apiserver-client-kubelet";
constexpr std::string_view serving_signer = "kubernetes.io/kubelet-serving";
constexpr std::string_view node_prefix = "system:node:";
constexpr std::string_view nodes_group = "system:nodes";
constexpr Seconds renewal_grace = std::chrono::minutes(1);

const TextSet& bootstrapper_groups() {
  static const TextSet groups = {"system:serviceaccounts:openshift-machine-config-operator", "system:serviceaccounts",
                                 "system:authenticated"};
  return groups;
}

bool contains(const std::vector<std::string>& texts, const std::string& word) {
  return std::ranges::find(texts, word) != texts.end();
}

TextSet texts_of(const Json& request, std::string_view list) {
  TextSet texts;
  for (const Json& item : find_array(request, {"spec", list})) {
    texts.emplace(item.is_string() ? std::string_view(item.get_string()) : std::string_view());
  }
  return texts;
}

bool is_decided(const Json& request) {
  return std::ranges::any_of(find_array(request, {"status", "conditions"}), [](const Json& condition) {
    const std::string_view type = find_string(condition, {"type"}).value_or("");
    return type == "Approved" || type == "Denied" || type == "Failed";
  });
}

Result<net::RequestInfo> content_of(const Json& request) {
  const std::string pem = TRY(base64_decode(find_string(request, {"spec", "request"}).value_or("")));
  return net::parse_request(pem);
}

// Addresses are compared as numbers, names as text.
bool has_address(const std::vector<std::string>& addresses, const std::string& wanted) {
  const auto number = net::parse_ip(wanted);
  return std::ranges::any_of(addresses, [&](const std::string& address) {
    const auto own = net::parse_ip(address);
    return number.ok() ? own.ok() && own.value() == number.value() : address == wanted;
  });
}

class Judge {
 public:
  Judge(const Json& request, const ApprovalFacts& facts) : request_(request), facts_(facts) {}

  Verdict client() {
    const Credential credential = credential_of(request_, facts_.certificates_have_ids);
    if (credential == Credential::none) return leave("WrongRequester", "{} is not a user for joining machines", user());
    if (texts_of(request_, "groups") != bootstrapper_groups())
      return leave("WrongGroups", "the requester is not in the groups of joining machines");
    if (auto wrong = check_client()) return *wrong;
    const kube::MachineRow* machine = kube::find_machine(facts_.machines, node_);
    if (!machine && !facts_.admits_by_credential) return unknown();
    if (machine && machine->role == kube::removed_role) return removed();
    if (machine && machine->role == "master" && credential != Credential::master) {
      return leave("WrongCredential", "{} is a master, but the credential is the one of workers", node_);
    }
    if (facts_.nodes.contains(node_)) {
      if (has_known_key()) return approve("a node requests a client certificate with its current key");
      return leave("NameAlreadyRegistered", "node {} already exists, and this is not its key", node_);
    }
    if (has_approval_of_other_key()) {
      return leave("NameAlreadyApproved",
                   "another machine got the approval for {} and is not registered yet (if that machine is gone, delete its "
                   "certificate request)",
                   node_);
    }
    return approve("a machine that may join requests its client certificate");
  }

  Verdict renewal() {
    if (auto wrong = check_client()) return *wrong;
    if (content_.subject.common_name != user()) {
      return leave("WrongSubject", "{} requests a certificate for {}", user(), content_.subject.common_name);
    }
    Verdict verdict =
        leave("RenewalNotApproved",
              "kube-controller-manager has not approved the renewal (check ClusterRoleBinding system-bootstrap-node-renewal)");
    verdict.grace = renewal_grace;
    return verdict;
  }

  Verdict serving() {
    if (!user().starts_with(node_prefix)) return leave("WrongRequester", "{} is not a node", user());
    if (!texts_of(request_, "groups").contains(nodes_group))
      return leave("WrongGroups", "the requester is not in {}", nodes_group);
    if (!has_usages("server auth")) return leave("WrongUsages", "usages differ from those of a kubelet's serving certificate");
    if (auto wrong = read_subject()) return *wrong;
    if (content_.subject.common_name != user())
      return leave("WrongSubject", "{} requests a certificate for {}", user(), content_.subject.common_name);
    if (content_.has_other_names || (content_.dns_names.empty() && content_.ip_addresses.empty())) {
      return leave("WrongNames", "alternative names must be host names and IP addresses, and at least one is required");
    }
    const kube::MachineRow* machine = kube::find_machine(facts_.machines, node_);
    if (!machine && !facts_.admits_by_credential) return unknown();
    if (machine && machine->role == kube::removed_role) return removed();
    if (!facts_.nodes.contains(node_)) return leave("NodeMissing", "node {} is not registered yet", node_);
    const auto record = facts_.records.find(node_);
    const bool is_known = record != facts_.records.end();
    if (is_known && record->second.serving == serving_names(content_)) {
      return approve("a node requests the names of its previous serving certificate");
    }
    std::vector<std::string> own;
    if (machine) own = machine->addresses;
    if (own.empty() && is_known) own = record->second.joined;
    for (const std::string& name : content_.dns_names) {
      if (name != node_ && !has_address(own, name)) return wrong_address(name);
    }
    for (const std::string& address : content_.ip_addresses) {
      if (!has_address(own, address)) return wrong_address(address);
    }
    return approve("a node requests its serving certificate");
  }

 private:
  std::string_view user() const { return find_string(request_, {"spec", "username"}).value_or(""); }

  template <class... Args>
  Verdict leave(std::string_view reason, fmt::format_string<Args...> message, Args&&... args) const {
    return {false, std::string(reason), fmt::format(message, std::forward<Args>(args)...), node_};
  }
  Verdict approve(std::string_view message) const {
    const bool has_row = kube::find_machine(facts_.machines, node_) != nullptr;
    return {true, has_row ? "KnownMachine" : "BootstrapIdentity", std::string(message), node_};
  }
  Verdict unknown() const {
    return leave("UnknownMachine", "machine {} is not in the machine table of this installation", node_);
  }
  Verdict removed() const {
    return leave("RemovedMachine", "machine {} has role {} in the machine table: it leaves the cluster", node_,
                 kube::removed_role);
  }
  Verdict wrong_address(const std::string& name) const {
    return leave("WrongNames", "{} is not an address of machine {}", name, node_);
  }

  bool has_known_key() const {
    const auto own = facts_.records.find(node_);
    return own != facts_.records.end() && contains(own->second.keys, sha256_hex(content_.public_key));
  }

  bool has_approval_of_other_key() const {
    const auto own = facts_.approvals.find(node_);
    return own != facts_.approvals.end() && !contains(own->second, sha256_hex(content_.public_key));
  }

  // A kubelet with a key that cannot encipher, as in this release, does not request key encipherment.
  bool has_usages(std::string_view purpose) const {
    TextSet usages = texts_of(request_, "usages");
    usages.erase("key encipherment");
    return usages == TextSet{"digital signature", std::string(purpose)};
  }

  // Checks what every client certificate of a node requires.
  std::optional<Verdict> check_client() {
    if (!has_usages("client auth")) return leave("WrongUsages", "usages differ from those of a kubelet's client certificate");
    if (auto wrong = read_subject()) return wrong;
    if (!content_.dns_names.empty() || !content_.ip_addresses.empty() || content_.has_other_names) {
      return leave("WrongNames", "a client certificate must not have alternative names");
    }
    return std::nullopt;
  }

  std::optional<Verdict> read_subject() {
    auto content = content_of(request_);
    if (!content.ok()) return leave("UnreadableRequest", "{}", content.error().message());
    content_ = std::move(content).value();
    const net::SubjectName& subject = content_.subject;
    if (!subject.common_name.starts_with(node_prefix) || subject.common_name.size() == node_prefix.size()) {
      return leave("WrongSubject", "the common name is not the name of a node");
    }
    node_ = subject.common_name.substr(node_prefix.size());
    if (subject.organizations != std::vector<std::string>{std::string(nodes_group)} || !subject.organizational_units.empty()) {
      return leave("WrongSubject", "the organization must be {} only", nodes_group);
    }
    return std::nullopt;
  }

  const Json& request_;
  const ApprovalFacts& facts_;
  net::RequestInfo content_;
  std::string node_;
};

}  // namespace

std::optional<Verdict> judge_request(const Json& request, const ApprovalFacts& facts) {
  if (is_decided(request)) return std::nullopt;
  const std::string_view signer = find_string(request, {"spec", "signerName"}).value_or("");
  if (signer == serving_signer) return Judge(request, facts).serving();
  if (signer != client_signer) return std::nullopt;
  if (find_string(request, {"spec", "username"}).value_or("").starts_with(node_prefix)) return Judge(request, facts).renewal();
  return Judge(request, facts).client();
}

std::optional<Json> role_patch(const Json& node, const kube::MachineTable& machines) {
  const kube::MachineRow* machine = kube::find_machine(machines, find_string(node, {"metadata", "name"}).value_or(""));
  if (!machine || machine->role == kube::removed_role) return std::nullopt;
  const bool is_master = machine->role == "master";
  const std::vector<std::string> roles =
      is_master ? std::vector<std::string>{"master", "control-plane"} : std::vector{machine->role};
  const JsonObject& present = find_object(node, {"metadata", "labels"});
  JsonObject labels;
  for (const std::string& role : roles) {
    const std::string label = kube::role_label(role);
    if (!present.contains(label)) labels[label] = "";
  }
  if (labels.empty()) return std::nullopt;
  const std::string_view taint = kube::master_label;
  JsonArray taints = find_array(node, {"spec", "taints"});
  const bool has_taint = std::ranges::any_of(taints, [&](const Json& one) { return find_string(one, {"key"}) == taint; });
  const bool needs_taint = is_master && labels.contains(taint) && !has_taint;
  // A merge patch replaces the whole list. With the resource version, no taint that was added in the meantime is lost.
  JsonObject metadata = {{"resourceVersion", find_string(node, {"metadata", "resourceVersion"}).value_or("")},
                         {"labels", std::move(labels)}};
  JsonObject patch = {{"metadata", std::move(metadata)}};
  if (needs_taint) {
    taints.push_back(JsonObject{{"key", taint}, {"effect", "NoSchedule"}});
    patch["spec"] = JsonObject{{"taints", std::move(taints)}};
  }
  return Json(std::move(patch));
}

}  // namespace slipway::components::machine_approver
