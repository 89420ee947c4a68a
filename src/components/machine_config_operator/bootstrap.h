// `machine-config-operator bootstrap`: renders the installer's manifests into the input of the controller on the bootstrap
// machine, the pod of that controller, and the pods that hold the virtual IPs.
#pragma once

#include "base/findings.h"
#include "base/flags.h"
#include "components/machine_config_operator/inputs.h"
#include "components/program/program.h"

namespace slipway::components::machine_config_operator {

// Reads the files that the flags name. Findings: everything that is missing or cannot be read.
MachineConfigInputs read_machine_config_inputs(sys::Files& files, const Flags& flags, Findings& findings);

// The files of the output folder. Pure. errors: invalid: more than one virtual IP of the API
Result<RenderedFiles> render_machine_config_bootstrap(const MachineConfigInputs& inputs);

// The command.
Result<> run_bootstrap(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_config_operator
