// Containers: runs programs of images to their end, with the container runtime that the machine has.
#pragma once

#include "base/guarded.h"
#include "base/result.h"
#include "sys/context.h"
#include "sys/runner.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::bootstrap {

enum class Runtime {
  containerd,  // ctr, in the namespace that the kubelet's images are in
  podman,      // where CRI-O runs the pods: it has the same images
};

struct Mount {
  std::string source;  // on the machine
  std::string target;
  bool writable = false;
  bool is_of_system = false;  // others than containers use it, by its SELinux label

  bool operator==(const Mount&) const = default;
};

// One program of one image, in the machine's network, as root.
struct Container {
  std::string name;             // "etcd-render"
  std::string image;            // by digest
  std::string program;          // a path, or a name to be found in the image's PATH
  bool is_entry_point = false;  // the image starts the program by itself; ctr cannot use that, podman does
  std::vector<std::string> arguments{};
  std::vector<Mount> mounts{};
  std::vector<std::string> environment{};  // "NAME=value"
};

// The command that runs a container and removes it afterwards. Pure.
std::vector<std::string> command_of(Runtime runtime, const Container& container);

// Threads: any.
class Containers {
 public:
  // `at_once`: how many run at the same time; renders are short and use the processor.
  Containers(Runtime runtime, sys::Runner& runner, int at_once) : runtime_(runtime), runner_(runner), free_(at_once) {}

  using LineHandler = std::function<void(std::string_view line)>;  // each line of standard error as it comes

  // Removes containers of these names that an earlier, killed run left behind, perhaps still working. Once, before run().
  Result<> remove_leftovers(const sys::Context& context, const std::set<std::string>& names);

  // Runs it, pulling its image when that is not here.
  //
  //   rank    who goes first when several wait: the lower
  //   errors  unavailable, with the last lines it wrote to standard error; cancelled
  //   time    until a turn is free and the program has ended
  Result<> run(const sys::Context& context, const Container& container, int rank, const LineHandler& told = {});

 private:
  class Turn;
  Result<> ensure_image(const sys::Context& context, const std::string& image);

  Runtime runtime_;
  sys::Runner& runner_;
  std::mutex pull_mutex_;         // held while an image is looked for and pulled: one at a time
  std::set<std::string> images_;  // known to be here; under pull_mutex_
  std::mutex mutex_;              // of the two below
  std::condition_variable_any turn_;
  int free_;
  std::multiset<int> waiting_;
};

}  // namespace slipway::bootstrap
