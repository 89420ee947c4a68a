#include "release/release.h"

#include "release/oci_layout.h"
#include "support/sample_release.h"
#include "support/test_context.h"
#include "sys/files.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

namespace slipway::release {
namespace {

using testing_support::SampleRelease;
using testing_support::TestContext;

const Digest some_digest = Digest::of("x");
const Reference tagged{"layout.invalid", "release", "release"};

// The sample as an image layout on disk. The name "release" refers to `top`.
struct Layout {
  explicit Layout(const SampleRelease& sample) : Layout(sample, sample.release, SampleRelease::manifest_type) {}
  Layout(const SampleRelease& sample, const std::string& top, std::string_view type)
      : folder(sys::TempDir::make("release-test").value()) {
    auto write = [&](const std::string& name, const std::string& text) {
      EXPECT_TRUE(files.write(folder.path() + "/" + name, text, 0644).ok());
    };
    for (const auto& [digest, bytes] : sample.blobs) write("blobs/sha256/" + digest.substr(7), bytes);
    Json entry = sample.descriptor(type, top);
    entry.as_object()["annotations"] = {{"org.opencontainers.image.ref.name", "release"}};
    write("oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
    write("index.json", emit_json({{"schemaVersion", 2}, {"manifests", {entry}}}, JsonStyle::pretty));
  }

  OciLayout open() { return OciLayout::open(files, folder.path()).value(); }

  sys::RealFiles files;
  sys::TempDir folder;
  TestContext test;
};

TEST(ParseRelease, ReadsTheTwoDocuments) {
  const SampleRelease sample;
  auto release = parse_release(some_digest, sample.image_references(), sample.release_metadata());
  ASSERT_TRUE(release.ok()) << release.error().message();
  EXPECT_EQ(release->version, "0.1.0");
  EXPECT_EQ(release->digest, some_digest);
  EXPECT_EQ(release->metadata, (std::map<std::string, std::string>{{"description", "a sample"}}));
  EXPECT_EQ(release->versions(), (std::map<std::string, std::string>{{"coredns", "1.12.0"}, {"etcd", "3.6.5"}}));
  EXPECT_EQ(to_string(release->component("etcd").value()->image), fmt::format("{}@{}", SampleRelease::repository, sample.etcd));
}

TEST(ParseRelease, NamesSimilarComponents) {
  const SampleRelease sample;
  const Release release = parse_release(some_digest, sample.image_references(), sample.release_metadata()).value();
  EXPECT_EQ(release.component("ectd").error().message(), "release 0.1.0 has no component 'ectd' (did you mean etcd?)");
  EXPECT_EQ(release.component("dns").error().message(), "release 0.1.0 has no component 'dns' (did you mean coredns?)");
  EXPECT_EQ(release.component("kubelet").error().message(), "release 0.1.0 has no component 'kubelet'");
  EXPECT_EQ(release.component("").error().code(), Code::not_found);
}

TEST(ParseRelease, NamesEveryProblem) {
  auto release = parse_release(some_digest, R"({"kind": "List", "metadata": {"name": "1"}, "spec": {"tags": [
      {"name": "a", "from": {"kind": "DockerImage", "name": "example.com/a:1"}},
      {"name": "b", "from": {"kind": "ImageStreamTag", "name": "x"}},
      {"from": {"kind": "DockerImage", "name": "A"}},
      {"name": "c", "annotations": {"io.openshift.build.versions": "a=1,a=2,b"}, "from": {"kind": "DockerImage",
       "name": "example.com/c@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}},
      {"name": "c", "from": {"kind": "DockerImage",
       "name": "example.com/c@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}]}})",
                               R"({"kind": "x"})");
  ASSERT_FALSE(release.ok());
  EXPECT_EQ(release.error().message(),
            "image-references: error: kind: must be ImageStream\n"
            "image-references: error: metadata.name: must be the version of release-metadata, ''\n"
            "image-references: error: spec.tags[0].from.name: must have a digest\n"
            "image-references: error: spec.tags[1].from: must have kind DockerImage and a name\n"
            "image-references: error: spec.tags[2].from.name: image reference 'A': has no registry (use REGISTRY/REPOSITORY)\n"
            "image-references: error: spec.tags[2].name: missing\n"
            "image-references: error: spec.tags[3].annotations.\"io.openshift.build.versions\": duplicate name 'a'\n"
            "image-references: error: spec.tags[3].annotations.\"io.openshift.build.versions\": 'b' is not NAME=VERSION\n"
            "image-references: error: spec.tags[4].name: duplicate name 'c'\n"
            "release-metadata: error: kind: must be cincinnati-metadata-v0\n"
            "release-metadata: error: version: missing");
}

TEST(LoadRelease, ReadsALayout) {
  const SampleRelease sample;
  Layout layout(sample);
  OciLayout source = layout.open();
  auto release = load_release(layout.test.context(), source, tagged);
  ASSERT_TRUE(release.ok()) << release.error().message();
  EXPECT_EQ(release->digest.text(), sample.release);
  EXPECT_EQ(release->created, "2026-11-21T09:30:00Z");
  EXPECT_EQ(release->manifests, std::vector<std::string>{"0000_10_a.crd.yaml"});
  EXPECT_EQ(release->components.size(), 2u);
}

TEST(LoadRelease, PicksThisMachineOfAnIndex) {
  SampleRelease sample;
  auto index_of = [&](std::vector<std::string> architectures) {
    JsonArray list;
    for (const std::string& architecture : architectures) {
      const bool other = architecture == "s390x";
      Json entry = sample.descriptor(SampleRelease::manifest_type, other ? sample.etcd : sample.release);
      entry.as_object()["platform"] = {{"os", "linux"}, {"architecture", architecture}};
      list.push_back(entry);
    }
    return sample.add_manifest(SampleRelease::index_type, {{"schemaVersion", 2}, {"manifests", list}});
  };
  const std::string all = index_of({"s390x", "amd64", "arm64"});
  const std::string other = index_of({"s390x"});
  Layout good(sample, all, SampleRelease::index_type), bad(sample, other, SampleRelease::index_type);
  OciLayout source = good.open(), bad_source = bad.open();
  auto release = load_release(good.test.context(), source, tagged);
  ASSERT_TRUE(release.ok()) << release.error().message();
  EXPECT_EQ(release->digest.text(), all);
  const std::string message = load_release(bad.test.context(), bad_source, tagged).error().message();
  EXPECT_NE(message.find("image index " + other + " has no image for "), std::string::npos) << message;
}

TEST(LoadRelease, UpperLayersHideLowerOnes) {
  SampleRelease sample;
  auto release_of = [&](std::vector<std::pair<std::string, std::string>> top) {
    const std::string lower = sample.add(testing_support::make_tar(sample.release_files()));
    const std::string digest = sample.add_image({lower, sample.add(testing_support::make_tar(top))});
    Layout layout(sample, digest, SampleRelease::manifest_type);
    OciLayout source = layout.open();
    return load_release(layout.test.context(), source, tagged).context("");
  };
  auto changed = release_of({{"release-manifests/.wh.0000_10_a.crd.yaml", ""}, {"release-manifests/new.yaml", ""}});
  ASSERT_TRUE(changed.ok()) << changed.error().message();
  EXPECT_EQ(changed->manifests, std::vector<std::string>{"new.yaml"});
  for (const char* name : {"release-manifests/.wh..wh..opq", "release-manifests/.wh.image-references"}) {
    auto gone = release_of({{name, ""}});
    ASSERT_FALSE(gone.ok());
    EXPECT_TRUE(gone.error().message().ends_with("not a release image, /release-manifests/image-references not found")) << name;
  }
}

TEST(LoadRelease, ExplainsWhatIsWrong) {
  SampleRelease sample;
  const std::string no_release = sample.etcd;
  Layout plain(sample, no_release, SampleRelease::manifest_type), damaged(sample), missing(sample);
  const std::string manifest = "/blobs/sha256/" + sample.release.substr(7);
  ASSERT_TRUE(damaged.files.write(damaged.folder.path() + manifest, "{}", 0644).ok());
  ASSERT_TRUE(missing.files.remove(missing.folder.path() + manifest).ok());
  struct Case {
    Layout& layout;
    Code code;
    std::string message;
  };
  const Case cases[] = {
      {plain, Code::invalid, "not a release image, /release-manifests/image-references not found"},
      {damaged, Code::invalid,
       fmt::format("{}: {}: digest mismatch, the content has {}", damaged.folder.path(), sample.release,
                   Digest::of("{}").text())},
      {missing, Code::not_found, fmt::format("{} has no image {}", missing.folder.path(), sample.release)},
  };
  for (const Case& c : cases) {
    OciLayout source = c.layout.open();
    auto release = load_release(c.layout.test.context(), source, tagged);
    ASSERT_FALSE(release.ok()) << c.message;
    EXPECT_EQ(release.error().message(), fmt::format("reading release {}: {}", c.layout.folder.path(), c.message));
    EXPECT_EQ(release.error().code(), c.code);
  }
}

TEST(OciLayout, NamesWhatIsMissing) {
  Layout layout{SampleRelease()};
  const std::string path = layout.folder.path();
  OciLayout source = layout.open();
  EXPECT_EQ(source.manifest(layout.test.context(), {"x", "y", "other"}).error().message(),
            path + " has no image 'other' (images: release)");
  EXPECT_EQ(source.blob(layout.test.context(), tagged, {"t", some_digest, 1}, nullptr).error().message(),
            path + " has no blob " + some_digest.text());
  EXPECT_EQ(OciLayout::open(layout.files, path + "/x").error().message(), "image layout " + path + "/x: not found");
  ASSERT_TRUE(layout.files.remove(path + "/index.json").ok());
  EXPECT_EQ(OciLayout::open(layout.files, path).error().message(), path + " is not an image layout, file index.json not found");
}

}  // namespace
}  // namespace slipway::release
