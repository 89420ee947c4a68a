// `machine-config-operator bootstrap`: from the installer's manifests to what the controller on the bootstrap machine reads, its
// pod, and the pods that hold the virtual addresses (machine-config A.5, E.1; operators 2.7).
#pragma once

#include "base/findings.h"
#include "base/flags.h"
#include "base/json.h"
#include "operators/lib/program.h"

#include <map>
#include <string>
#include <vector>

namespace slipway::operators {

struct MachineConfigInputs {
  std::string version;  // of the payload
  std::string release_image;
  std::map<std::string, std::string> images;  // by component of the release
  std::string cluster_name;
  std::string platform;               // as install-config names it
  std::vector<std::string> api_vips;  // with any, this machine holds the first one
  std::vector<std::string> ingress_vips;
  std::string cluster_dns_ip;
  std::string ip_families;
  std::string network_type;
  std::string root_ca, kube_ca, cloud_ca, trust_bundle, cloud_config;  // the last four may be empty
  std::string pull_secret;                                             // the Secret, as the file has it
  Json infrastructure, dns, proxy;
};

// Reads what the flags name. Findings: what is missing or cannot be read, all of it.
MachineConfigInputs read_machine_config_inputs(sys::Files& files, const Flags& flags, Findings& findings);

// The files below the output folder. Pure. errors: invalid: more than one virtual address of the API
Result<RenderedFiles> render_machine_config_bootstrap(const MachineConfigInputs& inputs);

// The command.
Result<> run_machine_config_operator_bootstrap(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::operators
