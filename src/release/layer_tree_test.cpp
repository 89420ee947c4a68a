#include "release/layer_tree.h"

#include "base/text.h"
#include "support/sample_release.h"
#include "support/test_context.h"
#include "sys/files.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace slipway::release {
namespace {

namespace fs = std::filesystem;

using testing_support::Compression;

// An entry of a layer. A name with "/" at its end is a directory.
struct Entry {
  std::string name;
  std::string content{};
  std::string link{};       // a symbolic link to it
  std::string hard_link{};  // a hard link to it
  unsigned kind = 0;        // overrides the kind
  unsigned mode = 0644;
  int device = 0;
  la_int64_t owner = ::getuid();
  la_int64_t group = ::getgid();
  std::map<std::string, std::string> xattrs{};
};

std::string layer_of(const std::vector<Entry>& entries, Compression compression = Compression::gzip) {
  std::string bytes;
  archive* a = archive_write_new();
  archive_write_set_format_pax(a);
  archive_write_set_bytes_in_last_block(a, 1);
  if (compression == Compression::gzip) archive_write_add_filter_gzip(a);
  if (compression == Compression::zstd) archive_write_add_filter_zstd(a);
  archive_write_open(
      a, &bytes, nullptr,
      [](archive*, void* all, const void* data, std::size_t size) {
        static_cast<std::string*>(all)->append(static_cast<const char*>(data), size);
        return static_cast<la_ssize_t>(size);
      },
      nullptr);
  for (const Entry& entry : entries) {
    archive_entry* e = archive_entry_new();
    archive_entry_set_pathname(e, entry.name.c_str());
    unsigned kind = entry.name.ends_with('/') ? AE_IFDIR : AE_IFREG;
    if (!entry.link.empty()) kind = AE_IFLNK, archive_entry_set_symlink(e, entry.link.c_str());
    if (!entry.hard_link.empty()) archive_entry_set_hardlink(e, entry.hard_link.c_str());
    archive_entry_set_filetype(e, entry.kind != 0 ? entry.kind : kind);
    archive_entry_set_perm(e, entry.mode);
    archive_entry_set_uid(e, entry.owner);
    archive_entry_set_gid(e, entry.group);
    if (entry.kind == AE_IFCHR || entry.kind == AE_IFBLK) archive_entry_set_rdev(e, makedev(entry.device, entry.device));
    archive_entry_set_size(e, static_cast<la_int64_t>(entry.content.size()));
    for (const auto& [name, value] : entry.xattrs) archive_entry_xattr_add_entry(e, name.c_str(), value.data(), value.size());
    archive_write_header(a, e);
    archive_write_data(a, entry.content.data(), entry.content.size());
    archive_entry_free(e);
  }
  archive_write_close(a);
  archive_write_free(a);
  return bytes;
}

Entry directory(std::string name, unsigned mode = 0755) { return {.name = std::move(name), .mode = mode}; }
Entry link(std::string name, std::string target) { return {.name = std::move(name), .link = std::move(target)}; }
Entry hard_link(std::string name, std::string target) { return {.name = std::move(name), .hard_link = std::move(target)}; }
Entry special(std::string name, unsigned kind, int device = 0) {
  return {.name = std::move(name), .kind = kind, .device = device};
}

// A tree beside a folder that no layer may change.
struct World {
  World() {
    fs::create_directory(tree());
    fs::create_directory(outside());
    write(outside() + "/secret", "secret");
  }

  std::string tree() const { return folder.path() + "/tree"; }
  std::string outside() const { return folder.path() + "/outside"; }
  std::string at(const std::string& path) const { return tree() + "/" + path; }

  static void write(const std::string& path, const std::string& content) { std::ofstream(path) << content; }

  Result<> apply(const std::string& bytes, std::optional<Digest> diff_id = {},
                 std::function<bool(std::string_view)> wanted = {}) {
    const std::string file = folder.path() + "/layer";
    write(file, bytes);
    return apply_layer(test.context(), {file, std::move(diff_id), std::move(wanted)}, tree());
  }
  std::string message(const std::string& bytes, std::optional<Digest> diff_id = {}) {
    const Result<> result = apply(bytes, std::move(diff_id));
    return result.ok() ? "" : result.error().message().substr(("layer " + folder.path() + "/layer: ").size());
  }

