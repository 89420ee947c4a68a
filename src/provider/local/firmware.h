// The firmware of one machine: all steps from power-on to power-off.
//
//   switched on ─► disk, once ─► Ignition, once ─► boot entry ─► network, cgroups ─► init runs ─► off
//                                                      ▲                                │ restart (133), or a failed attempt
//                                                      └────────────────────────────────┘ to boot a new deployment
//
// A blank machine without an installation boots a live system: its disk is made in memory, again for each boot (blank.h).
//
// The boot entry is the newest one, unless the attempts to boot it are used up (boot_counter.h).
#pragma once

#include "provider/local/blank.h"
#include "provider/local/boot_counter.h"
#include "provider/local/boot_entry.h"
#include "provider/local/cgroups.h"
#include "provider/local/cluster_config.h"
#include "provider/local/console.h"
#include "provider/local/disk.h"
#include "provider/local/layout.h"
#include "provider/local/machine_state.h"
#include "provider/local/nspawn.h"
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

// Shared by all machines of a cluster. The owner creates it; it must outlive the machines.
struct MachineEnvironment {
  sys::Files& files;
  sys::Runner& runner;
  sys::Random& random;
  ClusterConfig config;
  ClusterPaths paths;
  std::vector<Hierarchy> hierarchies;
  std::string run_folder;  // in the private /run of the owner
  std::string domain;      // of the machines' names
  std::vector<std::string> devices;
  sys::Wakeup& changed;    // notified when a machine's state changes
  Queue<int>& disk_turns;  // one token for each disk that may be created at the same time, so that the first machine boots early
};

// Threads: any. A machine has its own thread; the calls below do not block.
class Machine {
 public:
  // Creates a machine that is off. Events: "machine NAME" with the state, "boot NAME" from the start of init until it is ready.
  Machine(const sys::Context& context, const MachineEnvironment& machine_environment, MachineRecord record);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine();  // shuts the machine down, unless cut_power() was called, and waits until it is off

  // Starts the machine's thread. Call it once, before all other calls. errors: unavailable: no thread is available
  Result<> begin();

  Result<> switch_on();  // does nothing if the machine is on
  Result<> stop();       // does nothing if the machine is off
  Result<> reboot();     // errors: conflict: the machine does not run

  // Whether the next boot can be from the discovery image: one by reboot(), or one by switch_on().
  //
  //   errors  invalid: the machine is not blank; conflict: reboot() or switch_on() would boot nothing now
  Result<> check_live_boot(bool by_reboot) const;

  // The next boot is from the discovery image. errors: as Files
  Result<> boot_live_once();

  // Powers off without a shutdown, for machines whose disk is removed next.
  void cut_power();

  // Whether Ignition has finished. Then the config cannot be changed any more.
  bool has_run_ignition() const;

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
    bool is_power_cut = false;
    bool is_live = false;      // of the current or last boot
    std::stop_source power{};  // requests the power-off; a new one for each power-on
  };

  std::string disk_stage() const { return record_.name + "-disk"; }
  std::string ignition_stage() const { return record_.name + "-ignition"; }
  std::string turn_stage() const { return record_.name + "-turn"; }

  struct PreparedBoot {
    NspawnInput input;
    bool is_attempt = false;  // to boot a new deployment
  };

  struct BootEnd {
    int status = 0;                  // of systemd-nspawn
    bool is_failed_attempt = false;  // to boot a new deployment, so the machine starts again
  };

  bool apply_event(MachineEvent event, std::string reason = {});
  void run(std::stop_token end);
  void run_until_off(const sys::Context& context);
  Result<> prepare(const sys::Context& context);
  Result<> choose_boot_source();  // of a blank machine
  Result<> run_stages(const sys::Context& context);
  // Where the disk is that is booted: of the machine, or in the memory of a live system.
  MachinePaths disk_paths() const;
  std::string config() const;  // the file with its Ignition config
  Result<> make_new_disk(const sys::Context& context);
  Result<> make_disk_in_turn(const sys::Context& context);
  Result<std::string> use_disk();  // mounts the disk if necessary; returns the mount point
  Result<> ignite(const sys::Context& context);
  Result<> wait_for_removal(const sys::Context& context);          // until the machine record_.after is removed
  Result<BootEnd> boot(const sys::Context& context);               // until the machine is off
  Result<PreparedBoot> prepare_boot(const sys::Context& context);  // boot entry, network, cgroups and mount points
  // Decides what to boot, and counts the boot if it is an attempt to boot a new deployment.
  Result<BootDecision> count_boot(const std::string& disk);
  bool counts_attempts(const std::string& disk);  // whether a boot of the newest deployment is an attempt
  Result<sys::Output> run_init(const sys::Context& context, const NspawnInput& input, const std::function<void()>& ready);
  Result<> clean_up_boot();  // kills remaining processes and removes the cgroups
  void handle_notification(const std::string& message, const std::function<void()>& ready);
  void set_wait_reason(std::string reason);  // sets the reason that status() reports; empty: not waiting

  const sys::Context context_;
  const MachineEnvironment& machine_environment_;
  const MachineRecord record_;
  const MachinePaths paths_;
  Console console_;
  BootSource source_ = BootSource::installation;
  std::optional<LiveMemory> memory_;  // of a live system
  std::optional<MountedDisk> disk_;
  Guarded<Condition> condition_;
  Queue<bool> switched_on_;
  std::jthread thread_;  // the last member, because the thread uses all others
};

}  // namespace slipway::provider::local
