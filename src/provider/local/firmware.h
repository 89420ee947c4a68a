// The firmware of one machine: everything from the moment it is switched on to the moment it is off.
//
//   switched on ─► disk, once ─► Ignition, once ─► newest boot entry ─► network, cgroups ─► init runs ─► off
//                                                          ▲                                  │ restart (133)
//                                                          └──────────────────────────────────┘
#pragma once

#include "provider/local/boot_entry.h"
#include "provider/local/cgroups.h"
#include "provider/local/cluster_config.h"
#include "provider/local/console.h"
#include "provider/local/disk.h"
#include "provider/local/layout.h"
#include "provider/local/machine_state.h"
#include "provider/local/protocol.h"

#include "base/guarded.h"
#include "base/queue.h"
#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/random.h"
#include "sys/runner.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace slipway::provider::local {

// What all machines of a cluster share; made by the owner, lives longer than they do.
struct MachineEnvironment {
  sys::Files& files;
  sys::Runner& runner;
  sys::Random& random;
  ClusterConfig config;
  ClusterPaths paths;
  std::vector<Hierarchy> hierarchies;
  std::string run_folder;  // private to the owner, gone with it
  std::string domain;      // of names in the cluster
  std::vector<std::string> devices;
  sys::Wakeup& changed;    // notified when a machine's state changes
  Queue<int>& disk_turns;  // as many disks are made at once: the first machine boots while those of the others are made
};

// Threads: any. Its work is done on a thread of its own; the calls below return at once.
class Machine {
 public:
  // A machine that is off. Events: "machine NAME" with the state, "boot NAME" from switching init on to its being ready.
  Machine(const sys::Context& context, const MachineEnvironment& machine_environment, MachineRecord record);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine();  // powers it off, in order unless the plug was pulled, and waits for that

  // Starts its thread; called once, before anything below. errors: unavailable: threads are short
  Result<> begin();

  // errors of all: conflict: "m0 is stopped, and cannot ..."
  Result<> switch_on();  // fine when it is on
  Result<> stop();       // fine when it is off
  Result<> reboot();

  // Off at once, as by a power cut; for machines whose disk goes next.
  void pull_plug();

  // Whether Ignition was through: its config cannot be changed any more.
  bool has_ignited() const;

  MachineStatus status() const;
  const MachineRecord& record() const { return record_; }
  Console& console() { return console_; }

 private:
  struct Condition {
    State state = State::created;
    std::string reason;
    Deployment deployment;
    int boots = 0;
    int leader = 0;
    bool unplugged = false;
    std::stop_source power{};  // of the time since it was switched on
  };

  std::string disk_stage() const { return record_.name + "-disk"; }
  std::string ignition_stage() const { return record_.name + "-ignition"; }
  std::string turn_stage() const { return record_.name + "-turn"; }

  bool happened(MachineEvent event, std::string reason = {});
  void run(std::stop_token end);
  void be_on(const sys::Context& context);
  Result<> prepare(const sys::Context& context);
  Result<> make_new_disk(const sys::Context& context);
  Result<> make_disk_in_turn(const sys::Context& context);
  Result<std::string> use_disk();  // mounts it, if it is not; where it is
  Result<> ignite(const sys::Context& context);
  Result<> wait_for_end(const sys::Context& context);  // of the machine that this one comes after
  Result<int> boot(const sys::Context& context);       // until it is off; the exit status
  void hear(const std::string& message, const std::function<void()>& ready);
  void waits(std::string reason);  // empty: not any more

  const sys::Context context_;
  const MachineEnvironment& machine_environment_;
  const MachineRecord record_;
  const MachinePaths paths_;
  Console console_;
  std::optional<MountedDisk> disk_;
  Guarded<Condition> condition_;
  Queue<bool> switched_on_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace slipway::provider::local
