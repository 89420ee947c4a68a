#include "agent/medium.h"

#include "support/recorded_tree.h"

#include <gtest/gtest.h>

namespace slipway::agent {
namespace {

using testing_support::RecordedTree;

TEST(Medium, Device) {
  EXPECT_EQ(medium_device("40 1 11:0 / /run/slipway-live/medium ro,relatime - iso9660 /dev/sr0 ro"), "/dev/sr0");
  EXPECT_EQ(medium_device("40 1 11:0 / /run/media/iso ro shared:1 master:2 - iso9660 /dev/sr1 ro\n"), "/dev/sr1");
  for (const char* text : {"", "40 1 8:1 / /boot rw - ext4 /dev/sda1 rw", "40 1 11:0 / /run/media/iso ro -", "- - - - -"}) {
    EXPECT_EQ(medium_device(text), "") << text;
  }
}

TEST(Medium, Check) {
  RecordedTree recorded("");
  EXPECT_TRUE(check_medium(recorded.tree()).ok());
  recorded.put("/proc/self/mountinfo: 40 1 11:0 / /run/media/iso ro - iso9660 /dev/no-such-device ro");
  EXPECT_EQ(check_medium(recorded.tree()).error().code(), Code::unavailable);
}

}  // namespace
}  // namespace slipway::agent
