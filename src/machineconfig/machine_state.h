// What a machine has or should have: a MachineConfig, and in image mode an image of the operating system instead of the config's.
// Two images of one config are two states. Pure.
#pragma once

#include "base/json.h"
#include "machineconfig/types.h"

#include <string>

namespace slipway::machineconfig {

struct MachineState {
  std::string config{};  // name of the MachineConfig
  std::string image{};   // by digest; empty: the image of the config

  // "rendered-worker-5f0c", or "rendered-worker-5f0c with image registry.example.com/team/os@sha256:..."
  std::string text() const;
  bool operator==(const MachineState&) const = default;
};

// The config with the image of a state. The annotation image_overridden has the image, so that state_of() finds it again.
MachineConfig with_image(MachineConfig config, const std::string& image);
MachineState state_of(const MachineConfig& config);

// The annotations of a Node, machineconfig/node_annotations.h. A state without config: the annotations do not exist.
MachineState desired_state(const Json& node);
MachineState coming_state(const Json& node);

}  // namespace slipway::machineconfig
