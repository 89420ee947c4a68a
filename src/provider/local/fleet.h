// The machines of a cluster, in the owner process: creates, finds and removes them, and carries out requests.
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
  // machine_environment must outlive the fleet.
  Fleet(const sys::Context& context, const MachineEnvironment& machine_environment);
  ~Fleet();  // powers off all machines at the same time

  // Loads the machines that an earlier owner created. They are off. errors: as Files; invalid: a broken record
  Result<> load();

  // Carries out all orders except follow, follow_events and end. The answer is that of Order::list for the selected machines.
  //
  //   time    create, start, reboot: at once, or with `wait` until every machine runs or has failed; stop, destroy: until it is
  //           done; if machines are destroyed by name, their disks are removed later
  //   errors  not_found: no such machine; conflict; cancelled; with `wait`: unavailable, with the machines that failed
  Result<Json> carry_out(const sys::Context& context, const Request& request);

  // Passes the console of a machine to `line` until `line` returns false, the machine is removed, or a stop.
  Result<> follow_console(const sys::Context& context, const std::string& name,
                          const std::function<bool(const std::string&)>& line);

  // The address of a machine; empty if the machine is off or does not exist.
  std::string address_of(const std::string& name);

 private:
  using Machines = std::map<std::string, std::unique_ptr<Machine>>;

  // Calls `work` for each selected machine (no names: all) under the lock, so `work` must not block.
  Result<> with_machines(const std::vector<std::string>& names, const std::function<Result<>(Machine&)>& work);
  Result<> request_live_boot(const std::vector<std::string>& names, bool by_reboot);
  Result<> create(const Request& request);
  Result<> create_one(const std::string& name, const Request& request);
  Result<Machine*> add(MachineRecord record);  // the caller holds mutex_
  Result<> destroy(const std::vector<std::string>& names);
  Result<> remove_records(const MachineRecord& record, bool is_last);
  void remove_folders(const std::stop_token& end);
  Result<Json> list(const std::vector<std::string>& names);
  Result<> wait_until_settled(const sys::Context& context, const std::vector<std::string>& names, bool want_running);

  const sys::Context context_;
  const MachineEnvironment& machine_environment_;
  std::mutex mutex_;  // guards machines_, not the machines' own state
  Machines machines_;
  Queue<std::string> folders_to_remove_;  // folders of removed machines
  sys::TaskGroup removal_;                // removes these folders
};

}  // namespace slipway::provider::local
