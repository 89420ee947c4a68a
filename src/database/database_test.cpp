#include "database/database.h"

#include "sys/temp_dir.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>
#include <thread>
#include <vector>

namespace slipway::database {
namespace {

constexpr std::string_view first = "CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT NOT NULL)";
constexpr std::string_view second =
    "ALTER TABLE note ADD COLUMN author TEXT NOT NULL DEFAULT ''; CREATE INDEX of_author ON note (author)";
constexpr std::string_view one[] = {first};
constexpr std::string_view both[] = {first, second};

class DatabaseTest : public testing::Test {
 protected:
  sys::TempDir folder = sys::TempDir::make("database").value();
  std::string path = folder.path() + "/a.db";
};

std::int64_t count(Database& database) {
  std::int64_t found = -1;
  EXPECT_TRUE(database
                  .run("SELECT count(*) FROM note", {},
                       [&](const Row& row) -> Result<> {
                         found = row.number(0);
                         return Ok{};
                       })
                  .ok());
  return found;
}

std::string integrity(Database& database) {
  std::string found;
  EXPECT_TRUE(database
                  .run("PRAGMA integrity_check", {},
                       [&](const Row& row) -> Result<> {
                         found += row.text(0);
                         return Ok{};
                       })
                  .ok());
  return found;
}

TEST_F(DatabaseTest, KeepsValuesOfAllKinds) {
  const std::string bytes("a\0b\xff", 4);
  {
    Database database = Database::open(path, one).value();
    EXPECT_TRUE(database.run("INSERT INTO note (id, body) VALUES (?, ?)", {std::int64_t{1} << 62, "größe"}).ok());
    EXPECT_TRUE(database.run("INSERT INTO note (body) VALUES (?)", {Bytes{bytes}}).ok());
    EXPECT_EQ(database.last_id(), (std::int64_t{1} << 62) + 1);
  }
  Database database = Database::open(path, one).value();
  std::vector<std::string> found;
  const auto collect = [&](const Row& row) -> Result<> {
    found.push_back(row.text(1));
    return Ok{};
  };
  ASSERT_TRUE(database.run("SELECT id, body FROM note ORDER BY id", {}, collect).ok());
  EXPECT_EQ(found, (std::vector<std::string>{"größe", bytes}));
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(DatabaseTest, AFailedTransactionLeavesNothing) {
  Database database = Database::open(path, one).value();
  const Result<> failed = database.transaction([&]() -> Result<> {
    TRY(database.run("INSERT INTO note (id, body) VALUES (1, 'a')"));
    return database.run("INSERT INTO note (id, body) VALUES (1, 'b')");
  });
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().message().find("UNIQUE constraint failed"), std::string::npos) << failed.error().message();
  EXPECT_EQ(count(database), 0);
  EXPECT_TRUE(database.transaction([&] { return database.run("INSERT INTO note (id, body) VALUES (1, 'a')"); }).ok());
  EXPECT_EQ(count(database), 1);
}

TEST_F(DatabaseTest, MigratesAndRefusesWhatIsNewer) {
  {
    Database database = Database::open(path, one).value();
    EXPECT_TRUE(database.run("INSERT INTO note (body) VALUES ('a')").ok());
    EXPECT_FALSE(database.run("INSERT INTO note (body, author) VALUES ('a', 'b')").ok());
  }
  {
    Database database = Database::open(path, both).value();
    EXPECT_TRUE(database.run("INSERT INTO note (body, author) VALUES ('a', 'b')").ok());
    EXPECT_EQ(count(database), 2);
  }
  const Result<Database> older = Database::open(path, one);
  ASSERT_FALSE(older.ok());
  EXPECT_EQ(older.error().code(), Code::invalid);
  EXPECT_NE(older.error().message().find("a newer program wrote it (schema 2, this program knows 1)"), std::string::npos);
}

TEST_F(DatabaseTest, AMigrationThatFailsChangesNothing) {
  constexpr std::string_view wrong[] = {first, "ALTER TABLE note ADD COLUMN author TEXT; CREATE TABLE note (id INTEGER)"};
  EXPECT_FALSE(Database::open(path, wrong).ok());
  Database database = Database::open(path, both).value();
  EXPECT_EQ(count(database), 0);
}

TEST_F(DatabaseTest, BelongsToOneProcess) {
  const Database database = Database::open(path, one).value();
  const Result<Database> other = Database::open(path, one);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code(), Code::conflict);
  EXPECT_NE(other.error().message().find("in use by another process"), std::string::npos);
}

TEST_F(DatabaseTest, RefusesWhatIsNoDatabase) {
  FILE* file = std::fopen(path.c_str(), "w");
  std::fputs(std::string(5000, 'x').c_str(), file);
  std::fclose(file);
  const Result<Database> opened = Database::open(path, one);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), Code::invalid) << opened.error().message();
}

