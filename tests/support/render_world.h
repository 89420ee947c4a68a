// RenderWorld: every render command of the release with its arguments, and the files of the bootstrap machine that they read.
//
//   for (const Component& component : other_components()) described(written(component, completed_input()));
#pragma once

#include "components/program/program.h"
#include "support/file_tree.h"
#include "support/one_address.h"
#include "support/operator_environment.h"

#include <ostream>
#include <string>
#include <vector>

namespace slipway::testing_support {

// A component of the release and its render command.
struct Component {
  std::string name;
  Result<> (*run)(const components::Environment&, const components::Arguments&);
  components::Arguments arguments;  // from bootstrap/renders.cpp; for baremetal-runtimecfg from the keepalived pod

  friend void PrintTo(const Component& component, std::ostream* out) { *out << component.name; }
};

const Component& first_component();  // completes the FeatureGate that the others read
const std::vector<Component>& other_components();

// The assets of tests/golden/assets/local.yaml (platform local, three masters) with a TLS folder and the files of the images, in
// one file system; completed_input() also has the output of the first component.
const FileTree& input();
const FileTree& completed_input();

// A file system with a tree, and the environment of components. Threads: any may run components.
class World {
 public:
  explicit World(const FileTree& tree);

  Result<> run(const Component& component);
  FileTree tree() { return read_tree(world_.files, "/"); }
  sys::Context context() { return world_.test.context(); }

 private:
  OperatorEnvironment world_;
  OneAddress runner_;
};

// The files that a command writes or changes, starting from `before`.
FileTree written(const Component& component, const FileTree& before);

}  // namespace slipway::testing_support
