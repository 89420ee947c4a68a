// OneAddress: a machine with the address 10.97.77.10 that also holds the virtual address of the API.
#pragma once

#include "sys/runner.h"

namespace slipway::testing_support {

class OneAddress final : public sys::Runner {
 public:
  Result<sys::Output> run(const sys::Context&, const sys::Command& command) override {
    if (command.argv != std::vector<std::string>{"ip", "-json", "address"}) return error(Code::not_found, "{}", command.argv[0]);
    return sys::Output{.status = 0,
                       .out = R"([{"ifname":"host0","flags":["UP"],"addr_info":[)"
                              R"({"local":"10.97.77.5","prefixlen":32,"scope":"global"},)"
                              R"({"local":"10.97.77.10","prefixlen":24,"scope":"global"}]}])",
                       .err = ""};
  }
};

}  // namespace slipway::testing_support
