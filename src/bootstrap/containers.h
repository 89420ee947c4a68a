// Containers: runs programs of images with the container runtime of the machine, and waits for them.
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
  containerd,  // ctr, in the namespace of the kubelet's images
  podman,      // on machines with CRI-O, whose images it shares
};

struct Mount {
  std::string source;  // on the machine
  std::string target;
  bool writable = false;
  bool is_of_system = false;  // other programs use it; keep its SELinux label

  bool operator==(const Mount&) const = default;
};

// One program of one image, in the network of the host, as root.
struct Container {
  std::string name;             // "etcd-render"
  std::string image;            // by digest
  std::string program;          // a path, or a name in the PATH of the image
  bool is_entry_point = false;  // the program is the entry point of the image; podman needs that, ctr ignores it
  std::vector<std::string> arguments{};
  std::vector<Mount> mounts{};
  std::vector<std::string> environment{};  // "NAME=value"
};

// The command that runs a container and removes it afterwards. Pure.
std::vector<std::string> command_of(Runtime runtime, const Container& container);

// Threads: any.
class Containers {
 public:
  // at_once: the number of containers that run concurrently; renders are short and CPU-bound.
  Containers(Runtime runtime, sys::Runner& runner, int at_once) : runtime_(runtime), runner_(runner), free_(at_once) {}

  using LineHandler = std::function<void(std::string_view line)>;  // each line of standard error as it is written

  // Removes containers with these names of an earlier run that was killed; they may still be running. Call once, before run().
  Result<> remove_leftovers(const sys::Context& context, const std::set<std::string>& names);

  // Runs a container; pulls its image if it is missing.
  //
  //   rank    priority among waiting containers; lower ranks run first
  //   errors  unavailable, with the last lines of standard error; cancelled
  //   time    until a slot is free and the program has ended
  Result<> run(const sys::Context& context, const Container& container, int rank, const LineHandler& on_line = {});

 private:
  class Turn;
  Result<> ensure_image(const sys::Context& context, const std::string& image);

  Runtime runtime_;
  sys::Runner& runner_;
  std::mutex pull_mutex_;         // held while an image is looked up and pulled: one at a time
  std::set<std::string> images_;  // images that are present; guarded by pull_mutex_
  std::mutex mutex_;              // guards the two below
  std::condition_variable_any turn_;
  int free_;
  std::multiset<int> waiting_;
};

}  // namespace slipway::bootstrap
