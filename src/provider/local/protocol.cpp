#include "provider/local/protocol.h"

#include <array>
#include <utility>

namespace slipway::provider::local {

namespace {

constexpr std::array orders = {
    std::pair{Order::create, std::string_view("create")},   std::pair{Order::start, std::string_view("start")},
    std::pair{Order::stop, std::string_view("stop")},       std::pair{Order::reboot, std::string_view("reboot")},
    std::pair{Order::destroy, std::string_view("destroy")}, std::pair{Order::list, std::string_view("list")},
    std::pair{Order::follow, std::string_view("follow")},   std::pair{Order::follow_events, std::string_view("hear")},
    std::pair{Order::end, std::string_view("end")},
};

constexpr std::array codes = {Code::invalid,     Code::not_found, Code::conflict,  Code::denied,
                              Code::unavailable, Code::timeout,   Code::cancelled, Code::internal};

}  // namespace

std::string to_line(const Request& request) {
  JsonObject line;
  for (const auto& [order, name] : orders) {
    if (order == request.order) line["command"] = name;
  }
  JsonArray machines;
  for (const std::string& machine : request.machines) machines.emplace_back(machine);
  line["machines"] = std::move(machines);
  if (request.ignition) line["ignition"] = *request.ignition;
  if (request.wait) line["wait"] = true;
  if (!request.after.empty()) line["after"] = request.after;
  if (request.discovery) line["discovery"] = *request.discovery;
  if (request.boots_live) line["bootsLive"] = true;
  return emit_json(line, JsonStyle::compact);
}

Result<Request> parse_request(std::string_view line) {
  const Json document = TRY(parse_json(line, "request"));
  const std::string command = TRY(require_string(document, {"command"}).context("request"));
  Request request;
  bool known = false;
  for (const auto& [order, name] : orders) {
    if (name != command) continue;
    request.order = order;
    known = true;
  }
  if (!known)
    return error(Code::invalid, "request: unknown command '{}' (is the owner process from another version of slipway?)", command);
  for (const Json& machine : find_array(document, {"machines"})) {
    if (!machine.is_string()) return error(Code::invalid, "request: machines must be names");
    request.machines.emplace_back(std::string_view(machine.get_string()));
  }
  if (const auto ignition = find_string(document, {"ignition"})) request.ignition = std::string(*ignition);
  request.wait = is_true(document, {"wait"});
  request.after = find_string(document, {"after"}).value_or("");
  if (const auto discovery = find_string(document, {"discovery"})) request.discovery = std::string(*discovery);
  request.boots_live = is_true(document, {"bootsLive"});
  return request;
}

Json to_json(const MachineStatus& machine) {
  JsonObject value = {{"name", machine.name}, {"state", to_string(machine.state)}, {"address", machine.address}};
  if (!machine.reason.empty()) value["reason"] = machine.reason;
  if (!machine.deployment.empty()) value["deployment"] = machine.deployment;
  value["boots"] = machine.boots;
  if (machine.leader != 0) value["leader"] = machine.leader;
  if (machine.is_live) value["live"] = true;
  return value;
}

Result<MachineStatus> parse_machine_status(const Json& value) {
  MachineStatus machine;
  machine.name = TRY(require_string(value, {"name"}));
  machine.address = TRY(require_string(value, {"address"}));
  const std::string state = TRY(require_string(value, {"state"}));
  bool known = false;
  for (State candidate : all_states) {
    if (to_string(candidate) != state) continue;
    machine.state = candidate;
    known = true;
  }
  if (!known) return error(Code::invalid, "unknown machine state '{}'", state);
  machine.reason = find_string(value, {"reason"}).value_or("");
  machine.deployment = find_string(value, {"deployment"}).value_or("");
  machine.boots = integer_of(value, {"boots"});
  machine.leader = integer_of(value, {"leader"});
  machine.is_live = is_true(value, {"live"});
  return machine;
}

std::string to_line(const Answer& answer) {
  struct {
    Json operator()(const EventLine& event) const {
      const Result<Json> value = parse_json(event.line, "event");
      return {{"event", value.ok() ? value.value() : Json(nullptr)}};
    }
    Json operator()(const ConsoleLine& console) const { return {{"console", console.text}}; }
    Json operator()(const Json& result) const { return {{"result", result}}; }
    Json operator()(const Error& failure) const {
      return {{"error", {{"code", to_string(failure.code())}, {"message", failure.message()}}}};
    }
  } write;
  return emit_json(std::visit(write, answer), JsonStyle::compact);
}

Result<Answer> parse_answer(std::string_view line) {
  const Json document = TRY(parse_json(line, "answer"));
  if (const Json* event = find(document, {"event"})) return Answer(EventLine{emit_json(*event, JsonStyle::compact)});
  if (const auto text = find_string(document, {"console"})) return Answer(ConsoleLine{std::string(*text)});
  if (const Json* result = find(document, {"result"})) return Answer(*result);
  const auto code = find_string(document, {"error", "code"}), message = find_string(document, {"error", "message"});
  if (!code || !message) return error(Code::invalid, "answer: neither event, console, result nor error");
  for (Code candidate : codes) {
    if (to_string(candidate) == *code) return Answer(Error(candidate, std::string(*message)));
  }
  return Answer(Error(Code::internal, std::string(*message)));
}

}  // namespace slipway::provider::local
