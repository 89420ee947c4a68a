#include "cluster/router_authority.h"

#include "kube/authorities.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

namespace slipway::cluster {

namespace {

constexpr std::string_view space = "openshift-config-managed";
constexpr std::string_view name = "default-ingress-cert";
constexpr std::string_view key = "ca-bundle.crt";

Result<std::string> routers_bundle(const sys::Context& context, kube::Api& api) {
  const auto found = TRY(sys::retry<std::optional<Json>>(
      context, 5, {.first = Seconds(1)}, [&] { return kube::find(context, api, kube::types::config_maps, space, name); }));
  if (!found) return error(Code::not_found, "ConfigMap {}/{}: not found (the ingress operator creates it)", space, name);
  return require_string(*found, {"data", key}).context(fmt::format("ConfigMap {}/{}", space, name));
}

}  // namespace

Result<> trust_routers(const sys::Context& context, sys::Files& files, kube::Api& api, const std::string& kubeconfig) {
  const auto trust = [&]() -> Result<> {
    const std::string bundle = TRY(routers_bundle(context, api));
    const std::string text = TRY(files.read(kubeconfig));
    const auto more = TRY(kube::add_authorities(text, kubeconfig, bundle));
    return more ? files.write(kubeconfig, *more, 0600) : Result<>(Ok{});
  };
  return trust().context(fmt::format("adding the router CA to {}", kubeconfig));
}

}  // namespace slipway::cluster