  // The tree, sorted: "a/ b=content c->target".
  std::string text() const { return text_of(tree()); }
  static std::string text_of(const std::string& root) {
    std::vector<std::string> lines;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const std::string name = entry.path().lexically_relative(root);
      if (entry.is_symlink()) {
        lines.push_back(name + "->" + fs::read_symlink(entry.path()).string());
      } else if (entry.is_directory()) {
        lines.push_back(name + "/");
      } else {
        lines.push_back(name + "=" + sys::RealFiles().read(entry.path()).value());
      }
    }
    std::ranges::sort(lines);
    return join(lines, " ");
  }

  sys::TempDir folder = sys::TempDir::make("layer-test").value();
  testing_support::TestContext test;
};

struct stat info_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info;
}

TEST(ApplyLayer, FollowsTheRulesOfContainerRuntimes) {
  struct Case {
    const char* name;
    std::vector<Entry> lower;
    std::vector<Entry> upper;
    std::string expected;
  };
  const Case cases[] = {
      {"new", {}, {directory("./a/"), {"./a/b", "1"}, link("c", "/etc/x"), hard_link("d", "./a/b")}, "a/ a/b=1 c->/etc/x d=1"},
      {"parents", {}, {{"a/b/c", "1"}}, "a/ a/b/ a/b/c=1"},
      {"absolute name", {}, {{"/a//./b", "1"}}, "a/ a/b=1"},
      {"file replaces file", {{"a", "1"}}, {{"a", "2"}}, "a=2"},
      {"file replaces link", {link("a", "b"), {"b", "1"}}, {{"a", "2"}}, "a=2 b=1"},
      {"file replaces directory", {{"a/b/c", "1"}}, {{"a", "2"}}, "a=2"},
      {"link replaces directory", {{"a/b", "1"}}, {link("a", "b")}, "a->b"},
      {"directory replaces file", {{"a", "1"}}, {directory("a/")}, "a/"},
      {"directory replaces link", {{"b/x", "1"}, link("a", "b")}, {directory("a/")}, "a/ b/ b/x=1"},
      {"directory stays", {{"a/b", "1"}}, {directory("a/"), {"a/c", "2"}}, "a/ a/b=1 a/c=2"},
      {"last entry counts", {}, {{"a/b", "1"}, {"a", "2"}, {"a", "3"}}, "a=3"},
      {"whiteout", {{"a/b", "1"}, {"a/c", "1"}}, {{"a/.wh.b"}}, "a/ a/c=1"},
      {"whiteout of a directory", {{"a/b/c", "1"}, link("a/d", "/etc")}, {{".wh.a"}}, ""},
      {"whiteout of a link", {{"b/c", "1"}, link("a", "b")}, {{".wh.a"}}, "b/ b/c=1"},
      {"whiteout of nothing there", {{"a", "1"}}, {{".wh.b"}, {"c/.wh.d"}}, "a=1"},
      {"whiteout as device", {{"a/b", "1"}}, {special("a", AE_IFCHR)}, ""},
      {"whiteout before", {{"a/b", "1"}}, {{".wh.a"}, {"a/c", "2"}}, "a/ a/c=2"},
      {"whiteout after", {{"a/b", "1"}}, {{"a/c", "2"}, {".wh.a"}}, "a/ a/c=2"},
      {"whiteout of this layer's file", {{"a", "1"}}, {{"a", "2"}, {".wh.a"}}, "a=2"},
      {"opaque before", {{"a/b", "1"}, {"a/d/e", "1"}}, {directory("a/"), {"a/.wh..wh..opq"}, {"a/c", "2"}}, "a/ a/c=2"},
      {"opaque after",
       {{"a/b", "1"}, {"a/d/e", "1"}},
       {{"a/d/f", "2"}, {"a/b", "2"}, {"a/.wh..wh..opq"}},
       "a/ a/b=2 a/d/ a/d/f=2"},
      {"opaque root", {{"a/b", "1"}}, {{"c", "2"}, {".wh..wh..opq"}}, "c=2"},
      {"opaque through a link", {{"a/b", "1"}, link("l", "a")}, {{"a/c", "2"}, {"l/.wh..wh..opq"}}, "a/ a/c=2 l->a"},
      {"opaque nothing", {}, {{"a/.wh..wh..opq"}}, ""},
      {"notes of AUFS", {{"a", "1"}}, {directory(".wh..wh.plnk/"), {".wh..wh.plnk/12.3", "x"}, {".wh..wh.aufs"}}, "a=1"},
      {"hard link to a lower file", {{"a/b", "1"}}, {hard_link("c", "a/b")}, "a/ a/b=1 c=1"},
      {"hard link replaces", {{"a", "1"}, {"b/c", "2"}}, {hard_link("b", "a")}, "a=1 b=1"},
      {"hard link to itself", {{"a", "1"}}, {hard_link("a", "a")}, "a=1"},
      {"hard link to a link", {}, {link("a", "/etc/passwd"), hard_link("b", "a")}, "a->/etc/passwd b->/etc/passwd"},
      {"parent is a link",
       {directory("usr/lib/"), link("lib", "usr/lib")},
       {{"lib/x", "2"}},
       "lib->usr/lib usr/ usr/lib/ usr/lib/x=2"},
      {"not ASCII",
       {},
       {{"\xc3\xa4\xff", "1"}, {"\xc3\xb6", "2"}, link("l", "\xc3\xb6")},
       "l->\xc3\xb6 \xc3\xa4\xff=1 \xc3\xb6=2"},
      {"long names",
       {},
       {{std::string(200, 'a') + "/" + std::string(200, 'b'), "1"}},
       std::string(200, 'a') + "/ " + std::string(200, 'a') + "/" + std::string(200, 'b') + "=1"},
  };
  for (const Case& c : cases) {
    World s;
    ASSERT_EQ(s.message(layer_of(c.lower)), "") << c.name;
    EXPECT_EQ(s.message(layer_of(c.upper)), "") << c.name;
    EXPECT_EQ(s.text(), c.expected) << c.name;
  }
}

