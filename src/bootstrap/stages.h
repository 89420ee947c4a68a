// Stages: what happens on the bootstrap machine, from the first manifest to the hand-over, as one table.
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

// What the stages act on. All outlive the stages.
struct Engine {
  const Inputs& inputs;
  sys::Files& files;
  sys::Runner& runner;
  net::Http& http;
  Containers& containers;
};

// The file that says that the bootstrap is done; units and slipway-node's other commands look for it.
inline constexpr const char* done_file = ".bootkube.done";

std::vector<sys::Stage> stages(const Engine& engine);

// Stages that look at the world and are asked again whenever the bootstrap starts anew.
extern const std::set<std::string> asked_again;

// Names of all containers that stages run.
std::set<std::string> container_names(const Inputs& inputs);

}  // namespace slipway::bootstrap
