#include "config/wizard.h"

#include "base/check.h"
#include "base/number.h"
#include "base/template.h"
#include "base/text.h"
#include "base/yaml.h"
#include "config/install_config.h"
#include "config/platforms.h"

#include <algorithm>
#include <array>

namespace slipway::config {

namespace {

// A field, and what it gets of the answers: a template whose holes are names of questions.
struct Fill {
  std::string_view field;
  std::string_view value;
};

struct Row {
  std::string_view platforms{};  // "baremetal|vsphere"; empty: asked for all of them
  std::string_view name;
  std::string_view words;
  std::string_view fallback{};
  std::vector<Fill> fills{};
  bool is_secret = false;
  bool is_optional = false;
  bool is_of_host = false;  // asked for each host; INDEX is its number
};

constexpr std::string_view key_name = "SSH_KEY";
constexpr std::string_view platform_name = "PLATFORM";
constexpr std::string_view pull_secret_name = "PULL_SECRET";
constexpr std::string_view hosts_name = "HOSTS";
constexpr std::string_view no_key = "none";
constexpr std::string_view no_logins = R"({"auths":{}})";
constexpr int most_hosts = 100;

// Hosts of a control plane, where there are enough.
constexpr int usual_masters = 3;

// Those that this version supports.
const std::vector<std::string>& supported_platforms() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const PlatformRow& row : platforms()) {
      if (!row.api_type.empty()) all.emplace_back(row.name);
    }
    return all;
  }();
  return names;
}