TEST(ApplyLayer, RefusesWhatATreeCannotHave) {
  struct Case {
    const char* name;
    std::vector<Entry> entries;
    std::string message;
  };
  const Case cases[] = {
      {"traversal", {{"a/../../outside/x", "1"}}, "a/../../outside/x: '..' is not allowed in names"},
      {"parent of the root", {directory("../")}, "../: '..' is not allowed in names"},
      {"whiteout of nothing", {{"a/.wh."}}, "a/.wh.: is a whiteout of nothing"},
      {"whiteout of the directory", {{"a/.wh.."}}, "a/.wh..: is a whiteout of nothing"},
      {"whiteout of the parent", {{"a/.wh..."}}, "a/.wh...: is a whiteout of nothing"},
      {"whiteout with a slash", {{".wh.a/b"}}, ".wh.a/b: a whiteout is not a directory"},
      {"whiteout of a traversal", {{".wh./../../outside"}}, ".wh./../../outside: '..' is not allowed in names"},
      {"device", {special("dev/null", AE_IFCHR, 1)}, "dev/null: is a device, which an OSTree commit cannot hold"},
      {"block device", {special("a", AE_IFBLK)}, "a: is a device, which an OSTree commit cannot hold"},
      {"fifo", {special("a", AE_IFIFO)}, "a: is a fifo, which an OSTree commit cannot hold"},
      {"hard link outside", {hard_link("a", "../outside/secret")}, "a: ../outside/secret: '..' is not allowed in names"},
      {"hard link to nothing", {hard_link("a", "b")}, "a: is a hard link to b, which does not exist"},
      {"hard link below nothing", {hard_link("a", "b/c")}, "a: is a hard link to b/c, which does not exist"},
      {"hard link to a directory", {directory("b/"), hard_link("a", "b")}, "a: is a hard link to the directory b"},
      {"parent is a file", {{"a", "1"}, {"a/b", "1"}}, "a: opening: Not a directory"},
      {"parent is a link to nothing", {link("a", "b"), {"a/c", "1"}}, "a: is a symbolic link to nothing"},
      {"parent is a loop", {link("a", "a"), {"a/c", "1"}}, "a: opening: Too many levels of symbolic links"},
      {"root is a file", {{".", "1"}}, ".: the root of a tree must be a directory"},
      {"root is removed", {special(".", AE_IFCHR)}, ".: the root of a tree must be a directory"},
      {"owner", {{.name = "a", .owner = 0xffffffff}}, "a: has an impossible owner, 4294967295:" + std::to_string(::getgid())},
  };
  for (const Case& c : cases) {
    World s;
    EXPECT_EQ(s.message(layer_of(c.entries)), c.message) << c.name;
    EXPECT_EQ(World::text_of(s.outside()), "secret=secret") << c.name;
  }
}

