#include "provider/local/spawn.h"

#include "sys/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace slipway::provider::local {
namespace {

struct Pipe {
  sys::Fd read, write;
};

Pipe make_pipe(int flags) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe2(ends, flags), 0);
  return {sys::Fd(ends[0]), sys::Fd(ends[1])};
}

TEST(Spawn, WhatOutlivesUsKeepsNothingOpenThatWeWereGiven) {
  Pipe input = make_pipe(O_CLOEXEC), inherited = make_pipe(0);
  const Result<pid_t> pid = spawn({.argv = {"cat"}, .descriptors = {{input.read.get(), 0}}, .new_session = true});
  ASSERT_TRUE(pid.ok()) << pid.error().message();
  inherited.write.reset();
  pollfd end{.fd = inherited.read.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&end, 1, 10'000), 1) << "somebody has the other end while cat waits";
  input.write.reset();
  EXPECT_EQ(::waitpid(pid.value(), nullptr, 0), pid.value());
}

}  // namespace
}  // namespace slipway::provider::local
