// Stages: the work of the bootstrap machine in one table, from the first manifest to the last steps.
#pragma once

#include "bootstrap/containers.h"
#include "bootstrap/inputs.h"
#include "net/http.h"
#include "sys/files.h"
#include "sys/runner.h"
#include "sys/stages.h"

#include <set>
#include <string>
#include <vector>

namespace slipway::bootstrap {

// The inputs and tools of the stages. All must outlive the stages.
struct Engine {
  const Inputs& inputs;
  sys::Files& files;
  sys::Runner& runner;
  net::Http& http;
  Containers& containers;
};

// The file that marks a complete bootstrap; units and other commands of slipway-node look for it.
inline constexpr const char* done_file = ".bootkube.done";

std::vector<sys::Stage> stages(const Engine& engine);

// Stages that check the outside world and are repeated at each start of the bootstrap.
extern const std::set<std::string> repeated_stages;

// Names of all containers that stages run.
std::set<std::string> container_names(const Inputs& inputs);

}  // namespace slipway::bootstrap