TEST(ApplyLayer, NeverLeavesTheTree) {
  World s;
  const std::vector<std::string> targets = {s.outside(), "../outside", "../../../../../../../.." + s.outside(),
                                            "a/../../outside"};
  for (const std::string& target : targets) {
    for (const std::vector<Entry>& entries : {std::vector<Entry>{{"l/secret", "changed"}},
                                              {{"l/new", "1"}},
                                              {{"l/.wh.secret"}},
                                              {{"l/.wh..wh..opq"}},
                                              {hard_link("x", "l/secret")},
                                              {directory("l/d/")},
                                              {link("l/k", "x")},
                                              {{".wh.l"}},
                                              {directory("l/", 0700)},
                                              {{"l", "1"}}}) {
      fs::remove_all(s.tree());
      fs::create_directory(s.tree());
      ASSERT_EQ(s.message(layer_of({directory("a/"), link("l", target)})), "");
      s.message(layer_of(entries));
      EXPECT_EQ(World::text_of(s.outside()), "secret=secret") << target << " " << entries[0].name;
      EXPECT_EQ(fs::hard_link_count(s.outside() + "/secret"), 1u);
      EXPECT_EQ(info_of(s.outside()).st_mode & 07777, 0755u);
    }
  }
  // The same links work if the tree has their targets.
  ASSERT_EQ(s.message(layer_of({directory("usr/lib/"),
                                link("lib", "/usr/lib"),
                                link("lib64", "../../usr/lib"),
                                {"lib/a", "1"},
                                {"lib64/b", "2"},
                                {".wh.l"}})),
            "");
  EXPECT_EQ(s.text(), "a/ lib->/usr/lib lib64->../../usr/lib usr/ usr/lib/ usr/lib/a=1 usr/lib/b=2");
}

TEST(ApplyLayer, NeverChangesFilesThatExist) {
  World s;
  const std::string objects = s.folder.path() + "/objects";
  fs::create_directory(objects);
  for (const std::string name : {"a", "b", "c", "d"}) {
    World::write(objects + "/" + name, "original");
    fs::permissions(objects + "/" + name, fs::perms(0644));
    fs::create_hard_link(objects + "/" + name, s.at(name));
  }
  ASSERT_EQ(s.message(layer_of({{.name = "a", .content = "new", .mode = 0600, .xattrs = {{"user.x", "1"}}},
                                link("b", "a"),
                                {".wh.c"},
                                {.name = "e", .hard_link = "d", .mode = 0600, .owner = 12345}})),
            "");
  EXPECT_EQ(s.text(), "a=new b->a d=original e=original");
  EXPECT_EQ(World::text_of(objects), "a=original b=original c=original d=original");
  for (const std::string name : {"a", "b", "c", "d"}) {
    EXPECT_EQ(info_of(objects + "/" + name).st_mode & 07777, 0644u);
    EXPECT_EQ(info_of(objects + "/" + name).st_uid, ::getuid());
    EXPECT_EQ(::listxattr((objects + "/" + name).c_str(), nullptr, 0), 0);
  }
}

TEST(ApplyLayer, SetsModesAndHoles) {
  World s;
  const mode_t umask_before = ::umask(077);
  std::string sparse(1 << 20, '\0');
  sparse += "end";
  ASSERT_EQ(s.message(layer_of({directory("./", 0711),
                                {.name = "a", .content = "1", .mode = 04755},
                                directory("d/", 02770),
                                directory("e/", 01777),
                                {"new/x", "1"},
                                {"sparse", sparse},
                                {"empty"}})),
            "");
  ::umask(umask_before);
  EXPECT_EQ(info_of(s.tree()).st_mode & 07777, 0711u);
  EXPECT_EQ(info_of(s.at("a")).st_mode & 07777, 04755u);
  EXPECT_EQ(info_of(s.at("d")).st_mode & 07777, 02770u);
  EXPECT_EQ(info_of(s.at("e")).st_mode & 07777, 01777u);
  EXPECT_EQ(info_of(s.at("new")).st_mode & 07777, 0755u);
  EXPECT_EQ(sys::RealFiles().read(s.at("sparse")).value(), sparse);
  EXPECT_EQ(fs::file_size(s.at("empty")), 0u);
  ASSERT_EQ(s.message(layer_of({directory("e/", 0700), {".wh.a"}})), "");
  EXPECT_EQ(info_of(s.at("e")).st_mode & 07777, 0700u);
}

