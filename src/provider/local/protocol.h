// The protocol between commands and the owner of a cluster: one JSON object on each line, over a stream socket.
//
//   > {"command":"create","machines":["m0","m1"],"ignition":"{...}","wait":true}
//   < {"event":{"time":"...","kind":"boot","name":"m0","phase":"finished","duration_ms":280}}
//   < {"result":{"machines":[...]}}                  or {"error":{"code":"conflict","message":"..."}}
//
// A connection carries one request. Events during the request come before the answer. The answer is the last line.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "provider/local/machine_state.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace slipway::provider::local {

enum class Order {
  create,  // creates missing machines and switches all of the given machines on
  start,
  stop,  // shuts down and powers off
  reboot,
  destroy,        // powers off without a shutdown and removes the disks
  list,           // answers at once
  follow,         // streams the console lines of one machine until the machine is removed
  follow_events,  // streams new events of all machines until the client disconnects
  end,            // powers off all machines and ends the owner
};

struct Request {
  Order order = Order::list;
  std::vector<std::string> machines{};     // names; empty: all machines
  std::optional<std::string> ignition{};   // for create: text of the config for each machine
  bool wait = false;                       // for create, start and reboot: answer when all machines run or have failed
  std::string after{};                     // for create: Ignition and boot wait until the machine with this name is removed
  std::optional<std::string> discovery{};  // for create: blank machines with this config of a discovery image (blank.h)
  bool boots_live = false;                 // for start and reboot: blank machines boot the discovery image, once

  bool operator==(const Request&) const = default;
};

std::string to_line(const Request& request);
Result<Request> parse_request(std::string_view line);  // errors: invalid

// One machine in a list.
struct MachineStatus {
  std::string name;
  State state = State::created;
  std::string reason{};  // for failed and ignition_failed: the failure; for preparing and igniting: what the machine waits for
  std::string address{};
  std::string deployment{};  // of the current or last boot, "8de0...14.1"; empty before the first boot
  int boots = 0;             // since the owner started
  int leader = 0;            // process ID of init in the owner's namespace; 0 if the machine is off
  bool is_live = false;      // the current or last boot was that of a live system

  bool operator==(const MachineStatus&) const = default;
};

Json to_json(const MachineStatus& machine);
Result<MachineStatus> parse_machine_status(const Json& value);  // errors: invalid

// One line of an answer.
struct EventLine {
  std::string line;  // as for sys::parse_event
};
struct ConsoleLine {
  std::string text;  // without the line end
};
using Answer = std::variant<EventLine, ConsoleLine, Json, Error>;

std::string to_line(const Answer& answer);
Result<Answer> parse_answer(std::string_view line);  // errors: invalid

}  // namespace slipway::provider::local