// In the order in which they are asked.
const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {.name = key_name,
       .words = "SSH public key, to log in to the machines",
       .fallback = no_key,
       .fills = {{"sshKey", "{{SSH_KEY}}"}}},
      {.name = platform_name, .words = "Platform", .fallback = "local"},
      {.platforms = "external",
       .name = "EXTERNAL_NAME",
       .words = "Name of the platform, if it has one",
       .fills = {{"platform.external.platformName", "{{EXTERNAL_NAME}}"}},
       .is_optional = true},
      {.platforms = "baremetal|ovirt|kubevirt",
       .name = "MACHINE_NETWORK",
       .words = "Network of the machines",
       .fallback = "10.0.0.0/16",
       .fills = {{"networking.machineNetwork[0].cidr", "{{MACHINE_NETWORK}}"}}},
      {.platforms = "baremetal",
       .name = "PROVISIONING_NETWORK",
       .words = "Provisioning network: Managed, Unmanaged or Disabled",
       .fallback = "Managed",
       .fills = {{"platform.baremetal.provisioningNetwork", "{{PROVISIONING_NETWORK}}"}}},
      {.platforms = "vsphere",
       .name = "VCENTER",
       .words = "vCenter, a host name or an IP address",
       .fills = {{"platform.vsphere.vcenters[0].server", "{{VCENTER}}"},
                 {"platform.vsphere.failureDomains[0].server", "{{VCENTER}}"},
                 {"platform.vsphere.failureDomains[0].name", "generated-failure-domain"},
                 {"platform.vsphere.failureDomains[0].region", "generated-region"},
                 {"platform.vsphere.failureDomains[0].zone", "generated-zone"}}},
      {.platforms = "vsphere",
       .name = "VCENTER_USER",
       .words = "User of the vCenter",
       .fills = {{"platform.vsphere.vcenters[0].user", "{{VCENTER_USER}}"}}},
      {.platforms = "vsphere",
       .name = "VCENTER_PASSWORD",
       .words = "Password of the vCenter",
       .fills = {{"platform.vsphere.vcenters[0].password", "{{VCENTER_PASSWORD}}"}},
       .is_secret = true},
      {.platforms = "vsphere",
       .name = "DATACENTER",
       .words = "Datacenter",
       .fills = {{"platform.vsphere.vcenters[0].datacenters[0]", "{{DATACENTER}}"},
                 {"platform.vsphere.failureDomains[0].topology.datacenter", "{{DATACENTER}}"}}},
      {.platforms = "vsphere",
       .name = "CLUSTER",
       .words = "Cluster of hosts",
       .fills = {{"platform.vsphere.failureDomains[0].topology.computeCluster", "/{{DATACENTER}}/host/{{CLUSTER}}"}}},
      {.platforms = "vsphere",
       .name = "DATASTORE",
       .words = "Datastore",
       .fills = {{"platform.vsphere.failureDomains[0].topology.datastore", "/{{DATACENTER}}/datastore/{{DATASTORE}}"}}},
      {.platforms = "vsphere",
       .name = "NETWORK",
       .words = "Network",
       .fills = {{"platform.vsphere.failureDomains[0].topology.networks[0]", "{{NETWORK}}"}}},
      {.platforms = "aws",
       .name = "REGION",
       .words = "Region",
       .fallback = "us-east-1",
       .fills = {{"platform.aws.region", "{{REGION}}"}}},
      {.platforms = "gcp", .name = "PROJECT", .words = "Project", .fills = {{"platform.gcp.projectID", "{{PROJECT}}"}}},
      {.platforms = "gcp",
       .name = "REGION",
       .words = "Region",
       .fallback = "us-central1",
       .fills = {{"platform.gcp.region", "{{REGION}}"}}},
      {.platforms = "openstack",
       .name = "CLOUD",
       .words = "Cloud, by its name in clouds.yaml",
       .fallback = "openstack",
       .fills = {{"platform.openstack.cloud", "{{CLOUD}}"}}},
      {.platforms = "openstack",
       .name = "EXTERNAL_NETWORK",
       .words = "External network, if you want floating IPs",
       .fills = {{"platform.openstack.externalNetwork", "{{EXTERNAL_NETWORK}}"}},
       .is_optional = true},
      {.platforms = "libvirt",
       .name = "LIBVIRT_URI",
       .words = "URI of libvirt, reachable from this host and from the cluster",
       .fallback = "qemu+tcp://192.168.122.1/system",
       .fills = {{"platform.libvirt.URI", "{{LIBVIRT_URI}}"}}},
      {.platforms = "ovirt",
       .name = "OVIRT_CLUSTER",
       .words = "ID of the oVirt cluster, a UUID",
       .fills = {{"platform.ovirt.ovirt_cluster_id", "{{OVIRT_CLUSTER}}"}}},
      {.platforms = "ovirt",
       .name = "STORAGE_DOMAIN",
       .words = "ID of the storage domain, a UUID",
       .fills = {{"platform.ovirt.ovirt_storage_domain_id", "{{STORAGE_DOMAIN}}"}}},
      {.platforms = "ovirt",
       .name = "NETWORK",
       .words = "Network",
       .fallback = "ovirtmgmt",
       .fills = {{"platform.ovirt.ovirt_network_name", "{{NETWORK}}"}}},
      {.platforms = "ovirt",
       .name = "VNIC_PROFILE",
       .words = "ID of the vNIC profile, a UUID, if the network has several",
       .fills = {{"platform.ovirt.vnicProfileID", "{{VNIC_PROFILE}}"}},
       .is_optional = true},
      {.platforms = "kubevirt",
       .name = "NAMESPACE",
       .words = "Namespace of the other cluster",
       .fills = {{"platform.kubevirt.namespace", "{{NAMESPACE}}"}}},
      {.platforms = "kubevirt",
       .name = "NETWORK",
       .words = "Network attachment of the machines",
       .fills = {{"platform.kubevirt.networkName", "{{NETWORK}}"}}},
      {.platforms = "kubevirt",
       .name = "STORAGE_CLASS",
       .words = "Storage class, if not the default of the other cluster",
       .fills = {{"platform.kubevirt.storageClass", "{{STORAGE_CLASS}}"}},
       .is_optional = true},
      {.platforms = "baremetal|vsphere",
       .name = "API_VIP",
       .words = "Virtual address of the API",
       .fills = {{"platform.{{PLATFORM}}.apiVIPs[0]", "{{API_VIP}}"}}},
      {.platforms = "baremetal|vsphere",
       .name = "INGRESS_VIP",
       .words = "Virtual address of the ingress",
       .fills = {{"platform.{{PLATFORM}}.ingressVIPs[0]", "{{INGRESS_VIP}}"}}},
      {.platforms = "ovirt",
       .name = "API_VIP",
       .words = "Virtual address of the API",
       .fills = {{"platform.ovirt.api_vips[0]", "{{API_VIP}}"}}},
      {.platforms = "ovirt",
       .name = "INGRESS_VIP",
       .words = "Virtual address of the ingress",
       .fills = {{"platform.ovirt.ingress_vips[0]", "{{INGRESS_VIP}}"}}},
      {.platforms = "kubevirt",
       .name = "API_VIP",
       .words = "Virtual address of the API",
       .fills = {{"platform.kubevirt.apiVIP", "{{API_VIP}}"}}},
      {.platforms = "kubevirt",
       .name = "INGRESS_VIP",
       .words = "Virtual address of the ingress",
       .fills = {{"platform.kubevirt.ingressVIP", "{{INGRESS_VIP}}"}}},
      {.platforms = "baremetal", .name = hosts_name, .words = "Number of hosts", .fallback = "3"},
      {.platforms = "baremetal",
       .name = "HOST_NAME",
       .words = "name",
       .fills = {{"platform.baremetal.hosts[{{INDEX}}].name", "{{HOST_NAME}}"}},
       .is_of_host = true},
      {.platforms = "baremetal",
       .name = "BMC_ADDRESS",
       .words = "address of its BMC, for example redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/1",
       .fills = {{"platform.baremetal.hosts[{{INDEX}}].bmc.address", "{{BMC_ADDRESS}}"}},
       .is_of_host = true},
      {.platforms = "baremetal",
       .name = "BMC_USER",
       .words = "user of its BMC",
       .fills = {{"platform.baremetal.hosts[{{INDEX}}].bmc.username", "{{BMC_USER}}"}},
       .is_of_host = true},
      {.platforms = "baremetal",
       .name = "BMC_PASSWORD",
       .words = "password of its BMC",
       .fills = {{"platform.baremetal.hosts[{{INDEX}}].bmc.password", "{{BMC_PASSWORD}}"}},
       .is_secret = true,
       .is_of_host = true},
      {.platforms = "baremetal",
       .name = "BOOT_MAC",
       .words = "MAC address of its boot interface",
       .fills = {{"platform.baremetal.hosts[{{INDEX}}].bootMACAddress", "{{BOOT_MAC}}"}},
       .is_of_host = true},
      {.name = "BASE_DOMAIN", .words = "Base domain", .fills = {{"baseDomain", "{{BASE_DOMAIN}}"}}},
      {.name = "CLUSTER_NAME", .words = "Cluster name", .fills = {{"metadata.name", "{{CLUSTER_NAME}}"}}},
      {.name = pull_secret_name,
       .words = "Pull secret, JSON text in one line",
       .fills = {{"pullSecret", "{{PULL_SECRET}}"}},
       .is_secret = true},
  };
  return table;
}

