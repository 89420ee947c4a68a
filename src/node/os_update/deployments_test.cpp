#include "node/os_update/deployments.h"

#include <gtest/gtest.h>

namespace slipway::node {
namespace {

const std::string first(64, 'a'), second(64, 'b');

TEST(Deployments, AreListedNewestFirst) {
  const auto deployments =
      parse_deployments("  slipway " + second + ".1 (pending)\n    Version: 2.0\n    origin refspec: x\n* slipway " + first +
                        ".0\n    Version: 1.0\n  short x.0\n");
  ASSERT_EQ(deployments.size(), 2u);
  EXPECT_EQ(deployments[0], (Deployment{"slipway", second, "1", "2.0", false}));
  EXPECT_EQ(deployments[1], (Deployment{"slipway", first, "0", "1.0", true}));
  EXPECT_EQ(deployments[0].folder(), "/sysroot/ostree/deploy/slipway/deploy/" + second + ".1");
  ASSERT_NE(find_booted(deployments), nullptr);
  EXPECT_EQ(find_booted(deployments)->commit, first);
  EXPECT_EQ(find_booted({}), nullptr);
}

TEST(KernelArguments, AreReadFromTheEntryOfTheRunningSystem) {
  const std::string entry = "title x\noptions root=LABEL=root rw ostree=/ostree/boot.1/slipway/e/0 a=\"b c\" a\nlinux /v\n";
  EXPECT_EQ(arguments_of_entry(entry), (std::vector<std::string>{"root=LABEL=root", "rw", "a=\"b c\"", "a"}));
  EXPECT_TRUE(is_entry_of(entry, "BOOT_IMAGE=x ostree=/ostree/boot.1/slipway/e/0 quiet\n"));
  EXPECT_FALSE(is_entry_of(entry, "ostree=/ostree/boot.1/slipway/e/1\n"));
  EXPECT_FALSE(is_entry_of("title x\n", "\n"));
  EXPECT_TRUE(arguments_of_entry("title x\n").empty());
}

TEST(KernelArguments, OfOneConfigReplaceThoseOfTheOther) {
  struct Case {
    const char* what;
    std::vector<std::string> running, from, to, wanted;
  };
  const std::vector<Case> cases = {
      {"added at the end", {"root=x", "rw"}, {}, {"nosmt", "a b"}, {"root=x", "rw", "nosmt", "a", "b"}},
      {"removed, and others stay", {"root=x", "nosmt", "quiet"}, {"nosmt"}, {}, {"root=x", "quiet"}},
      {"one of two", {"hugepages=1", "hugepages=2"}, {"hugepages=1"}, {}, {"hugepages=2"}},
      {"missing ones", {"root=x"}, {"nosmt"}, {"nosmt"}, {"root=x", "nosmt"}},
      {"quoted blanks", {"root=x"}, {}, {"dyndbg=\"file a +p\" quiet"}, {"root=x", "dyndbg=\"file a +p\"", "quiet"}},
      {"twice", {}, {}, {"a", "a"}, {"a", "a"}},
  };
  for (const Case& c : cases) EXPECT_EQ(change_arguments(c.running, c.from, c.to), c.wanted) << c.what;
}

}  // namespace
}  // namespace slipway::node
