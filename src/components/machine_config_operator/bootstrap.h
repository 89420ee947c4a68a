// `machine-config-operator bootstrap`: from the installer's manifests to what the controller on the bootstrap machine reads, its
// pod, and the pods that hold the virtual addresses.
#pragma once

#include "base/findings.h"
#include "base/flags.h"
#include "components/machine_config_operator/inputs.h"
#include "components/program/program.h"

namespace slipway::components::machine_config_operator {

// Reads what the flags name. Findings: what is missing or cannot be read, all of it.
MachineConfigInputs read_machine_config_inputs(sys::Files& files, const Flags& flags, Findings& findings);

// The files below the output folder. Pure. errors: invalid: more than one virtual address of the API
Result<RenderedFiles> render_machine_config_bootstrap(const MachineConfigInputs& inputs);

// The command.
Result<> run_bootstrap(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::machine_config_operator