using Answers = std::map<std::string, std::string, std::less<>>;

std::string_view answer_to(const Answers& answers, std::string_view name) {
  const auto found = answers.find(name);
  return found == answers.end() ? std::string_view() : std::string_view(found->second);
}

int number_in(std::string_view text) { return parse_number<int>(text).value_or(-1); }

// A row as it is asked: of which host, if of any.
struct Asked {
  const Row* row;
  int host = -1;

  std::string name() const { return host < 0 ? std::string(row->name) : fmt::format("{}_{}", row->name, host); }
};

bool is_asked(const Row& row, std::string_view platform) {
  const std::vector<std::string_view> names = split(row.platforms, '|');
  return row.platforms.empty() || std::ranges::find(names, platform) != names.end();
}

// All that are asked after these answers, in their order: rows of hosts stand together and are asked for one after the other.
std::vector<Asked> asked_after(const Answers& answers) {
  const std::string_view platform = answer_to(answers, platform_name);
  std::vector<Asked> all;
  std::vector<const Row*> of_hosts;
  for (const Row& row : rows()) {
    if (!is_asked(row, platform)) continue;
    if (row.is_of_host) {
      of_hosts.push_back(&row);
      continue;
    }
    if (!of_hosts.empty()) {
      for (int host = 0; host < number_in(answer_to(answers, hosts_name)); ++host) {
        for (const Row* each : of_hosts) all.push_back({each, host});
      }
      of_hosts.clear();
    }
    all.push_back({&row});
  }
  return all;
}

// What the templates of a row are filled with.
TemplateValues values_for(const Answers& answers, const Asked& asked) {
  TemplateValues values(answers.begin(), answers.end());
  if (asked.host < 0) return values;
  values.emplace("INDEX", std::to_string(asked.host));
  values.emplace(asked.row->name, answer_to(answers, asked.name()));
  return values;
}

struct Filled {
  std::string field;
  std::string value;
};

// Fields of a row that was answered; none of an empty answer.
std::vector<Filled> fields_of(const Answers& answers, const Asked& asked) {
  std::vector<Filled> fields;
  if (answer_to(answers, asked.name()).empty()) return fields;
  const TemplateValues values = values_for(answers, asked);
  for (const Fill& fill : asked.row->fills) {
    Result<std::string> field = fill_template(fill.field, "a field", values);
    Result<std::string> value = fill_template(fill.value, "an answer", values);
    CHECK(field.ok() && value.ok());
    fields.push_back({std::move(field).value(), std::move(value).value()});
  }
  return fields;
}

// Sets a field by its path, "a.b[0].c"; objects and items on the way are made.
void set_field(Json& document, std::string_view path, Json value) {
  Json* at = &document;
  for (const std::string_view part : split(path, '.')) {
    const std::size_t bracket = part.find('[');
    at = &at->as_object()[part.substr(0, bracket)];
    if (bracket != std::string_view::npos) {
      const int index = number_in(part.substr(bracket + 1, part.size() - bracket - 2));
      if (!at->is_array()) *at = JsonArray();
      JsonArray& items = at->as_array();
      while (items.size() <= static_cast<std::size_t>(index)) items.emplace_back(nullptr);
      at = &items[static_cast<std::size_t>(index)];
    }
    if (at->is_null()) *at = JsonObject();
  }
  *at = std::move(value);
}

