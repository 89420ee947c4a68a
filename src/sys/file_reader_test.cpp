#include "sys/file_reader.h"

#include "sys/files.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

namespace slipway::sys {
namespace {

TEST(FileReader, ReadsParts) {
  const TempDir folder = TempDir::make("file-reader-test").value();
  const std::string path = folder.path() + "/file";
  RealFiles files;
  ASSERT_TRUE(files.write(path, "0123456789", 0600).ok());
  const FileReader reader = FileReader::open(path).value();
  EXPECT_EQ(reader.size(), 10u);
  EXPECT_GT(reader.changed_at(), 0);
  EXPECT_EQ(reader.read(2, 3).value(), "234");
  EXPECT_EQ(reader.read(8, 5).value(), "89");
  EXPECT_EQ(reader.read(20, 5).value(), "");
  ASSERT_TRUE(files.write(path, "new", 0600).ok());
  EXPECT_EQ(reader.read(0, 2).value(), "01") << "the file that was opened";
  EXPECT_EQ(FileReader::open(folder.path()).error().code(), Code::invalid);
  EXPECT_EQ(FileReader::open(path + "-not").error().code(), Code::not_found);
}

}  // namespace
}  // namespace slipway::sys
