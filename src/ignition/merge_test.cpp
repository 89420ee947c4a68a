#include "ignition/merge.h"

#include "ignition/parse.h"
#include "ignition/validate.h"
#include "support/arbitrary_ignition.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace slipway::ignition {
namespace {

using testing_support::arbitrary_ignition;

Config with(std::string_view members, std::string_view version = "3.5.0") {
  const std::string comma = members.empty() || members.starts_with("\"ignition\"") ? "" : ",";
  const std::string text = members.starts_with("\"ignition\"")
                               ? fmt::format("{{{}}}", members)
                               : fmt::format(R"({{"ignition":{{"version":"{}"}}{}{}}})", version, comma, members);
  auto parsed = parse_text(text, "case");
  EXPECT_TRUE(parsed.ok() && !parsed->findings.has_errors()) << text;
  return parsed.ok() ? parsed->config : Config{};
}

TEST(Merge, FollowsTheRulesOfTheSpec) {
  struct Case {
    const char* name;
    const char* parent;
    const char* child;
    const char* result;
  };
  const Case cases[] = {
      {"a scalar of the child wins", R"("storage":{"files":[{"path":"/a","mode":1}]})",
       R"("storage":{"files":[{"path":"/a","mode":2}]})", R"("storage":{"files":[{"path":"/a","mode":2}]})"},
      {"an absent scalar keeps the parent's", R"("storage":{"files":[{"path":"/a","mode":1}]})",
       R"("storage":{"files":[{"path":"/a","overwrite":false}]})",
       R"("storage":{"files":[{"path":"/a","overwrite":false,"mode":1}]})"},
      {"false and empty are values", R"("systemd":{"units":[{"name":"a.service","enabled":true,"contents":"[A]"}]})",
       R"("systemd":{"units":[{"name":"a.service","enabled":false,"contents":""}]})",
       R"("systemd":{"units":[{"name":"a.service","enabled":false,"contents":""}]})"},
      {"structs merge member by member",
       R"("storage":{"files":[{"path":"/a","contents":{"source":"data:,a",)"
       R"("compression":"gzip"}}]})",
       R"("storage":{"files":[{"path":"/a","contents":{"source":"data:,b"}}]})",
       R"("storage":{"files":[{"path":"/a","contents":{"source":"data:,b","compression":"gzip"}}]})"},
      {"the parent's order, then the child's own", R"("storage":{"files":[{"path":"/b"},{"path":"/a"}]})",
       R"("storage":{"files":[{"path":"/d"},{"path":"/a","mode":1},{"path":"/c"}]})",
       R"("storage":{"files":[{"path":"/b"},{"path":"/a","mode":1},{"path":"/d"},{"path":"/c"}]})"},
      {"one namespace of paths", R"("storage":{"files":[{"path":"/a","mode":1},{"path":"/b"}]})",
       R"("storage":{"directories":[{"path":"/a"}],"links":[{"path":"/b","target":"c"}]})",
       R"("storage":{"directories":[{"path":"/a"}],"links":[{"path":"/b","target":"c"}]})"},
      {"append is appended", R"("storage":{"files":[{"path":"/a","append":[{"source":"data:,x"}]}]})",
       R"("storage":{"files":[{"path":"/a","append":[{"source":"data:,x"}]}]})",
       R"("storage":{"files":[{"path":"/a","append":[{"source":"data:,x"},{"source":"data:,x"}]}]})"},
      {"disks by device, partitions by number or label",
       R"("storage":{"disks":[{"device":"/d","partitions":[{"number":1,"label":"x"},{"label":"y"}]}]})",
       R"("storage":{"disks":[{"device":"/d","partitions":[{"label":"y","sizeMiB":1},{"number":1,"label":"z"},{"label":"x"}]}]})",
       R"("storage":{"disks":[{"device":"/d","partitions":[{"number":1,"label":"z"},{"label":"y","sizeMiB":1},)"
       R"({"label":"x"}]}]})"},
      {"options of raid, luks and filesystems are appended, open options are a set",
       R"("storage":{"raid":[{"name":"r","options":["a"]}],"luks":[{"name":"l","options":["a"],"openOptions":["a"]}],)"
       R"("filesystems":[{"device":"/d","options":["a"],"mountOptions":["a"]}]})",
       R"("storage":{"raid":[{"name":"r","options":["a"]}],"luks":[{"name":"l","options":["a"],"openOptions":["a","b"]}],)"
       R"("filesystems":[{"device":"/d","options":["a"],"mountOptions":["a"]}]})",
       R"("storage":{"raid":[{"name":"r","options":["a","a"]}],"luks":[{"name":"l","options":["a","a"],"openOptions":["a",)"
       R"("b"]}],"filesystems":[{"device":"/d","options":["a","a"],"mountOptions":["a","a"]}]})"},
      {"devices of an array are a set", R"("storage":{"raid":[{"name":"r","devices":["/a","/b"]}]})",
       R"("storage":{"raid":[{"name":"r","devices":["/b","/c"]}]})",
       R"("storage":{"raid":[{"name":"r","devices":["/a",)"
       R"("/b","/c"]}]})"},
      {"Tang servers by URL", R"("storage":{"luks":[{"name":"l","clevis":{"tang":[{"url":"http://t","thumbprint":"a"}]}}]})",
       R"("storage":{"luks":[{"name":"l","clevis":{"tang":[{"url":"http://t","thumbprint":"b"},{"url":"http://u"}],)"
       R"("tpm2":true}}]})",
       R"("storage":{"luks":[{"name":"l","clevis":{"tang":[{"url":"http://t","thumbprint":"b"},{"url":"http://u"}],)"
       R"("tpm2":true}}]})"},
      {"users, keys and groups are sets", R"("passwd":{"users":[{"name":"core","sshAuthorizedKeys":["a","b"],"groups":["x"]}]})",
       R"("passwd":{"users":[{"name":"core","sshAuthorizedKeys":["c","b"],"uid":7},{"name":"u"}],"groups":[{"name":"g"}]})",
       R"("passwd":{"users":[{"name":"core","sshAuthorizedKeys":["a","b","c"],"uid":7,"groups":["x"]},{"name":"u"}],)"
       R"("groups":[{"name":"g"}]})"},
      {"drop-ins by name inside their unit",
       R"("systemd":{"units":[{"name":"a.service","dropins":[{"name":"x.conf",)"
       R"("contents":"[A]"}]}]})",
       R"("systemd":{"units":[{"name":"a.service","dropins":[{"name":"y.conf"},{"name":"x.conf","contents":"[B]"}]}]})",
       R"("systemd":{"units":[{"name":"a.service","dropins":[{"name":"x.conf","contents":"[B]"},{"name":"y.conf"}]}]})"},
      {"an argument moves to the child's list", R"("kernelArguments":{"shouldExist":["a","b"],"shouldNotExist":["c"]})",
       R"("kernelArguments":{"shouldExist":["c","d"],"shouldNotExist":["a"]})",
       R"("kernelArguments":{"shouldExist":["b","c","d"],"shouldNotExist":["a"]})"},
      {"references and headers by source and name; a header without a value removes",
       R"("ignition":{"version":"3.5.0","config":{"merge":[{"source":"http://a","httpHeaders":[{"name":"X","value":"1"},)"
       R"({"name":"Y","value":"1"}]}]},"proxy":{"noProxy":["a"]}})",
       R"("ignition":{"version":"3.5.0","config":{"merge":[{"source":"http://a","httpHeaders":[{"name":"X"},{"name":"Z"}]},)"
       R"({"source":"http://b"}]},"proxy":{"noProxy":["b","a"]}})",
       R"("ignition":{"version":"3.5.0","config":{"merge":[{"source":"http://a","httpHeaders":[{"name":"Y","value":"1"},)"
       R"({"name":"Z"}]},{"source":"http://b"}]},"proxy":{"noProxy":["a","b"]}})"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(emit_json(to_json(merge(with(c.parent), with(c.child))), JsonStyle::pretty),
              emit_json(to_json(with(c.result)), JsonStyle::pretty))
        << c.name;
  }
}

TEST(Merge, RaisesTheOlderConfigFirst) {
  // 04755 in a config of 3.3 means 0755; merged into one of 3.4 it must not become setuid.
  const Config old = with(R"("storage":{"files":[{"path":"/a","mode":2541}]})", "3.3.0");
  const Config expected = with(R"("storage":{"files":[{"path":"/a","mode":493}]})", "3.4.0");
  EXPECT_EQ(merge(old, with("", "3.4.0")), expected);
  EXPECT_EQ(merge(with("", "3.4.0"), old), expected);
  EXPECT_EQ(merge(old, with("", "3.1.0")), old);
}

TEST(Merge, OfValidConfigsCanBeInvalid) {
  const Config parent = with(R"("storage":{"files":[{"path":"/a","user":{"id":1}}]})");
  const Config child = with(R"("storage":{"files":[{"path":"/a","user":{"name":"core"}}]})");
  EXPECT_TRUE(validate(parent).empty() && validate(child).empty());
  EXPECT_EQ(validate(merge(parent, child)).to_text(),
            "error: storage.files[0].user: has both an ID and a name (keep one of "
            "them)\n");
}

TEST(Merge, IsNotAssociativeIfAPathChangesItsKindAndBack) {
  const Config a = with(R"("storage":{"files":[{"path":"/a","mode":1}]})");
  const Config b = with(R"("storage":{"directories":[{"path":"/a"}]})");
  const Config c = with(R"("storage":{"files":[{"path":"/a"}]})");
  EXPECT_EQ(merge(merge(a, b), c), c);
  EXPECT_EQ(merge(a, merge(b, c)), a);
}

RC_GTEST_PROP(MergeProperty, IsAssociative, ()) {
  const Config a = *arbitrary_ignition();
  const Config b = *arbitrary_ignition();
  const Config c = *arbitrary_ignition();
  RC_ASSERT(merge(a, merge(b, c)) == merge(merge(a, b), c));
}

RC_GTEST_PROP(MergeProperty, HasTheEmptyConfigAsIdentity, ()) {
  const Config a = *arbitrary_ignition({.kinds_change = true});
  RC_ASSERT(merge(a, {}) == a);
  RC_ASSERT(merge({}, a) == a);
}

RC_GTEST_PROP(MergeProperty, IsIdempotentWithoutAppendedLists, ()) {
  const Config a = *arbitrary_ignition({.kinds_change = true, .concatenated = false});
  RC_ASSERT(merge(a, a) == a);
}

RC_GTEST_PROP(MergeProperty, AppliesAChildOnce, ()) {
  const Config a = *arbitrary_ignition({.kinds_change = true, .concatenated = false});
  const Config b = *arbitrary_ignition({.kinds_change = true, .concatenated = false});
  const Config once = merge(a, b);
  RC_ASSERT(merge(once, b) == once);
}

// Validity includes that lists have no duplicates.
RC_GTEST_PROP(MergeProperty, KeepsValidity, ()) {
  const Config a = *arbitrary_ignition({.kinds_change = true});
  const Config b = *arbitrary_ignition({.kinds_change = true});
  RC_ASSERT(!validate(a).has_errors());
  const Findings findings = validate(merge(a, b));
  RC_LOG() << findings.to_text();
  RC_ASSERT(!findings.has_errors());
}

}  // namespace
}  // namespace slipway::ignition
