#include "release/blob_download.h"

#include "net/curl_http.h"
#include "release/registry_client.h"
#include "support/fake_registry.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::release {
namespace {

using testing_support::FakeRegistry;
using testing_support::HttpImposter;
using testing_support::SampleRelease;
using testing_support::TestContext;
using Seen = HttpImposter::Seen;
using Reply = HttpImposter::Reply;

// Downloads blobs of the sample release with a client. Time is virtual: pauses between attempts take no time.
struct World {
  World() : client(http, {}) { registry.fill(sample); }

  Reference image() const { return {registry.host(), "slipway/release", "0.1.0"}; }
  Descriptor blob(const std::string& digest) const {
    return {"t", Digest::parse(digest).value(), sample.blobs.at(digest).size()};
  }
  Result<std::string> read(const std::string& digest) {
    return blob_text(test.context(), client, image(), blob(digest), 1u << 20);
  }

  SampleRelease sample;
  FakeRegistry registry;
  net::CurlHttp http;
  TestContext test;
  RegistryClient client;
};

TEST(BlobDownload, ResumesAfterABreak) {
  for (const bool honors_range : {true, false}) {
    World s;
    s.registry.alter_reply = [&](const Seen& seen, Reply& reply) {
      if (!honors_range) reply = {.body = s.sample.blobs.at(s.sample.shared_layer)};
      reply.cut_after = honors_range ? 30'000 : 30'000 * s.registry.server.journal().size();
      EXPECT_EQ(seen.header("range").empty(), s.registry.server.journal().size() == 1);
    };
    auto blob = s.read(s.sample.shared_layer);
    ASSERT_TRUE(blob.ok()) << blob.error().message();
    EXPECT_TRUE(blob.value() == s.sample.blobs.at(s.sample.shared_layer));
    EXPECT_EQ(s.registry.server.journal().size(), (s.sample.blobs.at(s.sample.shared_layer).size() + 29'999) / 30'000)
        << honors_range;
  }
}

TEST(BlobDownload, FailsWithoutProgress) {
  World s;
  s.registry.alter_reply = [&](const Seen&, Reply& reply) {
    reply.cut_after = s.registry.server.journal().size() == 1 ? 1000 : 0;
  };
  auto blob = s.read(s.sample.shared_layer);
  ASSERT_FALSE(blob.ok());
  EXPECT_EQ(blob.error().code(), Code::unavailable);
  const std::size_t size = s.sample.blobs.at(s.sample.shared_layer).size();
  EXPECT_EQ(blob.error().message(),
            fmt::format("registry {0}: {0}: transfer closed with {1} bytes remaining to read", s.registry.host(), size - 1000));
  EXPECT_EQ(s.registry.server.journal().size(), 4u);
}

TEST(BlobDownload, RefusesAnotherSizeOrRange) {
  World s;
  const std::string blob = s.sample.blobs.at(s.sample.shared_layer);
  struct Case {
    const char* name;
    Reply reply;
    std::string message;
  };
  const Case cases[] = {
      {"short",
       {.body = blob.substr(1)},
       fmt::format("the server has {} bytes of blob {}, expected {}", blob.size() - 1, s.sample.shared_layer, blob.size())},
      {"long",
       {.body = blob + "x"},
       fmt::format("the server has {} bytes of blob {}, expected {}", blob.size() + 1, s.sample.shared_layer, blob.size())},
      {"other part",
       {.status = 206, .headers = {"Content-Range: bytes 5-9/100"}, .body = "12345"},
       fmt::format("blob {}: the server sent another range than requested", s.sample.shared_layer)},
  };
  for (const Case& c : cases) {
    s.registry.alter_reply = [&](const Seen&, Reply& reply) { reply = c.reply; };
    auto read = s.read(s.sample.shared_layer);
    ASSERT_FALSE(read.ok()) << c.name;
    EXPECT_EQ(read.error().message(), fmt::format("registry {}: {}", s.registry.host(), c.message));
    EXPECT_EQ(read.error().code(), Code::invalid);
  }
}

TEST(BlobDownload, ReturnsTheErrorOfTheSink) {
  World s;
  auto full = [](std::string_view) -> Result<> { return error(Code::unavailable, "no space left"); };
  Result<> result = s.client.blob(s.test.context(), s.image(), s.blob(s.sample.shared_layer), full);
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(result.error().message().ends_with("no space left")) << result.error().message();
  EXPECT_EQ(s.registry.server.journal().size(), 1u);
}

}  // namespace
}  // namespace slipway::release
