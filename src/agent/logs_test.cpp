#include "agent/logs.h"

#include "agent/units.h"

#include <gtest/gtest.h>

namespace slipway::agent {
namespace {

TEST(Logs, TailBeginsWithALine) {
  EXPECT_EQ(tail("one\ntwo\nthree\n", 100), "one\ntwo\nthree\n");
  EXPECT_EQ(tail("one\ntwo\nthree\n", 8), "three\n");
  EXPECT_EQ(tail("without a line end", 4), " end");
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
