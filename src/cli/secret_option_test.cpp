#include "cli/secret_option.h"

#include "support/memory_files.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

TEST(SecretOption, IsAValueOrTheLineOfAFile) {
  testing_support::MemoryFiles files;
  ASSERT_TRUE(files.write("/url", "https://a/?image_token=t\n", 0600).ok());
  ASSERT_TRUE(files.write("/empty", "\n", 0600).ok());
  ASSERT_TRUE(files.write("/two", "a\nb\n", 0600).ok());
  const auto value = [&](const char* given) {
    const Result<std::string> found = value_or_file(files, "--discovery", given);
    return found.ok() ? found.value() : found.error().message();
  };
  EXPECT_EQ(value("/url"), "/url");
  EXPECT_EQ(value(""), "");
  EXPECT_EQ(value("@/url"), "https://a/?image_token=t");
  EXPECT_EQ(value("@"), "--discovery: '@' must be followed by the name of a file");
  EXPECT_EQ(value("@/empty"), "--discovery: /empty must have one line, which is the value");
  EXPECT_EQ(value("@/two"), "--discovery: /two must have one line, which is the value");
  EXPECT_EQ(value("@/absent"), "--discovery: reading /absent: No such file or directory");
}

}  // namespace
}  // namespace slipway::cli
