// The machines of a cluster, in the owner: makes, finds and removes them, and carries requests out.
#pragma once

#include "provider/local/firmware.h"
#include "provider/local/protocol.h"

#include "base/queue.h"
#include "base/result.h"
#include "sys/context.h"
#include "sys/task_group.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace slipway::provider::local {

// Threads: any.
class Fleet {
 public:
  // `ground` outlives the fleet.
  Fleet(const sys::Context& context, const MachineEnvironment& machine_environment);
  ~Fleet();  // powers all machines off, all at once

  // The machines that an owner before us made. They are off, as after a power cut. errors: as Files; invalid: a record
  Result<> load();

  // Everything but Order::follow and Order::end. The answer is what Order::list answers, of the machines that were meant.
  //
  //   time    create, start, reboot: at once, or with `wait` until every machine runs or failed; stop, destroy: until it is done,
  //           but for the disks of machines that are destroyed by name: those are removed afterwards
  //   errors  not_found: no such machine; conflict; cancelled; with `wait`: unavailable, naming the machines that failed
  Result<Json> carry_out(const sys::Context& context, const Request& request);

  // Sends the console of a machine to `line` until it returns false, the machine is gone, or a stop.
  Result<> follow_console(const sys::Context& context, const std::string& name,
                          const std::function<bool(const std::string&)>& line);

  // Where a machine can be reached; empty when it is off or not there.
  std::string address_of(const std::string& name);

 private:
  using Machines = std::map<std::string, std::unique_ptr<Machine>>;

  // Does something, quickly, with each machine that is meant, while none can be removed.
  Result<> with_machines(const std::vector<std::string>& names, const std::function<Result<>(Machine&)>& work);
  Result<> create(const Request& request);
  Result<> create_one(const std::string& name, const Request& request);
  Result<Machine*> add(MachineRecord record);  // called with the lock
  Result<> destroy(const std::vector<std::string>& names);
  Result<> forget(const MachineRecord& record, bool is_last);
  void remove_gone(const std::stop_token& end);
  Result<Json> list(const std::vector<std::string>& names);
  Result<> wait_until_settled(const sys::Context& context, const std::vector<std::string>& names, bool want_running);

  const sys::Context context_;
  const MachineEnvironment& machine_environment_;
  std::mutex mutex_;  // guards machines_, not what happens inside of them
  Machines machines_;
  Queue<std::string> gone_;  // folders of machines that are gone
  sys::TaskGroup removal_;   // of them
};

}  // namespace slipway::provider::local
