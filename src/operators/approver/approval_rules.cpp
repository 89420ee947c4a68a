#include "operators/approver/approval_rules.h"

#include "base/digest.h"
#include "base/text.h"
#include "base/yaml.h"
#include "kube/roles.h"
#include "net/ip.h"
#include "net/x509.h"

#include <algorithm>
#include <array>

namespace slipway::operators {

namespace {

using Words = std::set<std::string, std::less<>>;

constexpr std::string_view client_signer = "kubernetes.io/kube-apiserver-client-kubelet";
constexpr std::string_view serving_signer = "kubernetes.io/kubelet-serving";
constexpr std::string_view node_prefix = "system:node:";
constexpr std::string_view nodes_group = "system:nodes";
constexpr std::string_view bootstrapper = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper";
constexpr std::string_view keys_annotation = "slipway.internal/kubelet-keys";
constexpr std::size_t keys_kept = 2;

const Words& bootstrapper_groups() {
  static const Words groups = {"system:serviceaccounts:openshift-machine-config-operator", "system:serviceaccounts",
                               "system:authenticated"};
  return groups;
}

Words words_of(const Json& request, std::string_view list) {
  Words words;
  for (const Json& item : find_array(request, {"spec", list})) {
    words.emplace(item.is_string() ? std::string_view(item.get_string()) : std::string_view());
  }
  return words;
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

const KnownMachine* find_machine(const MachineTable& machines, std::string_view name) {
  const auto found = std::ranges::find(machines, name, &KnownMachine::name);
  return found == machines.end() ? nullptr : &*found;
}

// Addresses are compared as numbers, names as they are.
bool has_address(const KnownMachine& machine, const std::string& wanted) {
  const auto number = net::parse_ip(wanted);
  return std::ranges::any_of(machine.addresses, [&](const std::string& address) {
    const auto own = net::parse_ip(address);
    return number.ok() ? own.ok() && own.value() == number.value() : address == wanted;
  });
}

class Judge {
 public:
  Judge(const Json& request, const MachineTable* machines, const Words& nodes, const NodeKeys& keys)
      : request_(request), machines_(machines), nodes_(nodes), keys_(keys) {}

  Verdict client() {
    if (user() != bootstrapper) return leave("WrongRequester", "{} is not who asks for machines that join", user());
    if (words_of(request_, "groups") != bootstrapper_groups()) return leave("WrongGroups", "the requester has other groups");
    if (!has_usages("client auth")) return leave("WrongUsages", "other usages than those of a kubelet's client certificate");
    if (auto wrong = read_subject()) return *wrong;
    if (!content_.dns_names.empty() || !content_.ip_addresses.empty() || content_.has_other_names) {
      return leave("WrongNames", "a client certificate has no alternative names");
    }
    if (machines_ && !find_machine(*machines_, node_)) return unknown();
    if (!nodes_.contains(node_)) return approve("a machine that may join asks for its client certificate");
    if (has_known_key()) return approve("a node asks for a client certificate with the key that it has one for");
    return leave("NameAlreadyRegistered", "there is a node {} already, and this is not its key", node_);
  }

  Verdict serving() {
    if (!user().starts_with(node_prefix)) return leave("WrongRequester", "{} is no node", user());
    if (!words_of(request_, "groups").contains(nodes_group))
      return leave("WrongGroups", "the requester is not in {}", nodes_group);
    if (!has_usages("server auth")) return leave("WrongUsages", "other usages than those of a kubelet's serving certificate");
    if (auto wrong = read_subject()) return *wrong;
    if (content_.subject.common_name != user())
      return leave("WrongSubject", "{} asks for {}", user(), content_.subject.common_name);
    if (content_.has_other_names || (content_.dns_names.empty() && content_.ip_addresses.empty())) {
      return leave("WrongNames", "alternative names have to be host names and addresses, and there has to be one");
    }
    if (machines_) {
      const KnownMachine* machine = find_machine(*machines_, node_);
      if (!machine) return unknown();
      for (const std::string& name : content_.dns_names) {
        if (name != node_ && !has_address(*machine, name)) return foreign(name);
      }
      for (const std::string& address : content_.ip_addresses) {
        if (!has_address(*machine, address)) return foreign(address);
      }
    }
    if (!nodes_.contains(node_)) return leave("NodeMissing", "node {} has not registered yet", node_);
    return approve("a node asks for its serving certificate");
  }

 private:
  std::string_view user() const { return find_string(request_, {"spec", "username"}).value_or(""); }

  template <class... Args>
  Verdict leave(std::string_view reason, fmt::format_string<Args...> message, Args&&... args) const {
    return {false, std::string(reason), fmt::format(message, std::forward<Args>(args)...), node_};
  }
  Verdict approve(std::string_view message) const {
    return {true, machines_ ? "KnownMachine" : "BootstrapIdentity", std::string(message), node_};
  }
  Verdict unknown() const { return leave("UnknownMachine", "machine {} is not in the table of this installation", node_); }
  Verdict foreign(const std::string& name) const {
    return leave("WrongNames", "{} is not an address of machine {}", name, node_);
  }

  bool has_known_key() const {
    const auto own = keys_.find(node_);
    return own != keys_.end() && std::ranges::find(own->second, sha256_hex(content_.public_key)) != own->second.end();
  }

  // Keys that cannot encipher, as ours, leave key encipherment out.
  bool has_usages(std::string_view purpose) const {
    Words usages = words_of(request_, "usages");
    usages.erase("key encipherment");
    return usages == Words{"digital signature", std::string(purpose)};
  }

  std::optional<Verdict> read_subject() {
    auto content = content_of(request_);
    if (!content.ok()) return leave("UnreadableRequest", "{}", content.error().message());
    content_ = std::move(content).value();
    const net::SubjectName& subject = content_.subject;
    if (!subject.common_name.starts_with(node_prefix) || subject.common_name.size() == node_prefix.size()) {
      return leave("WrongSubject", "the common name is no node's");
    }
    node_ = subject.common_name.substr(node_prefix.size());
    if (subject.organizations != std::vector<std::string>{std::string(nodes_group)} || !subject.organizational_units.empty()) {
      return leave("WrongSubject", "the organization has to be {} and nothing else", nodes_group);
    }
    return std::nullopt;
  }

  const Json& request_;
  const MachineTable* machines_;
  const Words& nodes_;
  const NodeKeys& keys_;
  net::RequestInfo content_;
  std::string node_;
};

}  // namespace

Result<MachineTable> machine_table(const Json& config_map, std::string_view name) {
  const auto rows = find_string(config_map, {"data", "machines"});
  if (!rows) return error(Code::invalid, "{}: data.machines: missing", name);
  const Json table = TRY(parse_json(*rows, fmt::format("{}: data.machines", name)));
  if (!table.is_array()) return error(Code::invalid, "{}: data.machines: needs a list, has {}", name, kind_name(table));
  MachineTable machines;
  for (const Json& row : table.get_array()) {
    KnownMachine machine;
    machine.name = TRY(require_string(row, {"name"}).context(name));
    machine.role = TRY(require_string(row, {"role"}).context(name));
    for (const Json& address : find_array(row, {"addresses"})) {
      if (address.is_string()) machine.addresses.emplace_back(address.get_string());
    }
    machines.push_back(std::move(machine));
  }
  return machines;
}

Result<MachineTable> parse_machine_table(std::string_view text, std::string_view name) {
  const YamlDocument document = TRY(parse_yaml(text, name));
  return machine_table(document.value, name);
}

std::optional<Verdict> judge_request(const Json& request, const MachineTable* machines, const Words& nodes,
                                     const NodeKeys& keys) {
  if (is_decided(request)) return std::nullopt;
  const std::string_view signer = find_string(request, {"spec", "signerName"}).value_or("");
  if (signer == serving_signer) return Judge(request, machines, nodes, keys).serving();
  if (signer != client_signer) return std::nullopt;
  if (find_string(request, {"spec", "username"}).value_or("").starts_with(node_prefix)) return std::nullopt;
  return Judge(request, machines, nodes, keys).client();
}

std::vector<std::string> known_keys(const Json& node) {
  std::vector<std::string> keys;
  for (std::string_view key : split(find_string(node, {"metadata", "annotations", keys_annotation}).value_or(""), ',')) {
    if (!key.empty()) keys.emplace_back(key);
  }
  return keys;
}

std::map<std::string, Json> key_patches(const std::vector<Json>& nodes, const std::vector<Json>& requests) {
  struct Issued {
    std::string time, node, key;
  };
  std::vector<Issued> issued;
  for (const Json& request : requests) {
    if (find_string(request, {"spec", "signerName"}) != client_signer) continue;
    if (find_string(request, {"status", "certificate"}).value_or("").empty()) continue;
    const auto content = content_of(request);
    if (!content.ok() || !content->subject.common_name.starts_with(node_prefix)) continue;
    issued.push_back({std::string(find_string(request, {"metadata", "creationTimestamp"}).value_or("")),
                      content->subject.common_name.substr(node_prefix.size()), sha256_hex(content->public_key)});
  }
  std::ranges::stable_sort(issued, std::greater(), &Issued::time);
  std::map<std::string, Json> patches;
  for (const Json& node : nodes) {
    const std::string_view name = find_string(node, {"metadata", "name"}).value_or("");
    const std::vector<std::string> before = known_keys(node);
    std::vector<std::string> keys;
    const auto add = [&](const std::string& key) {
      if (keys.size() < keys_kept && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    };
    for (const Issued& one : issued) {
      if (one.node == name) add(one.key);
    }
    for (const std::string& key : before) add(key);
    if (keys == before) continue;
    patches.emplace(name, Json{{"metadata", {{"annotations", {{keys_annotation, join(keys, ",")}}}}}});
  }
  return patches;
}

std::optional<Json> role_patch(const Json& node, const MachineTable& machines) {
  const KnownMachine* machine = find_machine(machines, find_string(node, {"metadata", "name"}).value_or(""));
  if (!machine) return std::nullopt;
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
  // A merge patch replaces the whole list: with the version nobody's taint gets lost in between.
  JsonObject metadata = {{"resourceVersion", find_string(node, {"metadata", "resourceVersion"}).value_or("")},
                         {"labels", std::move(labels)}};
  JsonObject patch = {{"metadata", std::move(metadata)}};
  if (needs_taint) {
    taints.push_back(JsonObject{{"key", taint}, {"effect", "NoSchedule"}});
    patch["spec"] = JsonObject{{"taints", std::move(taints)}};
  }
  return Json(std::move(patch));
}

}  // namespace slipway::operators
