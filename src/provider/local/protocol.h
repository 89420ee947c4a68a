// What is said between commands and the owner of a cluster, one JSON object a line over a stream socket:
//
//   > {"command":"create","machines":["m0","m1"],"ignition":"{...}","wait":true}
//   < {"event":{"time":"...","kind":"boot","name":"m0","phase":"finished","duration_ms":280}}
//   < {"result":{"machines":[...]}}                  or {"error":{"code":"conflict","message":"..."}}
//
// A connection carries one request. Events that happen meanwhile come before the answer, which is the last line.
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
  create,  // makes the machines that are not there, and switches all of them on
  start,
  stop,  // powers off, in order
  reboot,
  destroy,  // pulls the plug and removes the disks
  list,     // answers at once
  follow,   // answers with the console of one machine, line by line, and never ends
  hear,     // answers with what happens to all machines from now on, and never ends
  end,      // powers all machines off and ends the owner
};

struct Request {
  Order order = Order::list;
  std::vector<std::string> machines{};    // those that are meant; none means all
  std::optional<std::string> ignition{};  // of create: the text of the config for each of them
  bool wait = false;                      // of create, start and reboot: answer when they run, or failed
  std::string after{};                    // of create: a machine; Ignition runs and they boot when it is gone

  bool operator==(const Request&) const = default;
};

std::string to_line(const Request& request);
Result<Request> parse_request(std::string_view line);  // errors: invalid

// One machine in a list.
struct MachineStatus {
  std::string name;
  State state = State::created;
  std::string reason{};  // of failed and ignition_failed; of preparing and igniting: what for it waits
  std::string address{};
  std::string deployment{};  // "8de0...14.1", booted or booted last; empty before the first boot
  int boots = 0;             // since its owner was started
  int leader = 0;            // its init, as the owner numbers processes; 0 when it is off

  bool operator==(const MachineStatus&) const = default;
};

Json to_json(const MachineStatus& machine);
Result<MachineStatus> parse_machine_status(const Json& value);  // errors: invalid

// One line of an answer.
struct EventLine {
  std::string line;
};  // as sys::parse_event reads it
struct ConsoleLine {
  std::string text;
};  // without the line end
using Answer = std::variant<EventLine, ConsoleLine, Json, Error>;

std::string to_line(const Answer& answer);
Result<Answer> parse_answer(std::string_view line);  // errors: invalid

}  // namespace slipway::provider::local
