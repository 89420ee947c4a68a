#include "release/blob_store.h"

#include "net/curl_http.h"
#include "release/oci_layout.h"
#include "release/registry_client.h"
#include "support/fake_registry.h"
#include "support/test_context.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

namespace slipway::release {
namespace {

using testing_support::FakeRegistry;
using testing_support::HttpImposter;
using testing_support::SampleRelease;
using Seen = HttpImposter::Seen;
using Reply = HttpImposter::Reply;

// Fetches the largest blob of the sample release.
struct World {
  World() : client(http, {}) { registry.fill(sample); }

  Result<std::string> fetch() { return fetch_from(client); }
  Result<std::string> fetch_from(ImageSource& source) {
    return fetch_blob(test.context(), source, {registry.host(), "slipway/release"},
                      {"t", Digest::parse(sample.shared_layer).value(), content().size()}, store);
  }
  const std::string& content() const { return sample.blobs.at(sample.shared_layer); }

  // The ranges of all requests since the last call.
  std::vector<std::string> ranges() {
    std::vector<std::string> all;
    for (const Seen& seen : registry.server.journal()) all.push_back(seen.header("range"));
    registry.server.forget();
    return all;
  }
  void expect_fetched(const Result<std::string>& result) {
    ASSERT_TRUE(result.ok()) << result.error().message();
    EXPECT_EQ(result.value(), path);
    EXPECT_TRUE(files.read(path).value() == content());
    EXPECT_EQ(files.list(store).value().size(), 1u);
  }

  SampleRelease sample;
  FakeRegistry registry;
  net::CurlHttp http;
  testing_support::TestContext test;
  RegistryClient client;
  sys::RealFiles files;
  sys::TempDir folder = sys::TempDir::make("blob-store-test").value();
  const std::string store = folder.path() + "/store";
  const std::string path = store + "/sha256-" + Digest::parse(sample.shared_layer).value().hex();
  const std::string part = path + ".part";
};

using Ranges = std::vector<std::string>;

TEST(FetchBlob, FetchesOnce) {
  World s;
  s.expect_fetched(s.fetch());
  EXPECT_EQ(s.ranges(), Ranges{""});
  s.expect_fetched(s.fetch());
  EXPECT_EQ(s.ranges(), Ranges{});
  ASSERT_TRUE(s.files.write(s.path, "damaged", 0644).ok());
  s.expect_fetched(s.fetch());
  EXPECT_EQ(s.ranges(), Ranges{""});
}

TEST(FetchBlob, ContinuesAfterAFailure) {
  World s;
  s.registry.alter_reply = [](const Seen& seen, Reply& reply) { reply.cut_after = seen.header("range").empty() ? 50'000 : 0; };
  EXPECT_EQ(s.fetch().error().code(), Code::unavailable);
  EXPECT_EQ(s.files.read(s.part).value().size(), 50'000u);
  s.ranges();
  s.registry.alter_reply = [](const Seen&, Reply&) {};
  s.expect_fetched(s.fetch());
  EXPECT_EQ(s.ranges(), Ranges{"bytes=50000-"});
}

TEST(FetchBlob, ContinuesAfterAKill) {
  World s;
  ASSERT_TRUE(s.files.write(s.part, s.content().substr(0, 70'001), 0644).ok());
  s.expect_fetched(s.fetch());
  EXPECT_EQ(s.ranges(), Ranges{"bytes=70001-"});

  // After the last byte, before the rename.
  ASSERT_TRUE(s.files.rename(s.path, s.part).ok());
  s.expect_fetched(s.fetch());
  EXPECT_EQ(s.ranges(), Ranges{});
}

TEST(FetchBlob, AcceptsServersThatIgnoreRanges) {
  World s;
  ASSERT_TRUE(s.files.write(s.part, s.content().substr(0, 70'001), 0644).ok());
  s.registry.alter_reply = [&](const Seen&, Reply& reply) { reply = {.body = s.content()}; };
  s.expect_fetched(s.fetch());
  EXPECT_EQ(s.ranges(), Ranges{"bytes=70001-"});
}

TEST(FetchBlob, StartsOverAfterADamagedPart) {
  const std::string content = World().content();
  struct Case {
    const char* name;
    std::string part;
    Ranges ranges;
  };
  std::string changed = content;
  changed[10] ^= 1;
  const Case cases[] = {{"wrong start", changed.substr(0, 20'000), {"bytes=20000-", ""}},
                        {"wrong whole", changed, {""}},
                        {"too long", content + "x", {""}},
                        {"empty", "", {""}}};
  for (const Case& c : cases) {
    World s;
    ASSERT_TRUE(s.files.write(s.part, c.part, 0644).ok());
    s.expect_fetched(s.fetch());
    EXPECT_EQ(s.ranges(), c.ranges) << c.name;
  }
}

TEST(FetchBlob, KeepsThePartUnlessTheContentIsWrong) {
  World s;
  ASSERT_TRUE(s.files.write(s.part, s.content().substr(0, 10), 0644).ok());
  s.registry.alter_reply = [](const Seen&, Reply& reply) { reply = {.status = 400}; };
  EXPECT_EQ(s.fetch().error().code(), Code::invalid);
  EXPECT_EQ(s.files.read(s.part).value(), s.content().substr(0, 10));

  s.ranges();
  s.registry.alter_reply = [&](const Seen&, Reply& reply) { reply = {.body = std::string(s.content().size(), 'x')}; };
  const Result<std::string> wrong = s.fetch();
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message().find("digest mismatch"), std::string::npos) << wrong.error().message();
  EXPECT_EQ(s.ranges(), (Ranges{"bytes=10-", ""}));
  EXPECT_TRUE(s.files.list(s.store).value().empty());
}

TEST(FetchBlob, ContinuesFromALayout) {
  World s;
  const std::string layout = s.folder.path() + "/layout";
  const std::string hex = Digest::parse(s.sample.shared_layer).value().hex();
  ASSERT_TRUE(s.files.write(layout + "/oci-layout", R"({"imageLayoutVersion":"1.0.0"})", 0644).ok());
  ASSERT_TRUE(s.files.write(layout + "/index.json", R"({"schemaVersion":2,"manifests":[]})", 0644).ok());
  ASSERT_TRUE(s.files.write(layout + "/blobs/sha256/" + hex, s.content(), 0644).ok());
  OciLayout source = OciLayout::open(s.files, layout).value();
  ASSERT_TRUE(s.files.write(s.part, s.content().substr(0, 70'001), 0644).ok());
  s.expect_fetched(s.fetch_from(source));
  ASSERT_TRUE(s.files.write(s.path, "damaged", 0644).ok());
  s.expect_fetched(s.fetch_from(source));
}

}  // namespace
}  // namespace slipway::release
