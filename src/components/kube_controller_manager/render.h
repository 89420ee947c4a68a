// cluster-kube-controller-manager-operator render: the temporary controller manager and cluster policy controller, in one pod.
#pragma once

#include "base/template.h"
#include "components/program/program.h"
#include "components/render/inputs.h"
#include "components/render/manifest.h"

namespace slipway::components::kube_controller_manager {

struct TlsInput {
  net::Certificate kubelet_signer;
  std::string kubelet_client_ca;
  Secret service_account_key;
};

// The arguments of the controller manager that assign a pod network to each node. The network of this release is flannel for
// every
// networkType, and flannel reads the pod network from the node.
//
//   findings  two networks of one address family, which the controller manager does not support
JsonObject network_arguments(const Network& network, const std::string& file, Findings& findings);

// `gates` and the gate for the handover: the controller manager releases its lease when it ends, so that the next one leads at
// once
// instead of after up to 15 s.
std::vector<std::string> gate_settings(const FeatureGates& gates);

// The paths of files, for the placeholders of config.yaml and cpc-config.yaml. where: "bootstrap" or "masters"
Result<TemplateValues> places(std::string_view where);

Result<Json> make_config(const TemplateValues& places, const JsonObject& network_arguments,
                         const std::vector<std::string>& gates);
Result<Json> make_policy_config(const TemplateValues& places, const std::vector<std::string>& gates);
// The pod also has the config's arguments on its command line, sorted, with one flag for each value.
Result<RenderedFile> make_pod(const TemplateValues& values, const Json& config);
Result<RenderedFiles> make_manifests(const TemplateValues& values, const TlsInput& tls);

// The command.
Result<> run_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::kube_controller_manager
