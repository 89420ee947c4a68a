#include "provider/local/service.h"

#include "support/test_context.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace slipway::provider::local {
namespace {

// Fails twice because no descriptors are available, then runs until a stop.
class ShortRunner final : public sys::Runner {
 public:
  explicit ShortRunner(std::stop_source& stop) : stop_(stop) {}

  Result<sys::Output> run(const sys::Context&, const sys::Command& command) override {
    if (++calls < 3) return error(Code::unavailable, "starting {}: Too many open files", command.argv.at(0));
    command.on_line(sys::Stream::err, "started, version 2.90");
    stop_.request_stop();
    return error(Code::cancelled, "stopped");
  }

  int calls = 0;

 private:
  std::stop_source& stop_;
};

TEST(Service, WaitsThroughAShortage) {
  testing_support::TestContext context;
  ShortRunner runner(context.stop);
  Service service({.name = "the cluster's name server", .command = {"dnsmasq"}, .is_up = "started"});
  EXPECT_EQ(service.run(context.context(), runner).error().code(), Code::cancelled);
  EXPECT_EQ(runner.calls, 3);
  EXPECT_EQ(context.event_lines(), (std::vector<std::string>{"shortage the cluster's name server failed",
                                                             "shortage the cluster's name server finished"}));
  EXPECT_TRUE(service.wait_until_up(context.context()).ok());
}

TEST(Service, ProgramThatIsNotThereIsNotWaitedFor) {
  class NoProgram final : public sys::Runner {
    Result<sys::Output> run(const sys::Context&, const sys::Command&) override { return error(Code::not_found, "no dnsmasq"); }
  } runner;
  testing_support::TestContext context;
  Service service({.name = "the cluster's name server", .command = {"dnsmasq"}, .is_up = "started"});
  EXPECT_EQ(service.run(context.context(), runner).error().code(), Code::not_found);
  const Result<> up = service.wait_until_up(context.context());
  EXPECT_NE(up.error().message().find("no dnsmasq"), std::string::npos) << up.error().message();
}

}  // namespace
}  // namespace slipway::provider::local
