#include "components/etcd/first_start.h"

#include "net/curl_http.h"
#include "support/seeded_random.h"
#include "support/test_context.h"
#include "sys/runner.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

namespace slipway::components::etcd {
namespace {

// Uses real files and programs: the test checks when a program is stopped.
struct World {
  Result<> start(const std::string& script) {
    const components::Environment environment{context, files, runner,
                                              random,  http,  [this](std::string_view text) { printed += text; }};
    return run_start_member(environment, {"--data-dir=" + folder.path(), "--", "/bin/sh", "-c", script});
  }
  bool has(const std::string& path) { return files.info(folder.path() + "/" + path).value().has_value(); }

  testing_support::RealTimeContext test;
  const sys::Context context = test.context();
  sys::RealFiles files;
  sys::RealRunner runner;
  testing_support::SeededRandom random{1};
  net::CurlHttp http;
  sys::TempDir folder = sys::TempDir::make("first-start").value();
  std::string printed;
};

TEST(FirstStart, WithoutASnapshotReturnsTheResultOfTheProgram) {
  World world;
  const Result<> done = world.start("echo started");
  EXPECT_TRUE(done.ok()) << done.error().message();
  EXPECT_EQ(world.printed, "started\n");
  const Result<> failed = world.start("exit 3");
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().message().find("status 3"), std::string::npos) << failed.error().message();
}

// The second start replaces this process with the program, so the test runs it in a process of its own.
TEST(FirstStartDeathTest, ASnapshotStopsTheFirstStartAndBeginsTheSecond) {
  World world;
  const std::string snap = world.folder.path() + "/member/snap";
  // etcd's order: raft's part of the snapshot, then the log, then the renamed data.
  const std::string script = fmt::format(
      "test ! -e {0}/1-2.snap || exit 7; mkdir -p {0}; trap 'test -e {0}/db && touch {1}/ended; exit 0' TERM; "
      ": > {0}/2.snap.db; : > {0}/1-2.snap; sleep 0.4; mv {0}/2.snap.db {0}/db; while :; do sleep 0.05; done",
      snap, world.folder.path());
  EXPECT_EXIT((void)world.start(script), testing::ExitedWithCode(7), "");
  EXPECT_TRUE(world.has("ended"));
}

TEST(FirstStartDeathTest, WithDataItBecomesTheProgramAtOnce) {
  World world;
  ASSERT_TRUE(world.files.make_directories(world.folder.path() + "/member", 0700).ok());
  EXPECT_EXIT((void)world.start("exit 5"), testing::ExitedWithCode(5), "");
}

TEST(FirstStart, ReportsMissingArguments) {
  World world;
  const components::Environment environment{world.context, world.files, world.runner, world.random, world.http, {}};
  EXPECT_FALSE(run_start_member(environment, {"--data-dir=/x", "--"}).ok());
  EXPECT_FALSE(run_start_member(environment, {"--", "etcd"}).ok());
}

}  // namespace
}  // namespace slipway::components::etcd
