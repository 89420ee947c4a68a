#include "service/installation.h"

#include "assist/requirements.h"
#include "config/agent_config.h"
#include "service/fields.h"
#include "sys/temp_dir.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::service {

namespace {

using assist::Role;

JsonArray items_of(const JsonObject& settings, std::string_view key, std::string_view member) {
  JsonArray found;
  for (const Json& each : list_in(settings, key)) found.emplace_back(text_of(each, {member}));
  return found;
}

// The host's entry of platform baremetal. The cluster has no controller that uses the management controllers: the entries only
// say which hosts there are.
Json bare_metal_host(const assist::Host& host) {
  std::string mac;
  for (const assist::Interface& interface : host.inventory->interfaces) {
    if (mac.empty() && !interface.addresses.empty()) mac = interface.mac_address;
  }
  const std::string& bmc = host.inventory->bmc_address;
  return config::unmanaged_host(host.hostname(), assist::to_string(host.effective_role()), mac, host.id,
                                bmc == "0.0.0.0" ? "" : bmc);
}

Json platform_of(const ClusterRecord& cluster, const std::vector<std::shared_ptr<const HostRecord>>& hosts) {
  if (!cluster.cluster.has_virtual_addresses()) return {{"none", JsonObject{}}};
  JsonArray entries;
  for (const auto& record : hosts) {
    if (record->host.inventory) entries.push_back(bare_metal_host(record->host));
  }
  return {{"baremetal",
           {{"apiVIPs", items_of(cluster.settings, "api_vips", "ip")},
            {"ingressVIPs", items_of(cluster.settings, "ingress_vips", "ip")},
            {"provisioningNetwork", "Disabled"},
            {"hosts", std::move(entries)}}}};
}

// Components of the release bootstrap in place if the install-config has such a disk. The host learns its disk from its request.
std::string disk_of_node(const std::vector<std::shared_ptr<const HostRecord>>& hosts) {
  for (const auto& record : hosts) {
    const assist::Disk* disk = assist::installation_disk(record->host, assist::requirements_of(Role::master, true));
    if (disk) return disk->path;
  }
  return "";
}

// The members of `changes` replace those of `object`; objects are merged.
void merge_into(JsonObject& object, const JsonObject& changes) {
  for (const auto& member : changes) {
    Json& old = object[member.key()];
    if (old.is_object() && member.value().is_object()) {
      merge_into(old.get_object(), member.value().get_object());
    } else {
      old = member.value();
    }
  }
}

struct FileName {
  std::string_view of_api, on_disk;
};
constexpr std::array file_names = {
    FileName{"bootstrap.ign", "bootstrap.ign"}, FileName{"master.ign", "master.ign"},
    FileName{"worker.ign", "worker.ign"},       FileName{"kubeconfig", "auth/kubeconfig"},
    FileName{"metadata.json", "metadata.json"}, FileName{"kubeadmin-password", "auth/kubeadmin-password"},
};

}  // namespace

std::string manifests_of(std::string_view cluster) { return fmt::format("{}/manifests", cluster); }