TEST_F(DatabaseTest, RefusesWhatIsDamaged) {
  {
    Database database = Database::open(path, one).value();
    const std::string body(1000, 'x');
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(database.run("INSERT INTO note (body) VALUES (?)", {std::string_view(body)}).ok());
  }
  FILE* file = std::fopen(path.c_str(), "r+");
  ASSERT_EQ(std::fseek(file, 0, SEEK_END), 0);
  ASSERT_EQ(std::fseek(file, std::ftell(file) - 4096, SEEK_SET), 0);
  std::fputs(std::string(4096, 'y').c_str(), file);  // its last page
  std::fclose(file);
  const Result<Database> opened = Database::open(path, one);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), Code::invalid) << opened.error().message();
  EXPECT_NE(opened.error().message().find("restore a copy of the file"), std::string::npos) << opened.error().message();
}

// Writes notes until it is killed, and tells each number after its transaction.
[[noreturn]] void write_notes(const std::string& path, int pipe) {
  Result<Database> database = Database::open(path, one);
  if (!database.ok()) _exit(1);
  for (std::int64_t next = count(database.value()) + 1;; ++next) {
    const std::string body(next % 50 == 0 ? 100'000 : 100, 'x');
    const Result<> written = database->transaction([&] {
      return database->run("INSERT INTO note (id, body) VALUES (?, ?)", {next, std::string_view(body)});
    });
    if (!written.ok() || ::write(pipe, &next, sizeof next) != sizeof next) _exit(1);
  }
}

TEST_F(DatabaseTest, NothingAcknowledgedIsLostByAKill) {
  std::mt19937 random(25);
  std::int64_t acknowledged = 0;
  for (int round = 0; round < 25; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t writer = fork();
    if (writer == 0) write_notes(path, ends[1]);
    close(ends[1]);
    std::int64_t number = 0;
    // The writer is killed while it writes: after a random count of notes.
    for (unsigned left = random() % 40 + 1; left > 0 && read(ends[0], &number, sizeof number) == sizeof number; --left)
      acknowledged = number;
    kill(writer, SIGKILL);
    while (read(ends[0], &number, sizeof number) == sizeof number) acknowledged = number;
    close(ends[0]);
    waitpid(writer, nullptr, 0);
    Database database = Database::open(path, one).value();
    ASSERT_GE(count(database), acknowledged) << "round " << round;
    ASSERT_LE(count(database), acknowledged + 1) << "at most the last one was not told";
    ASSERT_EQ(integrity(database), "ok");
  }
  EXPECT_GT(acknowledged, 25);
}

// Fills a file system of 1 MiB. The status says which check failed.
int fill_disk(const std::string& folder) {
  if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) return 1;
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 2;
  if (mount("small", folder.c_str(), "tmpfs", 0, "size=1m") != 0) return 3;
  const std::string path = folder + "/a.db";
  std::int64_t written = 0;
  {
    Result<Database> database = Database::open(path, one);
    if (!database.ok()) return 4;
    const std::string body(20'000, 'x');
    Result<> result = Ok{};
    while (result.ok() && written < 1000) {
      result =
          database->transaction([&] { return database->run("INSERT INTO note (body) VALUES (?)", {std::string_view(body)}); });
      if (result.ok()) ++written;
    }
    if (result.ok() || written < 5) return 5;
    if (result.error().code() != Code::unavailable) return 6;
    if (count(database.value()) != written) return 7;
  }
  // With more room, the same file goes on.
  if (mount("small", folder.c_str(), "tmpfs", MS_REMOUNT, "size=8m") != 0) return 8;
  Result<Database> database = Database::open(path, one);
  if (!database.ok()) return 9;
  if (count(database.value()) != written || integrity(database.value()) != "ok") return 10;
  return database->transaction([&] { return database->run("INSERT INTO note (body) VALUES ('a')"); }).ok() ? 0 : 11;
}

TEST_F(DatabaseTest, AFullDiskIsAnErrorAndLeavesAGoodDatabase) {
  const pid_t child = fork();
  if (child == 0) _exit(fill_disk(folder.path()));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace slipway::database
