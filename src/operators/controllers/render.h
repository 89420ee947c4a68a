// cluster-kube-controller-manager-operator render: the temporary controller manager, with the cluster policy controller beside
// it.
#pragma once

#include "base/template.h"
#include "operators/lib/manifest.h"
#include "operators/lib/program.h"
#include "operators/lib/render_inputs.h"

namespace slipway::operators::controllers {

struct TlsInput {
  net::Certificate kubelet_signer;
  std::string kubelet_client_ca;
  Secret service_account_key;
};

// The arguments by which the controller manager hands out the nodes' pod networks: this release's network is flannel, whatever
// networkType says (design 12.4), and takes what the nodes have.
//   findings  two networks of one family, which the controller manager does not take
JsonObject network_arguments(const Network& network, const std::string& file, Findings& findings);

// `gates` with what the hand-over needs: a controller manager that gives its lease back when it ends (local-machines 5.6).
std::vector<std::string> gate_settings(const FeatureGates& gates);

// Where a controller manager finds its files, for the holes of config.yaml and cpc-config.yaml: "bootstrap" or "masters".
Result<TemplateValues> places(std::string_view where);

Result<Json> make_config(const TemplateValues& places, const JsonObject& network_arguments,
                         const std::vector<std::string>& gates);
Result<Json> make_policy_config(const TemplateValues& places, const std::vector<std::string>& gates);
// The pod has the config's arguments on its command line too, sorted, one a value (operators 12.6).
Result<RenderedFile> make_pod(const TemplateValues& values, const Json& config);
Result<RenderedFiles> make_manifests(const TemplateValues& values, const TlsInput& tls);

// The command.
Result<> run_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators::controllers
