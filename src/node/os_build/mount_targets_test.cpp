#include "node/os_build/mount_targets.h"

#include "base/text.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

TEST(MountTargets, AreEmptyFilesOfTheLayers) {
  const struct {
    std::vector<LayerEntry> entries;
    std::string found;
  } rows[] = {
      {{}, ""},
      {{{"etc/"}, {"etc/hostname", true}, {"etc/resolv.conf", true}, {"etc/other", true}}, "hostname resolv.conf"},
      {{{"./etc/hostname", true}}, "hostname"},
      {{{"etc/hostname", true}, {"etc/hostname", false}}, ""},  // of the user
      {{{"etc/hostname", true}, {"etc/.wh.hostname", true}}, ""},
      {{{"etc/.wh.hostname", true}, {"etc/hostname", true}}, "hostname"},
      {{{"usr/etc/hostname", true}}, ""},
  };
  for (const auto& row : rows) EXPECT_EQ(join(mount_targets_in(row.entries), " "), row.found);
}

}  // namespace
}  // namespace slipway::node
