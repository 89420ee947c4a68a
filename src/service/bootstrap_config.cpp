#include "service/bootstrap_config.h"

#include "assist/controller.h"
#include "base/digest.h"
#include "base/template.h"
#include "base/text.h"
#include "data/data.h"
#include "ignition/make.h"
#include "ignition/parse.h"
#include "kube/machine_table.h"
#include "service/discovery.h"

#include <fmt/core.h>

#include <map>
#include <set>

namespace slipway::service {

namespace {

constexpr int secret_mode = 0600;
constexpr std::string_view table_manifest = "/opt/openshift/manifests/machine-addresses.yaml";
constexpr std::string_view late_master_marker = "/opt/openshift/assisted-install-bootstrap";
// Files that make the stages of the bootstrap end with the config of the only node. The host writes its disk itself, so it does
// not get the other files of this folder.
constexpr std::string_view in_place_root = "in-place/files", in_place = "in-place/files/opt/openshift/";
constexpr std::string_view manifests = "controller/", deployment = "controller/9_deployment.yaml";

std::set<std::string> addresses_of(const HostRecord& record) {
  std::set<std::string> addresses;
  if (!record.host.inventory) return addresses;
  for (const assist::Interface& interface : record.host.inventory->interfaces) {
    for (const net::Cidr& each : interface.addresses) addresses.insert(net::to_string(each.address));
  }
  return addresses;
}

// Kubelets register with the host name in lower case. An address that two hosts have belongs to none of them: a host must not get
// a certificate for the address of another one because it says that it has it.
kube::MachineTable machine_table(const std::vector<std::shared_ptr<const HostRecord>>& hosts) {
  std::map<std::string, int> owners;
  for (const auto& record : hosts) {
    for (const std::string& address : addresses_of(*record)) ++owners[address];
  }
  kube::MachineTable rows;
  for (const auto& record : hosts) {
    kube::MachineRow row{.name = to_lower(record->host.hostname()),
                         .role = std::string(assist::to_string(record->host.effective_role())),
                         .addresses = {}};
    const std::set<std::string> addresses = addresses_of(*record);
    for (const std::string& address : addresses) {
      if (owners[address] == 1) row.addresses.push_back(address);
    }
    if (row.addresses.empty() && !addresses.empty()) row.addresses.push_back(row.name);  // none would mean: any
    rows.push_back(std::move(row));
  }
  return rows;
}

Json table_object(const kube::MachineTable& rows) {
  const Json object = {
      {"apiVersion", "v1"},
      {"kind", "ConfigMap"},
      {"metadata", {{"name", kube::machine_table_name}, {"namespace", kube::machine_table_space}}},
      {"data", JsonObject()},
  };
  return kube::with_machine_table(object, rows);
}

}  // namespace

Result<std::string> bootstrap_ignition(const ClusterRecord& cluster, const std::vector<std::shared_ptr<const HostRecord>>& hosts,
                                       std::string_view base, const ControllerAccess& access) {
  ignition::Parsed parsed = TRY(ignition::parse_text(base, "bootstrap.ign"));
  TRY(parsed.findings.to_result());
  const auto put = [&](std::string_view path, std::string_view content) {
    ignition::put(parsed.config, ignition::make_file(std::string(path), content, secret_mode));
  };
  put(table_manifest, emit_json(table_object(machine_table(hosts)), JsonStyle::pretty));
  if (cluster.cluster.is_single_node()) {
    for (const data::File& file : data::bootstrap_variants()) {
      if (file.path.starts_with(in_place)) put(file.path.substr(in_place_root.size()), file.content);
    }
    // etcd's member has the name of the node, which the live system may not have.
    if (hosts.size() == 1) ignition::put(parsed.config, name_file(*hosts.front()));
  } else {
    put(late_master_marker, "");
  }
  const TemplateValues values = {
      {"SERVICE_URL", access.url},
      {"CLUSTER_ID", cluster.cluster.id},
      {"UNTIL", to_rfc3339(access.until)},
      {"SERVICE_HOST", to_lower(access.host)},
      {"API_INT_HOST", "api-int." + cluster.cluster.domain()},
      {"TOKEN_BASE64", base64_encode(access.token)},
      {"AUTHORITY_BASE64", base64_encode(access.authority)},
      {std::string(assist::controller_image_hole), fmt::format("{{{{{}}}}}", assist::controller_image_hole)},
  };
  for (const data::File& file : data::assist()) {
    if (!file.path.starts_with(manifests)) continue;
    const std::string text = TRY(fill_template(file.content, file.path, values));
    const std::string path =
        fmt::format("/opt/openshift/openshift/99_assisted-installer-controller_{}", file.path.substr(manifests.size()));
    put(file.path == deployment ? assist::controller_template : std::string_view(path), text);
  }
  return emit_json(ignition::to_json(parsed.config), JsonStyle::compact);
}

}  // namespace slipway::service
