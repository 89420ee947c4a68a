#include "provider/local/line_socket.h"

#include "support/test_context.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

namespace slipway::provider::local {
namespace {

TEST(LineSocket, CarriesLinesFromFoldersWithLongNames) {
  const sys::TempDir temporary = sys::TempDir::make("line-socket").value();
  testing_support::TestContext context;
  const std::string folder = temporary.path() + "/" + std::string(200, 'a');
  std::filesystem::create_directory(folder);
  EXPECT_EQ(LineSocket::connect(folder, "s").error().code(), Code::unavailable);
  for (int round = 0; round < 2; ++round) {  // the second round replaces the socket of the first
    LineListener listener = LineListener::listen(folder, "s").value();
    LineSocket client = LineSocket::connect(folder, "s").value();
    Shortage shortage(context.context(), "the test");
    LineSocket server = listener.accept(context.context(), shortage).value();
    ASSERT_TRUE(client.send("one").ok());
    ASSERT_TRUE(client.send(std::string(100'000, 'x')).ok());
    EXPECT_EQ(server.receive({}).value(), "one");
    EXPECT_EQ(server.receive({}).value()->size(), 100'000u);
    { const LineSocket gone = std::move(client); }
    EXPECT_EQ(server.receive({}).value(), std::nullopt);
    EXPECT_EQ(server.send("late").error().code(), Code::unavailable);
  }
  EXPECT_EQ(LineSocket::connect(folder, "s").error().code(), Code::unavailable);
}

TEST(LineSocket, BlocksUntilAStop) {
  const sys::TempDir folder = sys::TempDir::make("line-socket").value();
  LineListener listener = LineListener::listen(folder.path(), "s").value();
  auto [here, there] = LineSocket::pair().value();
  testing_support::TestContext context;
  Shortage shortage(context.context(), "the test");
  std::jthread accepting([&] { EXPECT_EQ(listener.accept(context.context(), shortage).error().code(), Code::cancelled); });
  std::jthread receiving([&] { EXPECT_EQ(here.receive(context.stop.get_token()).error().code(), Code::cancelled); });
  context.stop.request_stop();
}

}  // namespace
}  // namespace slipway::provider::local
