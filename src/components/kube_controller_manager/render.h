// cluster-kube-controller-manager-operator render: the temporary controller manager, with the cluster policy controller beside
// it.
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

// The arguments with which the controller manager gives each node its pod network. The network of this release is flannel,
// whatever networkType says, and flannel takes the pod network from the node.
//   findings  two networks of one family, which the controller manager does not take
JsonObject network_arguments(const Network& network, const std::string& file, Findings& findings);

// `gates` with the one that the hand-over needs: the controller manager releases its lease when it ends, so the next one leads at
// once and not after up to 15 s.
std::vector<std::string> gate_settings(const FeatureGates& gates);

// Where a controller manager finds its files, for the holes of config.yaml and cpc-config.yaml: "bootstrap" or "masters".
Result<TemplateValues> places(std::string_view where);

Result<Json> make_config(const TemplateValues& places, const JsonObject& network_arguments,
                         const std::vector<std::string>& gates);
Result<Json> make_policy_config(const TemplateValues& places, const std::vector<std::string>& gates);
// The pod has the config's arguments also on its command line, sorted, one for each value.
Result<RenderedFile> make_pod(const TemplateValues& values, const Json& config);
Result<RenderedFiles> make_manifests(const TemplateValues& values, const TlsInput& tls);

// The command.
Result<> run_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::kube_controller_manager
