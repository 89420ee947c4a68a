#include "assets/tls/kubeconfigs.h"

#include "assets/identity/identity.h"
#include "base/sorted_keys.h"
#include "base/yaml.h"
#include "kube/kubeconfig.h"
#include "net/ip.h"

namespace slipway::assets {

namespace {

constexpr std::string_view all_servers = "kube-apiserver-complete-server-ca-bundle";
constexpr std::string_view localhost = "kube-apiserver-localhost-ca-bundle";

struct Row {
  std::string server;
  std::string_view authorities;
  std::string_view user;
  std::string_view client;
  std::string_view tls_server_name = "";
};

Secret text_of(const config::InstallConfig& config, const Tls& tls, const Row& row) {
  const net::Certificate& client = tls.find(row.client)->second;
  const kube::Access access{.server = row.server,
                            .ca = tls.find(row.authorities)->second.pem,
                            .tls_server_name = std::string(row.tls_server_name),
                            .client_certificate = client.pem,
                            .client_key = client.key};
  Json document = kube::make_kubeconfig(access, config.name, row.user);
  // Kubeconfigs of openshift-install do not have these members.
  for (const std::string_view member : {"apiVersion", "kind"}) document.as_object().erase(member);
  return Secret(emit_yaml(sorted_keys(document)));
}

std::string url(std::string_view host, const config::InstallConfig& config) {
  return fmt::format("https://{}.{}:6443", host, config.cluster_domain());
}

}  // namespace

Result<Kubeconfigs> make_kubeconfigs(const config::InstallConfig& config, const ClusterId& id, const Tls& tls) {
  Row user = {url("api", config), all_servers, "admin", "admin-kubeconfig-client"};
  const std::string api_name = "api." + config.cluster_domain();
  if (config.platform.local) {
    user.server = fmt::format("https://{}:6443", loopback_address(id));
    user.tls_server_name = api_name;
  } else if (const std::vector<std::string> vips = config::api_vips(config); config.platform.type == "libvirt" && !vips.empty()) {
    // The DNS server of the machines knows the name of the API, that of the user does not.
    user.server = fmt::format("https://{}", net::host_and_port(vips.front(), 6443));
    user.tls_server_name = api_name;
  }
  return Kubeconfigs{
      .user = text_of(config, tls, user),
      .bootstrap = text_of(config, tls, {url("api-int", config), all_servers, "admin", "admin-kubeconfig-client"}),
      .loopback = text_of(config, tls, {"https://localhost:6443", localhost, "loopback", "admin-kubeconfig-client"}),
      .kubelet = text_of(config, tls, {url("api-int", config), all_servers, "kubelet", "kubelet-client"}),
  };
}

}  // namespace slipway::assets
