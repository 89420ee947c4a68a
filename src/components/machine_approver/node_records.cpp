#include "components/machine_approver/node_records.h"

#include "base/digest.h"
#include "base/text.h"
#include "kube/client.h"
#include "net/ip.h"

#include <algorithm>
#include <set>

namespace slipway::components::machine_approver {

namespace {

constexpr std::string_view client_signer = "kubernetes.io/kube-apiserver-client-kubelet";
constexpr std::string_view serving_signer = "kubernetes.io/kubelet-serving";
constexpr std::string_view node_prefix = "system:node:";
constexpr std::string_view worker_bootstrapper = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper";
constexpr std::string_view master_bootstrapper =
    "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper-master";
constexpr std::string_view credential_id = "authentication.kubernetes.io/credential-id";
constexpr std::string_view certificate_id = "X509SHA256=";
constexpr std::string_view keys_annotation = "slipway.internal/kubelet-keys";
constexpr std::size_t keys_kept = 2;

std::optional<RequestFacts> read_request(const Json& request, bool certificates_have_ids) {
  const std::string_view signer = find_string(request, {"spec", "signerName"}).value_or("");
  if (signer != client_signer && signer != serving_signer) return std::nullopt;
  const auto pem = base64_decode(find_string(request, {"spec", "request"}).value_or(""));
  if (!pem.ok()) return std::nullopt;
  const auto content = net::parse_request(pem.value());
  if (!content.ok() || !content->subject.common_name.starts_with(node_prefix)) return std::nullopt;
  RequestFacts facts;
  facts.node = content->subject.common_name.substr(node_prefix.size());
  facts.time = find_string(request, {"metadata", "creationTimestamp"}).value_or("");
  facts.is_client = signer == client_signer;
  facts.is_approved = std::ranges::any_of(find_array(request, {"status", "conditions"}),
                                          [](const Json& condition) { return find_string(condition, {"type"}) == "Approved"; });
  facts.is_issued = facts.is_approved && !find_string(request, {"status", "certificate"}).value_or("").empty();
  facts.credential = credential_of(request, certificates_have_ids);
  if (facts.is_client) facts.key = sha256_hex(content->public_key);
  if (!facts.is_client) facts.serving = serving_names(content.value());
  return facts;
}

// Creation time of the newest approved request. A pending request belongs to a machine that has not joined yet.
std::string last_approval(const std::vector<const RequestFacts*>& requests) {
  std::string last;
  for (const RequestFacts* request : requests) {
    if (request->is_approved) last = std::max(last, request->time);
  }
  return last;
}

bool is_of_this_machine(const RequestFacts& request, const NodeRecord& record) { return request.time > record.since; }

void add_key(NodeRecord& record, const std::string& key) {
  std::erase(record.keys, key);
  record.keys.insert(record.keys.begin(), key);
  if (record.keys.size() > keys_kept) record.keys.resize(keys_kept);
}

std::vector<std::string> addresses_of(const Json& node) {
  std::vector<std::string> addresses;
  for (const Json& each : find_array(node, {"status", "addresses"})) {
    addresses.emplace_back(find_string(each, {"address"}).value_or(""));
  }
  std::ranges::sort(addresses);
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

bool is_true(const Json& value, std::string_view member) {
  const Json* found = find(value, {member});
  return found && *found == Json(true);
}

std::string to_text(const NodeRecord& record) {
  JsonObject object = {{"keys", array_of(record.keys)},
                       {"joined", array_of(record.joined)},
                       {"hadRow", record.had_row},
                       {"isRegistered", record.is_registered},
                       {"since", record.since}};
  if (record.serving) {
    object["serving"] = {{"names", array_of(record.serving->names)}, {"addresses", array_of(record.serving->addresses)}};
  }
  return emit_json(object, JsonStyle::compact);
}

Result<NodeRecord> parse_record(const Json& text) {
  const Json value = TRY(parse_json(find_string(text, {}).value_or(""), "record"));
  if (!value.is_object()) return error(Code::invalid, "must be an object, got {}", kind_name(value));
  NodeRecord record{.keys = texts_of(value, {"keys"}),
                    .joined = texts_of(value, {"joined"}),
                    .serving = std::nullopt,
                    .had_row = is_true(value, "hadRow"),
                    .is_registered = is_true(value, "isRegistered"),
                    .since = text_of(value, {"since"})};
  if (const Json* serving = find(value, {"serving"})) {
    record.serving = ServingNames{texts_of(*serving, {"names"}), texts_of(*serving, {"addresses"})};
  }
  return record;
}

}  // namespace

Credential credential_of(const Json& request, bool certificates_have_ids) {
  const std::string_view user = find_string(request, {"spec", "username"}).value_or("");
  if (user == master_bootstrapper) return Credential::master;
  if (user != worker_bootstrapper) return Credential::none;
  if (!certificates_have_ids) return Credential::master;
  const JsonArray& ids = find_array(request, {"spec", "extra", credential_id});
  const bool is_certificate = ids.size() == 1 && find_string(ids[0], {}).value_or("").starts_with(certificate_id);
  return is_certificate ? Credential::master : Credential::worker;
}

ServingNames serving_names(const net::RequestInfo& content) {
  ServingNames found{content.dns_names, {}};
  for (const std::string& text : content.ip_addresses) {
    const auto address = net::parse_ip(text);
    found.addresses.push_back(address.ok() ? net::to_string(address.value()) : text);
  }
  std::ranges::sort(found.names);
  std::ranges::sort(found.addresses);
  return found;
}

std::vector<RequestFacts> read_requests(const std::vector<Json>& requests, bool certificates_have_ids) {
  std::vector<RequestFacts> all;
  for (const Json& request : requests) {
    if (auto facts = read_request(request, certificates_have_ids)) all.push_back(*std::move(facts));
  }
  std::ranges::stable_sort(all, {}, &RequestFacts::time);
  return all;
}

NodeRecords learn(NodeRecords records, const std::vector<RequestFacts>& requests, const std::vector<Json>& nodes,
                  const kube::MachineTable* machines) {
  std::map<std::string_view, const Json*> node_of;
  for (const Json& node : nodes) node_of.emplace(kube::name_of(node), &node);
  std::map<std::string_view, std::vector<const RequestFacts*>> requests_of;
  for (const RequestFacts& request : requests) requests_of[request.node].push_back(&request);
  std::set<std::string, std::less<>> names;
  for (const auto& [name, record] : records) names.insert(name);
  for (const auto& [name, node] : node_of) names.emplace(name);
  for (const auto& [name, of_name] : requests_of) names.emplace(name);

  for (const std::string& name : names) {
    const auto node = node_of.find(name);
    const bool has_node = node != node_of.end();
    const bool has_row = machines && kube::find_machine(*machines, name) && !kube::is_removed(*machines, name);
    const auto known = requests_of.find(name);
    const std::vector<const RequestFacts*> own = known == requests_of.end() ? std::vector<const RequestFacts*>() : known->second;
    if (!has_node && !has_row && !records.contains(name)) continue;  // a request for a name without machine
    NodeRecord& record = records[name];
    if (!has_node && !has_row && machines) {
      // Node and row were removed, so the record is removed too. Its requests stay for a while, but no longer count.
      const std::string since = std::max(record.since, last_approval(own));
      record = {.keys = {}, .joined = {}, .serving = std::nullopt, .since = since};
      if (own.empty()) records.erase(name);
      continue;
    }
    if (!has_node && record.is_registered && has_row) {
      // The next machine of this name may be another one, so approvals start again. The previous machine keeps its key.
      record.is_registered = false;
      record.joined.clear();
      record.serving.reset();
      record.since = std::max(record.since, last_approval(own));
    }
    record.had_row = record.had_row || has_row;
    record.is_registered = record.is_registered || has_node;
    if (has_node && record.joined.empty()) record.joined = addresses_of(*node->second);
    for (const RequestFacts* request : own) {
      if (!request->is_issued || !is_of_this_machine(*request, record)) continue;
      if (request->is_client) add_key(record, request->key);
      if (!request->is_client) record.serving = request->serving;
    }
  }
  return records;
}

Approvals approvals_of(const std::vector<RequestFacts>& requests, const NodeRecords& records) {
  Approvals approvals;
  for (const RequestFacts& request : requests) {
    const auto record = records.find(request.node);
    const bool is_earlier = record != records.end() && !is_of_this_machine(request, record->second);
    if (request.is_client && request.is_approved && !is_earlier) approvals[request.node].push_back(request.key);
  }
  return approvals;
}

kube::MachineTable rows_to_add(const std::vector<RequestFacts>& requests, const NodeRecords& records,
                               const kube::MachineTable& machines) {
  kube::MachineTable rows;
  for (const RequestFacts& request : requests) {
    if (!request.is_client || !request.is_approved || request.credential == Credential::none) continue;
    const auto record = records.find(request.node);
    if (record != records.end() && (record->second.had_row || !is_of_this_machine(request, record->second))) continue;
    if (kube::find_machine(machines, request.node) || kube::find_machine(rows, request.node)) continue;
    rows.push_back({request.node, request.credential == Credential::master ? "master" : "worker", {}});
  }
  return rows;
}

NodeRecords parse_records(const Json& config_map, std::vector<std::string>& unreadable) {
  NodeRecords records;
  for (const auto& [name, text] : find_object(config_map, {"data"})) {
    auto record = parse_record(text);
    if (record.ok()) {
      records.emplace(name, std::move(record).value());
    } else {
      unreadable.push_back(
          fmt::format("{}: data[{}]: {}", kube::describe(config_map), std::string_view(name), record.error().message()));
    }
  }
  return records;
}

Json with_records(Json config_map, const NodeRecords& records) {
  JsonObject data;
  for (const auto& [name, record] : records) data[name] = to_text(record);
  config_map.as_object()["data"] = std::move(data);
  return config_map;
}

Json new_records_map() {
  return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"namespace", records_space}, {"name", records_name}}}};
}

NodeRecords records_of_annotations(const std::vector<Json>& nodes) {
  NodeRecords records;
  for (const Json& node : nodes) {
    for (const std::string_view key : split(find_string(node, {"metadata", "annotations", keys_annotation}).value_or(""), ',')) {
      if (!key.empty()) records[std::string(kube::name_of(node))].keys.emplace_back(key);
    }
  }
  return records;
}

}  // namespace slipway::components::machine_approver