Json install_config(const ClusterRecord& cluster, const std::vector<std::shared_ptr<const HostRecord>>& hosts) {
  const auto workers = std::ranges::count_if(hosts, [](const auto& each) { return each->host.effective_role() == Role::worker; });
  JsonArray machine_networks, cluster_networks;
  for (const net::Cidr& each : cluster.cluster.machine_networks) machine_networks.push_back(Json{{"cidr", net::to_string(each)}});
  for (const assist::Network& each : cluster.cluster.cluster_networks) {
    cluster_networks.push_back(Json{{"cidr", net::to_string(each.cidr)}, {"hostPrefix", each.host_prefix}});
  }
  JsonObject config = {
      {"apiVersion", "v1"},
      {"metadata", {{"name", cluster.cluster.name}}},
      {"baseDomain", cluster.cluster.base_domain},
      {"controlPlane", {{"name", "master"}, {"replicas", cluster.cluster.control_plane_count}}},
      {"compute", JsonArray{Json{{"name", "worker"}, {"replicas", workers}}}},
      {"networking",
       {{"networkType", cluster.cluster.network_type},
        {"machineNetwork", std::move(machine_networks)},
        {"clusterNetwork", std::move(cluster_networks)},
        {"serviceNetwork", items_of(cluster.settings, "service_networks", "cidr")}}},
      {"platform", platform_of(cluster, hosts)},
      {"pullSecret", text_of(cluster.settings, {"pull_secret"})},
  };
  if (const std::string key = text_of(cluster.settings, {"ssh_public_key"}); !key.empty()) config["sshKey"] = key;
  JsonObject proxy;
  for (const auto& [ours, theirs] :
       {std::pair("http_proxy", "httpProxy"), std::pair("https_proxy", "httpsProxy"), std::pair("no_proxy", "noProxy")}) {
    if (std::string value = text_of(cluster.settings, {ours}); !value.empty()) proxy[theirs] = std::move(value);
  }
  if (!proxy.empty()) config["proxy"] = std::move(proxy);
  if (cluster.cluster.is_single_node()) config["bootstrapInPlace"] = Json{{"installationDisk", disk_of_node(hosts)}};
  merge_into(config, cluster.install_config_overrides);
  return config;
}

Json shown_install_config(Json config) {
  if (!config.is_object()) return config;
  if (Json* secret = config.get_object().if_contains("pullSecret")) *secret = "";
  if (Json* proxy = config.get_object().if_contains("proxy"); proxy && proxy->is_object()) {
    for (auto& member : proxy->get_object()) member.value() = without_login(text_of(member.value(), {}));
  }
  return config;
}

Result<InstallationFiles> SlipwayInstallation::make(const InstallationRequest& request, std::stop_token stop) {
  const sys::Context context = environment_.context.with_stop(std::move(stop));
  const sys::TempDir folder = TRY(sys::TempDir::make("assisted-installation"));
  const Json config = install_config(*request.cluster, request.hosts);
  TRY(environment_.files.write(folder.path() + "/install-config.yaml", emit_json(config, JsonStyle::pretty), 0600));
  std::string release = text_of(request.cluster->settings, {"ocp_release_image"});
  if (release.empty()) release = release_;
  const auto create = [&](const char* what) -> Result<> {
    std::vector<std::string> argv = {program_, "create", what, "--dir", folder.path(), "--key-type", "ecdsa"};
    if (!release.empty()) argv.insert(argv.end(), {"--release", release});
    const sys::Output output = TRY(environment_.runner.run(context, {.argv = argv, .limit = std::chrono::minutes(8)}));
    if (output.status == 0) return Ok{};
    return error(Code::invalid, "the Ignition configs cannot be generated: {}", output.err.empty() ? output.out : output.err);
  };
  if (!request.manifests.empty()) TRY(create("manifests"));
  for (const auto& [path, content] : request.manifests)
    TRY(environment_.files.write(fmt::format("{}/{}", folder.path(), path), content, 0600));
  TRY(create("ignition-configs"));
  InstallationFiles made = TRY(read_asset_directory(environment_.files, folder.path()));
  made[install_config_file] = emit_json(shown_install_config(config), JsonStyle::pretty);
  return made;
}

Result<InstallationFiles> PreparedInstallation::make(const InstallationRequest&, std::stop_token) {
  InstallationFiles made;
  for (const std::string& name : TRY(environment_.files.list(folder_)))
    made[name] = TRY(environment_.files.read(fmt::format("{}/{}", folder_, name)));
  made[kubeconfig_without_routers] = made["kubeconfig"];
  return made;
}

Result<InstallationFiles> read_asset_directory(sys::Files& files, const std::string& folder) {
  InstallationFiles made;
  for (const FileName& name : file_names) {
    const auto content = TRY(files.read_if_exists(fmt::format("{}/{}", folder, name.on_disk)));
    if (content) made[std::string(name.of_api)] = *content;
  }
  for (const char* needed : {"bootstrap.ign", "master.ign", "worker.ign", "kubeconfig"}) {
    if (!made.contains(needed)) return error(Code::internal, "slipway did not generate {}", needed);
  }
  made[kubeconfig_without_routers] = made["kubeconfig"];
  return made;
}

}  // namespace slipway::service