Json document_of(const Answers& answers) {
  Json document = {{"apiVersion", "v1"}};
  const std::string_view platform = answer_to(answers, platform_name);
  if (!platform.empty()) document.as_object()["platform"] = {{platform, JsonObject()}};
  for (const Asked& asked : asked_after(answers)) {
    for (Filled& filled : fields_of(answers, asked)) set_field(document, filled.field, Json(filled.value));
  }
  if (const int hosts = number_in(answer_to(answers, hosts_name)); hosts > 0) {
    const int masters = hosts < usual_masters ? 1 : usual_masters;
    set_field(document, "controlPlane", {{"name", "master"}, {"replicas", masters}});
    document.as_object()["compute"] = JsonArray{{{"name", "worker"}, {"replicas", hosts - masters}}};
  }
  return document;
}

// Whether a finding is about a field: at it, inside of it, or about the list that it is an item of.
bool is_about(std::string_view finding, std::string_view field) {
  const bool is_inside = finding.starts_with(field) &&
                         (finding.size() == field.size() || finding[field.size()] == '.' || finding[field.size()] == '[');
  return is_inside || (field.ends_with(']') && finding == field.substr(0, field.rfind('[')));
}

// What the rules of the file say against some of its fields, a line each.
std::vector<std::string> problems_of(const Json& document, const std::vector<Filled>& fields) {
  std::vector<std::string> problems;
  const Findings findings = check_install_config(emit_yaml(document), "answers");
  for (const Finding& finding : findings.all()) {
    const bool is_of_these = std::ranges::any_of(fields, [&](const Filled& each) { return is_about(finding.field, each.field); });
    if (finding.severity != Severity::error || !is_of_these) continue;
    problems.push_back(finding.hint.empty() ? finding.message : fmt::format("{} ({})", finding.message, finding.hint));
  }
  return problems;
}

bool is_no_key(const PublicKey& key) { return !problems_of({{"sshKey", key.line}}, {{"sshKey", key.line}}).empty(); }

}  // namespace

Wizard::Wizard(std::vector<PublicKey> keys) : keys_(std::move(keys)) { std::erase_if(keys_, is_no_key); }

std::optional<Question> Wizard::next() const {
  for (const Asked& asked : asked_after(answers_)) {
    const Row& row = *asked.row;
    if (answers_.contains(asked.name()) || (row.name == key_name && keys_.empty())) continue;
    Question question{.name = asked.name(),
                      .words = asked.host < 0 ? std::string(row.words) : fmt::format("Host {}, {}", asked.host + 1, row.words),
                      .fallback = std::string(row.fallback),
                      .is_secret = row.is_secret,
                      .is_optional = row.is_optional};
    if (row.name == platform_name) question.choices = supported_platforms();
    if (row.name == key_name) {
      question.choices.emplace_back(no_key);
      for (const PublicKey& key : keys_) question.choices.push_back(key.path);
    }
    if (row.name == pull_secret_name && answer_to(answers_, platform_name) == "local") question.fallback = no_logins;
    return question;
  }
  return std::nullopt;
}

Result<> Wizard::answer(std::string_view text) {
  const std::optional<Question> question = next();
  CHECK(question.has_value());
  std::string given(trim(text));
  if (given.empty()) given = question->fallback;
  if (given.empty() && !question->is_optional) return error(Code::invalid, "an answer is required");
  if (!question->choices.empty()) {
    const int number = number_in(given);
    if (number >= 1 && number <= static_cast<int>(question->choices.size())) given = question->choices[number - 1u];
    if (std::ranges::find(question->choices, given) == question->choices.end()) {
      return error(Code::invalid, "'{}' is not one of these (enter a number from 1 to {} or a name)", given,
                   question->choices.size());
    }
  }
  if (question->name == hosts_name && (number_in(given) < 1 || number_in(given) > most_hosts)) {
    return error(Code::invalid, "'{}' is not a number from 1 to {}", given, most_hosts);
  }
  if (question->name == key_name) {
    const auto key = std::ranges::find(keys_, given, &PublicKey::path);
    given = key == keys_.end() ? "" : key->line;
  }

  Answers tried = answers_;
  tried.insert_or_assign(question->name, given);
  const std::vector<Asked> all = asked_after(tried);
  const auto asked = std::ranges::find_if(all, [&](const Asked& each) { return each.name() == question->name; });
  CHECK(asked != all.end());
  const std::vector<std::string> problems = problems_of(document_of(tried), fields_of(tried, *asked));
  if (!problems.empty()) return error(Code::invalid, "{}", join(problems, "\n"));
  answers_ = std::move(tried);
  return Ok{};
}

std::string Wizard::install_config() const { return emit_yaml(document_of(answers_)); }

}  // namespace slipway::config
