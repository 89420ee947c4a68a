#include "components/etcd/backup_command.h"

#include "base/check.h"
#include "net/curl_http.h"
#include "support/seeded_random.h"
#include "support/test_context.h"
#include "sys/files.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

namespace slipway::components::etcd {
namespace {

using Names = std::vector<std::string>;

// Plays the script: it "saves" files with this content. The component test etcd_backup runs it with a real etcd.
class ScriptOfTest final : public sys::Runner {
 public:
  Result<sys::Output> run(const sys::Context&, const sys::Command& command) override {
    if (command.argv.front() == "sync") return sys::Output{};
    const std::string& action = command.argv.at(3);
    actions.push_back(action);
    if (action == "size") return sys::Output{0, fmt::format(R"([{{"Status":{{"dbSize":{}}}}}])", database), ""};
    if (!failure.empty()) return sys::Output{1, "", failure + "\n"};
    const std::string folder = command.environment.at(0).substr(std::string("BACKUP_FOLDER=").size()) + "/" + command.argv.at(4);
    CHECK(files.make_directories(folder, 0700).ok());
    CHECK(files.write(fmt::format("{}/snapshot_{}.db", folder, command.argv.at(4)), "no database", 0600).ok());
    return sys::Output{};
  }

  sys::RealFiles files;
  std::uint64_t database = 1000;
  std::string failure;
  Names actions;
};

class BackupCommandTest : public testing::Test {
 protected:
  Result<Json> take(std::uint64_t available = std::uint64_t{1} << 40) {
    const sys::Context context = test.context();
    const Environment environment{context, files, runner, random, http};
    return take_backup(environment, {.folder = folder.path() + "/default", .node = "master-0", .retention = {.count = 1}},
                       [&](const std::string&) { return DiskSpace{.available = available, .capacity = 1000}; });
  }
  Names left() { return files.list(folder.path() + "/default").value(); }

  testing_support::RealTimeContext test;
  sys::RealFiles files;
  ScriptOfTest runner;
  testing_support::SeededRandom random{1};
  net::CurlHttp http;
  sys::TempDir folder = sys::TempDir::make("backup-command").value();
};

TEST_F(BackupCommandTest, AFullDiskIsNamedWithFigures) {
  runner.database = 900u << 20;
  const Result<Json> taken = take(100u << 20);
  ASSERT_FALSE(taken.ok());
  const std::string& message = taken.error().message();
  EXPECT_NE(message.find("default on master-0: no space for a backup"), std::string::npos) << message;
  EXPECT_NE(message.find("retentionPolicy"), std::string::npos) << message;
  EXPECT_EQ(runner.actions, Names{"size"}) << "nothing was saved";
}

TEST_F(BackupCommandTest, WhatCannotBeReadBackGetsNoName) {
  const Result<Json> taken = take();
  ASSERT_FALSE(taken.ok());
  EXPECT_NE(taken.error().message().find("not a snapshot"), std::string::npos) << taken.error().message();
  EXPECT_EQ(left(), (Names{".lock", ".new"}));
  runner.failure = "etcd does not run on this machine";
  EXPECT_EQ(take().error().message(), "master-0: take: exit status 1: etcd does not run on this machine");
  EXPECT_EQ(left(), Names{".lock"}) << "the next call removes what the last one left";
}

TEST_F(BackupCommandTest, OldBackupsMakeRoomFirst) {
  for (const char* id : {"2026-11-24_030000", "2026-11-25_030000"}) {
    ASSERT_TRUE(files.make_directories(fmt::format("{}/default/{}", folder.path(), id), 0700).ok());
    ASSERT_TRUE(files.write(fmt::format("{}/default/{}/snapshot", folder.path(), id), "x", 0600).ok());
  }
  ASSERT_FALSE(take(0).ok());
  EXPECT_EQ(left(), (Names{".lock", "2026-11-25_030000"}));
}

}  // namespace
}  // namespace slipway::components::etcd
