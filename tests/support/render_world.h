// RenderWorld: every render command of the release with its arguments, and the bootstrap machine's files as they all read them.
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
  components::Arguments arguments;  // as bootstrap/renders.cpp and, for baremetal-runtimecfg, the pod keepalived give them

  friend void PrintTo(const Component& component, std::ostream* out) { *out << component.name; }
};

const Component& first_component();  // completes the FeatureGate that others read
const std::vector<Component>& other_components();

// The assets of tests/golden/assets/local.yaml (platform local, three masters) with a TLS folder and the files of the images, all
// in one file system; then the same with the first component's work done.
const FileTree& input();
const FileTree& completed_input();

// A file system with a tree in it, and who works there. Threads: any may run components.
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

// What a command writes or changes where `before` is.
FileTree written(const Component& component, const FileTree& before);

}  // namespace slipway::testing_support
