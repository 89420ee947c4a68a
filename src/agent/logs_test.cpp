#include "agent/logs.h"

#include "agent/units.h"
#include "release/tar.h"

#include <gtest/gtest.h>

namespace slipway::agent {
namespace {

TEST(Logs, TailBeginsWithALine) {
  EXPECT_EQ(tail("one\ntwo\nthree\n", 100), "one\ntwo\nthree\n");
  EXPECT_EQ(tail("one\ntwo\nthree\n", 8), "three\n");
  EXPECT_EQ(tail("without a line end", 4), " end");
}

TEST(Logs, Multipart) {
  EXPECT_EQ(multipart("B", "x.tar.gz", "content"),
            "--B\r\nContent-Disposition: form-data; name=\"upfile\"; filename=\"x.tar.gz\"\r\n"
            "Content-Type: application/octet-stream\r\n\r\ncontent\r\n--B--\r\n");
}

TEST(Logs, Pack) {
  const std::string archive = pack({{"a.log", "one"}, {"b.log", ""}}).value();
  release::TarReader tar = release::TarReader::of_memory(archive).value();
  const auto first = tar.next().value();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->name, "a.log");
  EXPECT_EQ(tar.read().value(), "one");
  EXPECT_EQ(tar.next().value()->name, "b.log");
  EXPECT_FALSE(tar.next().value());
}

TEST(Uuid, IsRecognized) {
  EXPECT_TRUE(is_uuid("4c4c4544-0046-3310-8058-B4c04f583232"));
  for (const char* text : {"", "4c4c4544-0046-3310-8058-b4c04f58323", "4c4c4544/0046-3310-8058-b4c04f583232",
                           "4c4c4544-0046-3310-8058-b4c04f58323g"}) {
    EXPECT_FALSE(is_uuid(text)) << text;
  }
}

}  // namespace
}  // namespace slipway::agent
