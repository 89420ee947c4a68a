#include "sys/exec.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>
#include <csignal>

namespace slipway::sys {
namespace {

TEST(BecomeProgram, HasItsArgumentsAndStatus) {
  EXPECT_EXIT((void)become_program({"sh", "-c", "echo \"$0 $1\" >&2; exit 7", "two words", ""}), testing::ExitedWithCode(7),
              "^two words \n$");
}

TEST(BecomeProgram, HandsOnNeitherSignalsNorDescriptors) {
  EXPECT_EXIT(
      {
        std::signal(SIGTERM, SIG_IGN);
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        ::sigprocmask(SIG_BLOCK, &set, nullptr);
        ::dup2(::open("/dev/null", O_RDONLY), 9);
        (void)become_program({"sh", "-c", "test ! -e /proc/self/fd/9 && kill $$; exit 1"});
      },
      testing::KilledBySignal(SIGTERM), "");
}

TEST(BecomeProgram, ReturnsWhenThereIsNone) {
  const Error failure = become_program({"/no/such/program"});
  EXPECT_EQ(failure.code(), Code::not_found);
  EXPECT_EQ(failure.message(), "starting /no/such/program: No such file or directory");
}

}  // namespace
}  // namespace slipway::sys
