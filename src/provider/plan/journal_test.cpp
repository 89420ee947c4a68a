#include "provider/plan/journal.h"

#include "support/test_context.h"
#include "sys/files.h"
#include "sys/task_group.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>
#include <csignal>

namespace slipway::provider::plan {
namespace {

using State = Journal::State;

class JournalTest : public testing::Test {
 protected:
  Journal open() {
    Result<Journal> opened = Journal::open(test.clock, path);
    EXPECT_TRUE(opened.ok()) << opened.error().message();
    return std::move(opened).value();
  }
  Error open_error() {
    const Result<Journal> opened = Journal::open(test.clock, path);
    EXPECT_FALSE(opened.ok());
    return opened.ok() ? error(Code::internal, "opened") : opened.error();
  }
  std::string text() { return files.read(path).value(); }

  const sys::TempDir temporary = sys::TempDir::make("journal-test").value();
  const std::string path = temporary.path() + "/demo/resources.jsonl";
  testing_support::TestContext test;
  sys::RealFiles files;
};

const std::string disk = "volume/demo-x-master-0.qcow2";

TEST_F(JournalTest, WritesALineForEachChange) {
  Journal journal = open();
  EXPECT_EQ(text(), "");
  ASSERT_TRUE(journal.begin(disk).ok());
  ASSERT_TRUE(journal.created(disk).ok());
  ASSERT_TRUE(journal.begin(disk).ok());
  ASSERT_TRUE(journal.removed(disk).ok());
  EXPECT_EQ(text(),
            R"({"time":"2026-11-21T09:30:00Z","resource":"volume/demo-x-master-0.qcow2","state":"begun"}
{"time":"2026-11-21T09:30:00Z","resource":"volume/demo-x-master-0.qcow2","state":"created"}
{"time":"2026-11-21T09:30:00Z","resource":"volume/demo-x-master-0.qcow2","state":"begun"}
{"time":"2026-11-21T09:30:00Z","resource":"volume/demo-x-master-0.qcow2","state":"removed"}
)");
}

TEST_F(JournalTest, StateThatDoesNotChangeIsNotWrittenAgain) {
  Journal journal = open();
  ASSERT_TRUE(journal.removed(disk).ok());
  ASSERT_TRUE(journal.begin(disk).ok());
  const std::string before = text();
  ASSERT_TRUE(journal.begin(disk).ok());
  EXPECT_EQ(text(), before);
}

TEST_F(JournalTest, IsPrivate) {
  const Journal journal = open();
  EXPECT_EQ(files.info(path).value()->mode, 0600u);
  EXPECT_EQ(files.info(temporary.path() + "/demo").value()->mode, 0700u);
}

TEST_F(JournalTest, NextProcessHasTheStates) {
  {
    Journal journal = open();
    ASSERT_TRUE(journal.begin("volume/a").ok());
    ASSERT_TRUE(journal.begin("volume/b").ok());
    ASSERT_TRUE(journal.created("volume/b").ok());
    ASSERT_TRUE(journal.begin("volume/c").ok());
    ASSERT_TRUE(journal.removed("volume/c").ok());
  }
  const Journal journal = open();
  EXPECT_EQ(journal.state_of("volume/a"), State::begun);
  EXPECT_EQ(journal.state_of("volume/b"), State::created);
  EXPECT_EQ(journal.state_of("volume/c"), State::unknown);
  EXPECT_EQ(journal.state_of("volume/d"), State::unknown);
}

TEST_F(JournalTest, SecondProcessIsRefusedWithTheNumberOfTheFirst) {
  const Journal journal = open();
  const Error refused = open_error();
  EXPECT_EQ(refused.code(), Code::conflict);
  EXPECT_NE(refused.message().find(fmt::format("the machines of the cluster: in use by process {} ", ::getpid())),
            std::string::npos)
      << refused.message();
}

TEST_F(JournalTest, CutLineIsDropped) {
  { ASSERT_TRUE(open().begin("volume/a").ok()); }
  const std::string complete = text();
  for (const std::string_view cut : {"{", R"({"time":"2026-11-21T09:30:00Z","resource":"volume/b","state":"begun"})"}) {
    ASSERT_TRUE(files.append(path, cut, 0600).ok());
    Journal journal = open();
    EXPECT_EQ(journal.state_of("volume/b"), State::unknown);
    ASSERT_TRUE(journal.created("volume/a").ok());
    EXPECT_TRUE(text().starts_with(complete + "{\"time\"")) << text();
    ASSERT_TRUE(journal.begin("volume/a").ok());
  }
  EXPECT_EQ(open().state_of("volume/a"), State::begun);
}

TEST_F(JournalTest, FileWithACutLineOnlyIsEmpty) {
  ASSERT_TRUE(files.write(path, R"({"time")", 0600).ok());
  Journal journal = open();
  ASSERT_TRUE(journal.begin("volume/a").ok());
  EXPECT_TRUE(text().starts_with(R"({"time":"2026)")) << text();
}

TEST_F(JournalTest, DamagedLineIsNamed) {
  const std::string good = R"({"time":"2026-11-21T09:30:00Z","resource":"volume/b","state":"begun"})";
  const std::vector<std::pair<std::string, std::string>> damaged = {
      {R"({"time":"2026)", "must be a JSON object"},
      {"", "must be a JSON object"},
      {"[]", "must be a JSON object"},
      {R"({"state":"begun"})", "resource: missing, must be a string"},
      {R"({"resource":"volume/b"})", "state: missing, must be a string"},
      {R"({"resource":"volume/b","state":"gone"})", "state: must be begun, created or removed, got 'gone'"}};
  for (const auto& [line, reason] : damaged) {
    ASSERT_TRUE(files.write(path, fmt::format("{}\n{}\n{}\n", good, line, good), 0600).ok());
    const Error refused = open_error();
    EXPECT_EQ(refused.code(), Code::invalid);
    EXPECT_EQ(refused.message(),
              fmt::format("{}:2: {} (remove the file; slipway then checks each resource on the platform)", path, reason));
  }
}

TEST_F(JournalTest, MembersThatItDoesNotKnowAreIgnored) {
  ASSERT_TRUE(files
                  .write(path,
                         R"({"resource":"volume/b","state":"created","id":7})"
                         "\n",
                         0600)
                  .ok());
  EXPECT_EQ(open().state_of("volume/b"), State::created);
}

TEST_F(JournalTest, FullDiskDamagesNoLine) {
  Journal journal = open();
  ASSERT_TRUE(journal.begin("volume/a").ok());
  // A limit of the file's size cuts a write as a full disk does.
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit full = before;
  full.rlim_cur = text().size() + 10;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  const Result<> failed = journal.created("volume/a");
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);

  ASSERT_FALSE(failed.ok());
  EXPECT_TRUE(failed.error().message().starts_with("writing " + path)) << failed.error().message();
  EXPECT_FALSE(text().ends_with('\n'));
  EXPECT_EQ(journal.state_of("volume/a"), State::begun);
  ASSERT_TRUE(journal.created("volume/a").ok());
  { const Journal dropped = std::move(journal); }
  EXPECT_EQ(open().state_of("volume/a"), State::created);
}

TEST_F(JournalTest, ForgottenJournalIsGone) {
  {
    Journal journal = open();
    ASSERT_TRUE(journal.begin(disk).ok());
    ASSERT_TRUE(journal.forget().ok());
    ASSERT_TRUE(journal.forget().ok());
    EXPECT_EQ(journal.state_of(disk), State::unknown);
    EXPECT_FALSE(files.info(path).value().has_value());
    EXPECT_EQ(open_error().code(), Code::conflict);
  }
  EXPECT_EQ(open().state_of(disk), State::unknown);
}

TEST_F(JournalTest, ThreadsWriteWholeLines) {
  constexpr std::size_t count = 100;
  const auto key = [](std::size_t i) { return fmt::format("volume/{}", i); };
  {
    Journal journal = open();
    const Result<> done = sys::for_each_at_once(test.context(), count, 8, [&](const sys::Context&, std::size_t i) -> Result<> {
      TRY(journal.begin(key(i)));
      return i % 2 == 0 ? journal.created(key(i)) : Result<>(Ok{});
    });
    ASSERT_TRUE(done.ok()) << done.error().message();
  }
  const Journal journal = open();
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(journal.state_of(key(i)), i % 2 == 0 ? State::created : State::begun) << i;
  }
}

}  // namespace
}  // namespace slipway::provider::plan
