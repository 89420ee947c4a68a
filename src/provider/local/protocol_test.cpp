#include "provider/local/protocol.h"

#include <gtest/gtest.h>

namespace slipway::provider::local {
namespace {

TEST(Protocol, RequestsReadBack) {
  const Request rows[] = {
      {.order = Order::create, .machines = {"m0", "m1"}, .ignition = "{\"a\": \"\\n\"}", .wait = true},
      {.order = Order::create, .machines = {"w0"}, .after = "bootstrap"},
      {.order = Order::create, .machines = {"h0"}, .discovery = "{}"},
      {.order = Order::reboot, .machines = {"h0"}, .boots_live = true},
      {.order = Order::list},
      {.order = Order::follow, .machines = {"m0"}},
      {.order = Order::follow_events},
      {.order = Order::end},
  };
  for (const Request& request : rows) {
    const std::string line = to_line(request);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(parse_request(line).value(), request) << line;
  }
  EXPECT_EQ(parse_request("{\"command\":\"fly\"}").error().message(),
            "request: unknown command 'fly' (is the owner process from another version of slipway?)");
}

TEST(Protocol, MachinesReadBack) {
  const MachineStatus machine{"m0", State::ignition_failed, "no", "10.97.77.10", "abc.0", 2, 71, true};
  EXPECT_EQ(parse_machine_status(to_json(machine)).value(), machine);
  EXPECT_EQ(parse_machine_status({{"name", "m0"}, {"address", ""}, {"state", "asleep"}}).error().message(),
            "unknown machine state 'asleep'");
}

TEST(Protocol, AnswersReadBack) {
  EXPECT_EQ(std::get<ConsoleLine>(parse_answer(to_line(Answer(ConsoleLine{"login: \x1b[0m"}))).value()).text, "login: \x1b[0m");
  EXPECT_EQ(std::get<EventLine>(parse_answer(to_line(Answer(EventLine{"{\"kind\":\"boot\"}"}))).value()).line,
            "{\"kind\":\"boot\"}");
  EXPECT_EQ(std::get<Json>(parse_answer(to_line(Answer(Json{{"machines", JsonArray()}}))).value()),
            (Json{{"machines", JsonArray()}}));
  const Answer failed = parse_answer(to_line(Answer(error(Code::conflict, "taken")))).value();
  EXPECT_EQ(std::get<Error>(failed).code(), Code::conflict);
  EXPECT_EQ(std::get<Error>(failed).message(), "taken");
  EXPECT_FALSE(parse_answer("{}").ok());
}

}  // namespace
}  // namespace slipway::provider::local
