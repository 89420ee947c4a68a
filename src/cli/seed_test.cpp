#include "cli/seed.h"

#include "support/memory_files.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

TEST(Seed, IsASecretFileThatIsLongEnough) {
  testing_support::MemoryFiles files;
  const auto error_of = [&](std::size_t size, sys::Mode mode) {
    EXPECT_TRUE(files.write("/s", std::string(size, 's'), mode).ok());
    const Result<Secret> seed = read_seed(files, "/s");
    return seed.ok() ? seed->reveal() : seed.error().message();
  };
  EXPECT_EQ(error_of(32, 0600), std::string(32, 's'));
  EXPECT_EQ(error_of(32, 0400), std::string(32, 's'));
  EXPECT_EQ(error_of(31, 0600), "--seed /s: has 31 bytes, must have 32 to 1048576 random bytes");
  for (const sys::Mode mode : {0640U, 0604U, 0644U}) {
    EXPECT_TRUE(error_of(32, mode).starts_with(fmt::format("--seed /s: readable by other users (mode {:04o})", mode)))
        << error_of(32, mode);
  }
  EXPECT_EQ(read_seed(files, "/absent").error().code(), Code::not_found);
  ASSERT_TRUE(files.make_directories("/folder", 0700).ok());
  EXPECT_EQ(read_seed(files, "/folder").error().message(), "--seed /folder: not a regular file");
}

TEST(Seed, HasTheTimeThatIsGivenOrThatOfTheDay) {
  const WallTime now = parse_rfc3339("2026-11-21T09:30:00.5Z").value();
  EXPECT_EQ(to_rfc3339(time_of_seed("", now).value()), "2026-11-21T00:00:00Z");
  EXPECT_EQ(to_rfc3339(time_of_seed("0", now).value()), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_rfc3339(time_of_seed("1795000000", now).value()), "2026-11-18T11:06:40Z");
  for (const std::string_view wrong : {"-1", "x", "1.5", " 1", "1 ", "99999999999999999999", "253402300800"}) {
    EXPECT_EQ(time_of_seed(wrong, now).error().message(),
              fmt::format("SOURCE_DATE_EPOCH: '{}' is not a number of seconds since 1970", wrong));
  }
}

}  // namespace
}  // namespace slipway::cli
