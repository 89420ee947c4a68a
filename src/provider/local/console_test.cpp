#include "provider/local/console.h"

#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace slipway::provider::local {
namespace {

class ConsoleFollowers : public testing::Test {
 protected:
  // The next lines of a follower, up to the end or `count` lines.
  static std::vector<std::string> lines(Console::Follower& follower, std::size_t count) {
    std::vector<std::string> read;
    while (read.size() < count) {
      const auto next = follower.pop({});
      if (!next || !*next) break;
      read.push_back(**next);
    }
    return read;
  }

  const sys::TempDir folder = sys::TempDir::make("console-test").value();
  sys::RealFiles files;
  Console console{files, folder.path() + "/console.log"};
};

using Lines = std::vector<std::string>;

TEST_F(ConsoleFollowers, GetWhatIsThereAndThenEachLineOnce) {
  console.add("one\r");
  const auto first = console.follow().value();
  console.add("two");
  const auto second = console.follow().value();
  console.close();
  EXPECT_EQ(lines(*first, 9), (Lines{"one", "two"}));
  EXPECT_EQ(lines(*second, 9), (Lines{"one", "two"}));
}

// A client disconnects while its machine is destroyed: the machine is no longer found by its name, but the console still gets its
// last lines.
TEST_F(ConsoleFollowers, ThatLeftAreNotWrittenTo) {
  auto leaving = console.follow().value();
  const auto staying = console.follow().value();
  leaving.reset();
  console.add("last words");
  EXPECT_EQ(lines(*staying, 1), (Lines{"last words"}));
}

TEST_F(ConsoleFollowers, OutliveTheConsole) {
  auto short_lived = std::make_unique<Console>(files, folder.path() + "/other.log");
  const auto follower = short_lived->follow().value();
  short_lived->add("last words");
  short_lived->close();
  short_lived.reset();
  EXPECT_EQ(lines(*follower, 9), (Lines{"last words"}));
}

TEST_F(ConsoleFollowers, ComeAndGoWhileLinesArrive) {
  std::jthread writer([&](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i) console.add("line");
  });
  std::vector<std::jthread> followers;
  for (int i = 0; i < 4; ++i) {
    followers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) EXPECT_EQ(lines(*console.follow().value(), 3), (Lines{"line", "line", "line"}));
    });
  }
  followers.clear();  // joins
}

}  // namespace
}  // namespace slipway::provider::local
