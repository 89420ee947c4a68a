#include "release/release_archive.h"

#include "net/curl_http.h"
#include "release/oci_layout.h"
#include "release/registry_client.h"
#include "support/fake_registry.h"
#include "support/test_context.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace slipway::release {
namespace {

using testing_support::FakeRegistry;
using testing_support::SampleRelease;
using testing_support::TestContext;

const std::string repository = "registry.slipway.invalid/slipway/release";

struct World {
  World() : client(http, {}), folder(sys::TempDir::make("archive-test").value()) { registry.fill(sample); }

  std::string path(const std::string& name) const { return folder.path() + "/" + name; }
  Reference source() const { return {registry.host(), "slipway/release", "0.1.0"}; }

  Result<ArchivedRelease> export_to(const std::string& name) {
    return export_release(test.context(), files, client, source(), repository, path(name));
  }
  Result<ArchivedRelease> import_from(const std::string& name, const std::string& to) {
    return import_release(test.context(), files, path(name), path(to));
  }
  std::string content(const std::string& name) { return files.read(path(name)).value(); }

  // Archives the files, in this order.
  void put_archive(const std::string& name, const std::vector<std::pair<std::string, std::string>>& entries) {
    ASSERT_TRUE(files.write(path(name), testing_support::make_tar(entries, testing_support::Compression::none), 0600).ok());
  }

  SampleRelease sample;
  FakeRegistry registry;
  net::CurlHttp http;
  TestContext test;
  RegistryClient client;
  sys::RealFiles files;
  sys::TempDir folder;
};

TEST(ReleaseArchive, CarriesEverything) {
  World world;
  const auto exported = world.export_to("a.tar");
  ASSERT_TRUE(exported.ok()) << exported.error().message();
  EXPECT_EQ(exported->version, "0.1.0");
  EXPECT_EQ(exported->digest.text(), world.sample.release);
  const auto imported = world.import_from("a.tar", "a");
  ASSERT_TRUE(imported.ok()) << imported.error().message();
  EXPECT_EQ(imported->digest, exported->digest);
  EXPECT_EQ(imported->bytes, exported->bytes);
  for (const auto& [digest, bytes] : world.sample.blobs) {
    EXPECT_EQ(world.content("a/blobs/sha256/" + digest.substr(7)), bytes) << digest;
  }
  const std::string index = world.content("a/index.json");
  for (const char* name : {"slipway/release:0.1.0-etcd\"", "slipway/release:0.1.0-coredns\"", "slipway/release:0.1.0\""}) {
    EXPECT_NE(index.find(name), std::string::npos) << name << index;
  }
  const std::vector<sys::Event> events = world.test.events();
  EXPECT_EQ(events.back().kind, "import");
  EXPECT_EQ(events.back().phase, sys::Phase::finished);
}

TEST(ReleaseArchive, IsTheSameEachTimeAndAfterAnImport) {
  World world;
  ASSERT_TRUE(world.export_to("a.tar").ok());
  ASSERT_TRUE(world.export_to("b.tar").ok());
  EXPECT_EQ(world.content("a.tar"), world.content("b.tar"));
  ASSERT_TRUE(world.import_from("a.tar", "a").ok());
  OciLayout layout = OciLayout::open(world.files, world.path("a")).value();
  const Reference reference{.registry = "layout.invalid", .repository = "release", .tag = "release"};
  ASSERT_TRUE(export_release(world.test.context(), world.files, layout, reference, repository, world.path("c.tar")).ok());
  EXPECT_EQ(world.content("a.tar"), world.content("c.tar"));
}

TEST(ReleaseArchive, AFailedExportLeavesTheFileThatWasThere) {
  World world;
  ASSERT_TRUE(world.files.write(world.path("a.tar"), "before", 0600).ok());
  const std::string layer = world.sample.shared_layer;
  world.registry.alter_reply = [&](const FakeRegistry::Seen& seen, FakeRegistry::Reply& reply) {
    if (seen.line().find(layer) != std::string::npos) reply.status = 404;
  };
  EXPECT_FALSE(world.export_to("a.tar").ok());
  EXPECT_EQ(world.content("a.tar"), "before");
  EXPECT_FALSE(std::filesystem::exists(world.path("a.tar.new")));
}

TEST(ReleaseArchive, RefusesWhatItCannotVerify) {
  World world;
  ASSERT_TRUE(world.export_to("a.tar").ok());
  ASSERT_TRUE(world.import_from("a.tar", "a").ok());
  using Entries = std::vector<std::pair<std::string, std::string>>;
  Entries good = {{"oci-layout", world.content("a/oci-layout")}, {"index.json", world.content("a/index.json")}};
  for (const auto& [digest, bytes] : world.sample.blobs) good.emplace_back("blobs/sha256/" + digest.substr(7), bytes);
  const std::string etcd = "blobs/sha256/" + world.sample.etcd.substr(7);
  const std::string layer = "blobs/sha256/" + world.sample.shared_layer.substr(7);
  struct Case {
    const char* name;
    std::function<void(Entries&)> change;
    std::string message;
  };
  const auto entry = [](Entries& entries, const std::string& name) {
    return std::ranges::find(entries, name, &std::pair<std::string, std::string>::first);
  };
  const std::vector<Case> cases = {
      {"another content", [&](Entries& e) { entry(e, layer)->second[7] ^= 1; }, "digest mismatch, the content has sha256:"},
      {"without a manifest", [&](Entries& e) { e.erase(entry(e, etcd)); }, "component etcd: "},
      {"without a layer", [&](Entries& e) { e.erase(entry(e, layer)); }, ": "},
      {"without an index", [&](Entries& e) { e.erase(entry(e, "index.json")); }, "index.json not found"},
      {"a path outside", [](Entries& e) { e.emplace_back("../outside", "x"); },
       "'../outside' does not belong to an image layout"},
      {"a path inside a blob's name", [](Entries& e) { e.emplace_back("blobs/sha256/../../x", "x"); }, "does not belong"},
      {"another file", [](Entries& e) { e.emplace_back("etc/passwd", "x"); }, "'etc/passwd' does not belong"},
      {"a blob twice", [&](Entries& e) { e.push_back(*entry(e, layer)); }, "File exists"},
  };
  int number = 0;
  for (const Case& c : cases) {
    Entries entries = good;
    c.change(entries);
    const std::string name = fmt::format("bad-{}", ++number);
    world.put_archive(name + ".tar", entries);
    const auto imported = world.import_from(name + ".tar", name);
    ASSERT_FALSE(imported.ok()) << c.name;
    EXPECT_TRUE(imported.error().message().starts_with(world.path(name + ".tar: "))) << imported.error().message();
    EXPECT_NE(imported.error().message().find(c.message), std::string::npos) << c.name << ": " << imported.error().message();
  }
  ASSERT_TRUE(world.files.write(world.path("cut.tar"), world.content("a.tar").substr(0, 150'000), 0600).ok());
  EXPECT_FALSE(world.import_from("cut.tar", "cut").ok());
  EXPECT_EQ(world.import_from("none.tar", "none").error().code(), Code::not_found);
  EXPECT_EQ(world.import_from("a.tar", "a").error().code(), Code::conflict);
  world.put_archive("folders.tar", [&] {
    Entries entries = {{"./blobs/", ""}, {"./blobs/sha256/", ""}};
    for (const auto& [path, bytes] : good) entries.emplace_back("./" + path, bytes);
    return entries;
  }());
  const auto of_another_tool = world.import_from("folders.tar", "folders");
  EXPECT_TRUE(of_another_tool.ok()) << of_another_tool.error().message();
}

}  // namespace
}  // namespace slipway::release
