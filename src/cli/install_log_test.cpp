#include "cli/install_log.h"

#include "support/fake_clock.h"
#include "support/memory_files.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

TEST(InstallLog, IsAppendedToAndForItsOwnerOnly) {
  testing_support::MemoryFiles files;
  testing_support::FakeClock clock;
  const auto never = [](const Error& why) { FAIL() << why.message(); };
  InstallLog log(files, clock, "/demo", never);
  log.write("debug", "too early");
  EXPECT_FALSE(files.info("/demo").value());
  ASSERT_TRUE(files.make_directories("/demo", 0755).ok());
  log.write("info", "first");
  InstallLog(files, clock, "/demo", never).write("warning", "of another run");
  const std::string text = files.read("/demo/.openshift_install.log").value();
  const std::string time = fmt::format("time=\"{}\" ", to_rfc3339(std::chrono::floor<Seconds>(clock.now())));
  EXPECT_EQ(text, time + "level=debug msg=\"too early\"\n" + time + "level=info msg=first\n" + time +
                      "level=warning msg=\"of another run\"\n");
  EXPECT_EQ(files.info("/demo/.openshift_install.log").value()->mode, 0600u);
}

TEST(InstallLog, ThatCannotBeWrittenIsToldOnce) {
  testing_support::MemoryFiles files;
  testing_support::FakeClock clock;
  ASSERT_TRUE(files.make_directories("/demo/.openshift_install.log", 0755).ok());
  int failures = 0;
  InstallLog log(files, clock, "/demo", [&](const Error&) { ++failures; });
  log.write("info", "first");
  log.write("info", "second");
  EXPECT_EQ(failures, 1);
}

TEST(InstallLog, IsOfCommandsThatDoSomethingWithADirectory) {
  for (const char* words :
       {"create cluster", "create install-config", "destroy bootstrap", "gather bootstrap", "wait-for install-complete"})
    EXPECT_TRUE(writes_install_log(words)) << words;
  for (const char* words : {"version", "analyze", "completion bash", "timeline", "machine create"})
    EXPECT_FALSE(writes_install_log(words)) << words;
}

}  // namespace
}  // namespace slipway::cli
