// Core: the one thread that changes anything. It takes commands, applies them to the records, looks again at what they touched,
// writes everything in one transaction, and only then answers. Commands that wait are written together.
//
//   Result<> done = core.run([&](Edit& edit) -> Result<> { ... edit.put(record); edit.touch_cluster(id); return Ok{}; });
#pragma once

#include "base/guarded.h"
#include "service/installation.h"
#include "service/refresh.h"
#include "service/store.h"
#include "sys/context.h"

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace slipway::service {

struct CoreOptions {
  bool stops_at_limits = false;
};

// Threads: any.
class Core {
 public:
  using Command = std::function<Result<>(Edit& edit)>;

  // What others hear of: called on the core's thread after the changes are on the disk. Must not block.
  struct Listener {
    std::function<void(const std::vector<EventRecord>& events)> on_events{};
    std::function<void(const std::set<std::pair<Kind, std::string>>& changed)> on_changes{};
  };

  static Result<std::unique_ptr<Core>> start(const sys::Context& context, Store store, Installation& installation,
                                             CoreOptions options, Listener listener);
  ~Core();

  // Runs the command on the core's thread. When this returns successfully, its changes are on the disk. A command that fails
  // changes nothing. errors: those of the command; unavailable: the disk is full, the service ends
  Result<> run(const Command& command);

  // A look at the records that are on the disk. The function must only copy pointers.
  template <class Function>
  auto look(Function&& function) const {
    return published_.with_lock([&](const World& world) { return function(world); });
  }

  // The agent of the host was heard of. Not written until the host changes: after a restart of the service, all hosts count as
  // heard of at that time.
  void note_contact(const std::string& key);

  // When that was. By the time that has passed since: a clock that is set makes no host lost, and none found.
  WallTime contact_of(const HostRecord& record) const;

  WallTime now() const { return context_.clock.now(); }

  // Blocks on the disk.
  Result<EventPage> events(const EventQuery& query);
  Result<std::optional<std::string>> file(const std::string& owner, const std::string& name);
  Result<std::map<std::string, std::string>> files(const std::string& owner);  // contents by name

 private:
  struct Waiting {
    Command command;
    std::promise<Result<>> promise;
  };
  struct Contact {
    SteadyTime steady{};
    WallTime wall{};  // by the clock of that time
  };
  struct Limits {
    std::map<std::string, WallTime> clusters, hosts;
  };

  Core(const sys::Context& context, Store store, World world, Installation& installation, CoreOptions options, Listener listener);
  void run_loop(const std::stop_token& stop);
  void run_batch(std::vector<Waiting> batch);
  void refresh(Edit& edit);
  Contact contact_now() const { return {context_.clock.steady(), context_.clock.now()}; }
  void forget_removed(const Edit& edit);
  void mark_passed_limits(Edit& edit);
  void update_limits(const Edit& edit, const std::set<std::string>& clusters, const std::set<std::string>& hosts);
  SteadyTime next_wake() const;
  void start_preparations();
  void prepare(const std::string& cluster, const std::stop_token& stop);

  sys::Context context_;
  Guarded<Store> store_;
  World world_;  // with changes that are not on the disk yet; the core's thread only
  Guarded<World> published_;
  Installation& installation_;
  CoreOptions options_;
  Listener listener_;
  Guarded<std::map<std::string, Contact>> contacts_;  // by host; the hosts of the database since the start
  Guarded<std::vector<Waiting>> waiting_;
  Guarded<bool> is_closed_{false};
  sys::Wakeup wakeup_;
  RefreshSettings settings_;
  Limits limits_;
  std::map<std::string, std::jthread> preparations_;  // by cluster; the core's thread only
  Guarded<std::set<std::string>> ended_preparations_;
  std::jthread thread_;
};

}  // namespace slipway::service
