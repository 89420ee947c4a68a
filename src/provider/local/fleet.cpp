#include "provider/local/fleet.h"

#include "provider/local/disk.h"
#include "provider/local/name_server.h"
#include "provider/local/network.h"

#include "base/text.h"
#include "sys/wait_for.h"

#include <algorithm>

namespace slipway::provider::local {

namespace {

// Time to create a disk, run Ignition and boot. Ignition itself has no timeout: it retries until the server answers.
constexpr Milliseconds start_timeout = Seconds(900);
constexpr Milliseconds stop_timeout = Seconds(150);

}  // namespace

Fleet::Fleet(const sys::Context& context, const MachineEnvironment& machine_environment)
    : context_(context), machine_environment_(machine_environment), removal_(context) {
  removal_.run("removing disks", [this](const sys::Context& c) -> Result<> {
    remove_folders(c.stop);
    return Ok{};
  });
}

Fleet::~Fleet() {
  std::lock_guard lock(mutex_);
  for (auto& [name, machine] : machines_) (void)machine->stop();
  machines_.clear();  // waits for each machine; all of them power off at the same time
}

Result<> Fleet::load() {
  if (!TRY(machine_environment_.files.info(machine_environment_.paths.machines()))) return Ok{};
  for (const std::string& name : TRY(machine_environment_.files.list(machine_environment_.paths.machines()))) {
    const std::string path = machine_environment_.paths.machine(name).record();
    const auto text = TRY(machine_environment_.files.read_if_exists(path));
    if (!text) {
      // The owner was killed while it created or removed the machine, so no client was told that the machine exists.
      TRY(remove_tree(machine_environment_.files, machine_environment_.paths.machine(name).folder));
      continue;
    }
    MachineRecord record = TRY(parse_machine_record(*text, path));
    if (record.name != name) return error(Code::invalid, "{}: belongs to machine {}", path, record.name);
    std::lock_guard lock(mutex_);
    TRY(add(std::move(record)));
  }
  return Ok{};
}

Result<Json> Fleet::carry_out(const sys::Context& context, const Request& request) {
  const std::vector<std::string>& names = request.machines;
  switch (request.order) {
    case Order::create:
      TRY(create(request));
      if (request.wait) TRY(wait_until_settled(context, names, true));
      break;
    case Order::start:
      if (request.boots_live) TRY(request_live_boot(names, false));
      TRY(with_machines(names, [](Machine& machine) { return machine.switch_on(); }));
      if (request.wait) TRY(wait_until_settled(context, names, true));
      break;
    case Order::reboot:
      if (request.boots_live) TRY(request_live_boot(names, true));
      TRY(with_machines(names, [](Machine& machine) { return machine.reboot(); }));
      if (request.wait) TRY(wait_until_settled(context, names, true));
      break;
    case Order::stop:
      TRY(with_machines(names, [](Machine& machine) { return machine.stop(); }));
      TRY(wait_until_settled(context, names, false));
      break;
    case Order::destroy: TRY(destroy(names)); return list({});
    case Order::list:
    case Order::follow:
    case Order::follow_events:
    case Order::end: break;
  }
  return list(names);
}

Result<> Fleet::with_machines(const std::vector<std::string>& names, const std::function<Result<>(Machine&)>& work) {
  std::lock_guard lock(mutex_);
  for (const std::string& name : names) {
    if (!machines_.contains(name))
      return error(Code::not_found, "machine {}: not found in cluster {}", name, machine_environment_.config.name);
  }
  for (auto& [name, machine] : machines_) {
    const bool is_selected = names.empty() || std::find(names.begin(), names.end(), name) != names.end();
    if (is_selected) TRY(work(*machine));
  }
  return Ok{};
}

// Checks all machines first: a request that stayed behind would take effect at some later boot.
Result<> Fleet::request_live_boot(const std::vector<std::string>& names, bool by_reboot) {
  TRY(with_machines(names, [&](Machine& machine) { return machine.check_live_boot(by_reboot); }));
  return with_machines(names, [](Machine& machine) { return machine.boot_live_once(); });
}

Result<> Fleet::create(const Request& request) {
  for (const std::string& name : request.machines) TRY(check_name("machine", name));
  if (!request.after.empty()) TRY(check_name("machine", request.after));
  std::lock_guard lock(mutex_);
  for (const std::string& name : request.machines) TRY(create_one(name, request));
  return Ok{};
}

Result<> Fleet::create_one(const std::string& name, const Request& request) {
  const std::optional<std::string>& ignition = request.ignition;
  const MachinePaths paths = machine_environment_.paths.machine(name);
  if (auto found = machines_.find(name); found != machines_.end()) {
    // A repeated command continues. A blank machine uses a new discovery image at its next live boot.
    if (found->second->record().is_blank != request.discovery.has_value())
      return error(Code::conflict, "machine {}: already exists, {} an empty disk (destroy it first, or choose another name)",
                   name, request.discovery ? "without" : "with");
    if (request.discovery) {
      TRY(machine_environment_.files.write(paths.discovery(), *request.discovery, 0600));
      return found->second->switch_on();
    }
    // Until Ignition has finished, the config may be changed.
    const auto before = TRY(machine_environment_.files.read_if_exists(paths.ignition()));
    if (before != ignition) {
      if (found->second->has_run_ignition() || is_on(found->second->status().state) || !before || !ignition) {
        return error(Code::conflict,
                     "machine {}: already exists with another Ignition config (destroy it first, or choose another name)", name);
      }
      TRY(machine_environment_.files.write(paths.ignition(), *ignition, 0600));
    }
    return found->second->switch_on();
  }
  std::vector<int> taken;
  // The first number of an installed cluster stays that of the bootstrap machine, so that a master that is made again gets its
  // address back.
  if (!machine_environment_.config.release.empty() && name != "bootstrap") taken.push_back(0);
  for (const auto& [other, machine] : machines_) taken.push_back(machine->record().number);
  const int number = TRY(free_number(machine_environment_.config.network, taken));
  const std::string uuid = TRY(sys::random_hex(machine_environment_.random, 32));
  MachineRecord record{name, number, uuid, request.after, request.discovery.has_value()};
  TRY(machine_environment_.files.make_directories(paths.folder, 0700));
  if (request.discovery) {
    TRY(machine_environment_.files.write(paths.discovery(), *request.discovery, 0600));
    TRY(make_empty_disk(machine_environment_.files, paths));
  }
  if (ignition) TRY(machine_environment_.files.write(paths.ignition(), *ignition, 0600));
  TRY(machine_environment_.files.write(paths.record(), to_text(record), 0600));
  return TRY(add(std::move(record)))->switch_on();
}

Result<Machine*> Fleet::add(MachineRecord record) {
  const std::string name = record.name, address = machine_environment_.config.network.address(record.number);
  TRY(machine_environment_.files.write(fmt::format("{}/hosts/{}", machine_environment_.run_folder, name),
                                       hosts_entry(address, name, machine_environment_.domain), 0644));
  auto machine = std::make_unique<Machine>(context_, machine_environment_, std::move(record));
  TRY(machine->begin());
  return machines_.emplace(name, std::move(machine)).first->second.get();
}

Result<> Fleet::destroy(const std::vector<std::string>& names) {
  TRY(with_machines(names, [](Machine& machine) -> Result<> {
    machine.cut_power();
    return Ok{};
  }));
  std::vector<std::unique_ptr<Machine>> removed_machines;
  {
    std::lock_guard lock(mutex_);
    for (auto machine = machines_.begin(); machine != machines_.end();) {
      const bool is_selected = names.empty() || std::find(names.begin(), names.end(), machine->first) != names.end();
      if (is_selected) removed_machines.push_back(std::move(machine->second));
      machine = is_selected ? machines_.erase(machine) : std::next(machine);
    }
  }
  for (std::unique_ptr<Machine>& machine : removed_machines) {
    const MachineRecord record = machine->record();
    machine.reset();
    TRY(remove_records(record, names.empty()));
  }
  machine_environment_.changed.notify();
  return Ok{};
}

// Removes the record and network of a machine. The files of its disk are removed later by remove_folders(), so that the caller
// does not wait for that; if the machine is the last one, they are removed here.
Result<> Fleet::remove_records(const MachineRecord& record, bool is_last) {
  const std::string folder = machine_environment_.paths.machine(record.name).folder;
  const std::string new_folder = machine_environment_.paths.machine(".gone-" + record.uuid).folder;
  // If the owner is killed after this, the next owner removes the folder, because it has no record.
  TRY(machine_environment_.files.remove(machine_environment_.paths.machine(record.name).record()));
  TRY(remove_machine_network(context_.with_stop({}), machine_environment_.runner, record));
  TRY(machine_environment_.files.remove(fmt::format("{}/hosts/{}", machine_environment_.run_folder, record.name)));
  if (is_last) return remove_tree(machine_environment_.files, folder);
  TRY(machine_environment_.files.rename(folder, new_folder));
  folders_to_remove_.push(new_folder);
  return Ok{};
}

void Fleet::remove_folders(const std::stop_token& end) {
  while (const std::optional<std::string> folder = folders_to_remove_.pop(end)) {
    const Result<> removed = remove_tree(machine_environment_.files, *folder);
    if (!removed.ok()) context_.log.warn("removing the disk of a destroyed machine: {}", removed.error().message());
  }
}

Result<Json> Fleet::list(const std::vector<std::string>& names) {
  JsonArray machines;
  TRY(with_machines(names, [&](Machine& machine) -> Result<> {
    machines.push_back(to_json(machine.status()));
    return Ok{};
  }));
  return Json{{"machines", std::move(machines)}};
}

Result<> Fleet::wait_until_settled(const sys::Context& context, const std::vector<std::string>& names, bool want_running) {
  std::vector<std::string> failed;
  auto observe = [&]() -> Result<sys::Observation> {
    std::vector<std::string> busy;
    failed.clear();
    TRY(with_machines(names, [&](Machine& machine) -> Result<> {
      const MachineStatus now = machine.status();
      const bool done = want_running ? is_settled(now.state) : !is_on(now.state);
      if (!done) busy.push_back(fmt::format("{} is {}", now.name, to_string(now.state)));
      if (done && want_running && now.state != State::running) {
        failed.push_back(fmt::format("{} {}{}{}", now.name, to_string(now.state), now.reason.empty() ? "" : ": ", now.reason));
      }
      return Ok{};
    }));
    return busy.empty() ? sys::Observation::done() : sys::Observation::not_yet("{}", join(busy, ", "));
  };
  const std::string what = want_running ? "machines to run" : "machines to power off";
  TRY(sys::wait_for(context, what, want_running ? start_timeout : stop_timeout, observe, &machine_environment_.changed));
  if (failed.empty()) return Ok{};
  return error(Code::unavailable, "{}", join(failed, "\n"));
}

Result<> Fleet::follow_console(const sys::Context& context, const std::string& name,
                               const std::function<bool(const std::string&)>& line) {
  std::shared_ptr<Console::Follower> follower;
  TRY(with_machines({name}, [&](Machine& machine) -> Result<> {
    follower = TRY(machine.console().follow());
    return Ok{};
  }));
  while (auto next = follower->pop(context.stop)) {
    if (!*next || !line(**next)) break;  // the machine was removed, or the client has disconnected
  }
  return Ok{};
}

std::string Fleet::address_of(const std::string& name) {
  std::lock_guard lock(mutex_);
  const auto found = machines_.find(name);
  if (found == machines_.end() || !is_on(found->second->status().state)) return {};
  return found->second->status().address;
}

}  // namespace slipway::provider::local
