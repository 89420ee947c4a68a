#include "release/mirror.h"

#include "net/curl_http.h"
#include "support/fake_registry.h"
#include "support/test_context.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace slipway::release {
namespace {

using testing_support::FakeRegistry;
using testing_support::SampleRelease;
using testing_support::TestContext;
using Seen = FakeRegistry::Seen;
using Reply = FakeRegistry::Reply;

// Mirrors between two fake registries. Temporary files go to a folder where the test can count them.
struct World {
  World() : client(http, {}), folder(sys::TempDir::make("mirror-test").value()) {
    from.fill(sample);
    setenv("TMPDIR", folder.path().c_str(), 1);
  }
  ~World() { unsetenv("TMPDIR"); }

  Reference source() const { return {from.host(), "slipway/release", "0.1.0"}; }
  Reference target() const { return {to.host(), "mirror/release"}; }
  Result<MirrorResult> mirror() { return mirror_release(test.context(), client, source(), client, target()); }
  bool left_nothing_behind() const { return std::filesystem::is_empty(folder.path()); }

  SampleRelease sample;
  FakeRegistry from, to;
  net::CurlHttp http;
  TestContext test;
  RegistryClient client;
  sys::TempDir folder;
};

std::uint64_t size_of_blobs(const SampleRelease& sample) {
  std::uint64_t size = 0;
  for (const auto& [digest, bytes] : sample.blobs) size += sample.manifests.contains(digest) ? 0 : bytes.size();
  return size;
}

TEST(PlanMirror, CopiesSharedBlobsOnceAndLargestFirst) {
  const Digest a = Digest::of("a"), b = Digest::of("b"), c = Digest::of("c");
  const RawManifest manifest{"t", "m", Digest::of("m")};
  const Reference from{"a.example", "x"};
  const MirrorPlan plan =
      plan_mirror({"b.example", "y"}, "1",
                  {{"x", from, manifest, {{"t", a, 5}, {"t", b, 10}}}, {"release", from, manifest, {{"t", b, 10}, {"t", c, 7}}}});
  std::vector<Digest> order;
  for (const ReleaseBlob& blob : plan.blobs) order.push_back(blob.blob.digest);
  EXPECT_EQ(order, (std::vector<Digest>{b, c, a}));
  EXPECT_EQ(plan.bytes(), 22u);
  EXPECT_EQ(plan.images.back().name, "release");
  EXPECT_EQ(image_tag("4.20.0-0.ci+abc", "etcd"), "4.20.0-0.ci_abc-etcd");
  EXPECT_EQ(image_tag("0.1.0", "release"), "0.1.0");
}

TEST(MirrorRelease, CopiesEverythingOnce) {
  World s;
  auto result = s.mirror();
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_EQ(result->copied, size_of_blobs(s.sample));
  EXPECT_EQ(result->skipped, 0u);
  EXPECT_EQ(to_string(result->release), fmt::format("{}/mirror/release@{}", s.to.host(), s.sample.release));
  ASSERT_EQ(result->mirrors.size(), 1u);
  EXPECT_EQ(result->mirrors[0].source, SampleRelease::repository);
  EXPECT_EQ(result->mirrors[0].mirrors, std::vector<std::string>{s.to.host() + "/mirror/release"});
  FakeRegistry::State state = s.to.state();
  const std::map<std::string, std::string> tags = {
      {"0.1.0", s.sample.release}, {"0.1.0-etcd", s.sample.etcd}, {"0.1.0-coredns", s.sample.dns}};
  for (const auto& [tag, digest] : tags) {
    EXPECT_EQ(state.manifests[tag], s.sample.blobs[digest]) << tag;
  }
  EXPECT_EQ(state.blobs.size(), s.from.state().blobs.size());
  EXPECT_TRUE(state.uploads.empty());
  EXPECT_TRUE(s.left_nothing_behind());
  const std::vector<std::string> lines = s.to.server.lines();
  auto last_put = std::find_if(lines.rbegin(), lines.rend(), [](const std::string& line) { return line.starts_with("PUT"); });
  EXPECT_EQ(*last_put, "PUT /v2/mirror/release/manifests/0.1.0");
  const std::vector<sys::Event> events = s.test.events();
  EXPECT_EQ(events[events.size() - 2].fields.at("bytes"), events[events.size() - 2].fields.at("total"));

  s.to.server.forget();
  auto again = s.mirror();
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(again->copied, 0u);
  EXPECT_EQ(again->skipped, result->copied);
  for (const std::string& line : s.to.server.lines()) EXPECT_TRUE(line.starts_with("GET ") || line.starts_with("HEAD ")) << line;
}

TEST(MirrorRelease, KeepsIndexes) {
  World s;
  SampleRelease sample;
  Json entry = sample.descriptor(SampleRelease::manifest_type, sample.etcd);
  entry.as_object()["platform"] = {{"architecture", "s390x"}, {"os", "linux"}};
  const std::string image = sample.etcd;
  sample.etcd = sample.add_manifest(SampleRelease::index_type, {{"schemaVersion", 2}, {"manifests", {entry}}});
  sample.release = sample.add_image({sample.add(testing_support::make_tar(sample.release_files()))});
  s.from.fill(sample);
  auto result = s.mirror();
  ASSERT_TRUE(result.ok()) << result.error().message();
  FakeRegistry::State state = s.to.state();
  EXPECT_EQ(state.manifests["0.1.0-etcd"], sample.blobs[sample.etcd]);
  EXPECT_EQ(state.types["0.1.0-etcd"], SampleRelease::index_type);
  EXPECT_TRUE(state.manifests.contains(image));
}

TEST(MirrorRelease, LeavesNothingHalfDone) {
  const SampleRelease sample;
  const std::string layer = sample.shared_layer;
  struct Case {
    const char* name;
    std::function<void(const Seen&, Reply&)> alter_source, alter_target;
    Code code;
    std::string message;
  };
  auto nothing = [](const Seen&, Reply&) {};
  const Case cases[] = {
      {"blob with wrong content",
       [&](const Seen& seen, Reply& reply) {
         if (seen.line() == "GET /v2/slipway/release/blobs/" + layer) reply.body[7] ^= 1;
       },
       nothing, Code::invalid, "registry SOURCE: blob " + layer + ": digest mismatch, the content has sha256:"},
      {"blob missing at the source",
       [&](const Seen& seen, Reply& reply) {
         if (seen.line() == "GET /v2/slipway/release/blobs/" + layer) reply = {.status = 404};
       },
       nothing, Code::not_found, "registry SOURCE has no blob " + layer},
      {"component missing at the source",
       [&](const Seen& seen, Reply& reply) {
         if (seen.target.ends_with(sample.etcd)) reply = {.status = 404};
       },
       nothing, Code::not_found,
       "component etcd: registry.slipway.invalid exists only in mirrors, and no mirror is configured for "
       "registry.slipway.invalid/slipway/release"},
      {"upload refused", nothing,
       [](const Seen& seen, Reply& reply) {
         if (seen.method == "PUT") reply = {.status = 400};
       },
       Code::invalid, "registry TARGET answered 400"},
      {"upload always breaks", nothing,
       [](const Seen& seen, Reply& reply) {
         if (seen.method == "PUT") reply = {.status = 500};
       },
       Code::unavailable, "registry TARGET answered 500"},
      {"no right to push", nothing,
       [](const Seen& seen, Reply& reply) {
         if (seen.method == "POST") reply = {.status = 403};
       },
       Code::denied, "registry TARGET denied access to repository mirror/release (no login for this registry is known)"},
  };
  for (const Case& c : cases) {
    World s;
    s.from.alter_reply = c.alter_source;
    s.to.alter_reply = c.alter_target;
    auto result = s.mirror();
    ASSERT_FALSE(result.ok()) << c.name;
    std::string message = result.error().message();
    const std::map<std::string, std::string> names = {{s.from.host(), "SOURCE"}, {s.to.host(), "TARGET"}};
    for (const auto& [host, name] : names) {
      if (const std::size_t at = message.find(host); at != std::string::npos) message.replace(at, host.size(), name);
    }
    EXPECT_NE(message.find(c.message), std::string::npos) << c.name << ": " << message;
    EXPECT_EQ(result.error().code(), c.code) << c.name;
    for (const std::string& line : s.to.server.lines())
      EXPECT_EQ(line.find("manifests"), std::string::npos) << c.name << ": " << line;
    EXPECT_TRUE(s.left_nothing_behind()) << c.name;
    // If the start of an upload was not answered before the stop, its URL is unknown and it cannot be cancelled.
    std::set<std::string> begun, cancelled;
    for (const Seen& seen : s.to.server.journal()) {
      if (seen.method == "PUT") begun.insert(seen.target.substr(0, seen.target.find('?')));
      if (seen.method == "DELETE") cancelled.insert(seen.target.substr(0, seen.target.find('?')));
    }
    if (std::string(c.name).starts_with("upload")) {
      EXPECT_TRUE(std::ranges::includes(cancelled, begun)) << c.name;
    }
  }
}

}  // namespace
}  // namespace slipway::release
