#include "service/bootstrap_config.h"

#include "assist/controller.h"
#include "base/digest.h"
#include "base/template.h"
#include "base/text.h"
#include "data/data.h"
#include "ignition/make.h"
#include "ignition/parse.h"
#include "kube/machine_table.h"

#include <fmt/core.h>

namespace slipway::service {

namespace {

constexpr int secret_mode = 0600;
constexpr std::string_view table_manifest = "/opt/openshift/manifests/machine-addresses.yaml";
constexpr std::string_view late_master_marker = "/opt/openshift/assisted-install-bootstrap";
constexpr std::string_view manifests = "controller/", deployment = "controller/9_deployment.yaml";

// Kubelets register with the host name in lower case.
kube::MachineTable machine_table(const std::vector<std::shared_ptr<const HostRecord>>& hosts) {
  kube::MachineTable rows;
  for (const auto& record : hosts) {
    kube::MachineRow row{.name = to_lower(record->host.hostname()),
                         .role = std::string(assist::to_string(record->host.effective_role())),
                         .addresses = {}};
    if (record->host.inventory) {
      for (const assist::Interface& interface : record->host.inventory->interfaces) {
        for (const net::Cidr& each : interface.addresses) row.addresses.push_back(net::to_string(each.address));
      }
    }
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
  put(late_master_marker, "");
  const TemplateValues values = {
      {"SERVICE_URL", access.url},
      {"CLUSTER_ID", cluster.cluster.id},
      {"UNTIL", to_rfc3339(access.until)},
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
