#include "provider/local/boot_entry.h"

#include <gtest/gtest.h>

namespace slipway::provider::local {
namespace {

const std::string commit(64, 'a');

TEST(BootEntry, ReadsWhatOstreeWrites) {
  const Result<BootEntry> entry = parse_boot_entry(
      "title Debian GNU/Linux 13 (trixie) (ostree:0)\nversion 2\noptions quiet  ostree=/ostree/boot.1/slipway/7b45/0 a=b=c\n"
      "linux /ostree/slipway-7b45/vmlinuz-6\ninitrd /ostree/slipway-7b45/initramfs-6.img\n",
      "ostree-2-slipway.conf");
  ASSERT_TRUE(entry.ok()) << entry.error().message();
  EXPECT_EQ(entry.value(), (BootEntry{.file = "ostree-2-slipway.conf",
                                      .title = "Debian GNU/Linux 13 (trixie) (ostree:0)",
                                      .version = 2,
                                      .deployment = "/ostree/boot.1/slipway/7b45/0",
                                      .arguments = {"quiet", "ostree=/ostree/boot.1/slipway/7b45/0", "a=b=c"}}));
}

TEST(BootEntry, SaysWhatIsWrong) {
  const struct {
    std::string text, message;
  } rows[] = {
      {"", "a.conf: has no version"},
      {"version two\n", "a.conf: version 'two' is not a number"},
      {"version 1\n", "a.conf: needs ostree= with an absolute path in its options, has ''"},
      {"version 1\noptions ostree=boot\n", "a.conf: needs ostree= with an absolute path in its options, has 'boot'"},
      {"version 1\noptions ostree=/a/../../etc\n",
       "a.conf: needs ostree= with an absolute path in its options, has '/a/../../etc'"},
  };
  for (const auto& row : rows) {
    const Result<BootEntry> entry = parse_boot_entry(row.text, "a.conf");
    ASSERT_FALSE(entry.ok()) << row.text;
    EXPECT_EQ(entry.error().message(), row.message);
    EXPECT_EQ(entry.error().code(), Code::invalid);
  }
}

TEST(BootEntry, NewestHasTheHighestVersion) {
  const std::vector<BootEntry> entries = {{"a", "", 9, "/a"}, {"b", "", 10, "/b"}, {"c", "", 1, "/c"}};
  EXPECT_EQ(choose(entries, BootChoice::newest).value().file, "b");
  EXPECT_EQ(choose(entries, BootChoice::one_before_newest).value().file, "a");
  EXPECT_EQ(choose({entries[2]}, BootChoice::one_before_newest).value().file, "c");
  EXPECT_EQ(choose({}, BootChoice::newest).error().code(), Code::not_found);
}

TEST(Deployment, IsWhatTheLinkPointsTo) {
  const Result<Deployment> found =
      deployment_of_link("/ostree/boot.1/slipway/7b45/0", "../../../deploy/slipway/deploy/" + commit + ".3");
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found.value(), (Deployment{"/ostree/deploy/slipway/deploy/" + commit + ".3", commit, 3}));
}

TEST(Deployment, IsNothingElse) {
  for (const std::string& target :
       {std::string("../../../../etc"), std::string("/etc/passwd"), "../../../deploy/slipway/deploy/" + commit,
        std::string("../../../deploy/slipway/deploy/abc.0"), "../../../deploy/slipway/deploy/" + commit + ".x"}) {
    const Result<Deployment> found = deployment_of_link("/ostree/boot.1/slipway/7b45/0", target);
    ASSERT_FALSE(found.ok()) << target;
    EXPECT_EQ(found.error().code(), Code::invalid);
  }
}

}  // namespace
}  // namespace slipway::provider::local