TEST(ApplyLayer, SetsOwnersAndExtendedAttributes) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can change owners";
  World s;
  const std::string capability("\x01\x00\x00\x02\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
                               20);  // cap_net_raw
  const auto xattr = [](const std::string& path, const std::string& name) {
    char value[100];
    const ssize_t size = ::lgetxattr(path.c_str(), name.c_str(), value, sizeof value);
    return size < 0 ? "none" : std::string(value, static_cast<std::size_t>(size));
  };
  ASSERT_EQ(
      s.message(layer_of({{.name = "a",
                           .content = "1",
                           .mode = 06755,
                           .owner = 100'000,
                           .group = 7,
                           .xattrs = {{"security.capability", capability}, {"security.selinux", "x"}}},
                          {.name = "l", .link = "x", .owner = 5, .group = 6},
                          {.name = "d/", .mode = 0750, .owner = 3, .group = 4, .xattrs = {{"user.x", "1"}, {"user.y", "1"}}}})),
      "");
  EXPECT_EQ(info_of(s.at("a")).st_uid, 100'000u);
  EXPECT_EQ(info_of(s.at("a")).st_gid, 7u);
  EXPECT_EQ(info_of(s.at("a")).st_mode & 07777, 06755u);
  EXPECT_EQ(xattr(s.at("a"), "security.capability"), capability);
  EXPECT_EQ(xattr(s.at("a"), "security.selinux"), "none");
  EXPECT_EQ(info_of(s.at("l")).st_uid, 5u);
  EXPECT_EQ(info_of(s.at("d")).st_gid, 4u);
  EXPECT_EQ(xattr(s.at("d"), "user.x"), "1");
  ASSERT_EQ(s.message(layer_of({{.name = "d/", .mode = 0700, .owner = 8, .xattrs = {{"user.y", "2"}}}})), "");
  EXPECT_EQ(info_of(s.at("d")).st_uid, 8u);
  EXPECT_EQ(xattr(s.at("d"), "user.x"), "none");
  EXPECT_EQ(xattr(s.at("d"), "user.y"), "2");
}

TEST(ApplyLayer, ReadsEveryCompressionAndChecksTheDigest) {
  const std::vector<Entry> entries = {{"a", std::string(700'000, 'x')}, {"b", "1"}};
  const Digest digest = Digest::of(layer_of(entries, Compression::none));
  for (Compression compression : {Compression::none, Compression::gzip, Compression::zstd}) {
    World s;
    EXPECT_EQ(s.message(layer_of(entries, compression), digest), "");
    EXPECT_TRUE(s.text() == "a=" + entries[0].content + " b=1");
    EXPECT_EQ(s.message(layer_of({{"a"}}, compression), digest),
              fmt::format("digest mismatch: the unpacked content has {}, expected {}",
                          Digest::of(layer_of({{"a"}}, Compression::none)).text(), digest.text()));
  }
}

TEST(ApplyLayer, RefusesBrokenArchives) {
  World s;
  const std::string whole = layer_of({{"a", std::string(100'000, 'x')}}, Compression::none);
  EXPECT_EQ(s.message(""), "Unrecognized archive format");
  EXPECT_EQ(s.message("this is no archive"), "Unrecognized archive format");
  EXPECT_EQ(s.message(whole.substr(0, 50'000)), "Truncated tar archive");
  const std::string packed = layer_of({{"a", "1"}});
  EXPECT_EQ(s.message(packed.substr(0, packed.size() - 20)), "truncated gzip input");
  EXPECT_EQ(apply_layer(s.test.context(), {s.tree() + "/none"}, s.tree()).error().code(), Code::not_found);
  EXPECT_EQ(apply_layer(s.test.context(), {s.folder.path() + "/layer"}, s.tree() + "/none").error().code(), Code::not_found);
}

TEST(ApplyLayer, SkipsWhatIsNotWanted) {
  World s;
  ASSERT_EQ(s.message(layer_of({{"etc/keep", "1"}, {"etc/old", "1"}})), "");
  std::vector<std::string> seen;
  const Result<> result =
      s.apply(layer_of({directory("./"), special("dev/null", AE_IFCHR, 1), {"etc/.wh.keep"}, {"etc/.wh.old"}, {"a", "1"}}), {},
              [&](std::string_view path) {
                seen.emplace_back(path);
                return path != "etc/keep" && path != "dev/null";
              });
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(s.text(), "a=1 etc/ etc/keep=1");
  EXPECT_EQ(seen, (std::vector<std::string>{"", "dev/null", "etc/keep", "etc/old", "a"}));
}

TEST(ApplyLayer, Stops) {
  World s;
  s.test.stop.request_stop();
  EXPECT_EQ(s.apply(layer_of({{"a"}})).error().code(), Code::cancelled);
}

}  // namespace
}  // namespace slipway::release
