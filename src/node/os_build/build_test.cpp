// A build with a podman that writes what the test says, and a registry in memory.
#include "node/os_build/build.h"

#include "base/text.h"
#include "machineconfig/os_build_limits.h"
#include "net/curl_http.h"
#include "node/os_build/leftovers.h"
#include "release/release.h"
#include "support/fake_registry.h"
#include "support/seeded_random.h"
#include "support/test_context.h"
#include "sys/temp_dir.h"
#include "sys/wait_for.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace slipway::node {
namespace {

using machineconfig::OsBuild;
using machineconfig::OsImage;
using release::Digest;

struct Image {
  std::string config, layer, manifest;

  Digest digest() const { return Digest::of(manifest); }
};

Json descriptor(std::string_view type, std::string_view content) {
  return {{"mediaType", type}, {"digest", Digest::of(content).text()}, {"size", content.size()}};
}

Image make_image(const std::string& layer, std::string_view architecture = release::machine_architecture(), int diff_ids = 1) {
  JsonArray ids(static_cast<std::size_t>(diff_ids), Json(Digest::of(layer).text()));
  Image image{.config = emit_json({{"architecture", architecture}, {"rootfs", {{"diff_ids", ids}}}}, JsonStyle::compact),
              .layer = layer,
              .manifest = {}};
  image.manifest = emit_json({{"schemaVersion", 2},
                              {"mediaType", testing_support::SampleRelease::manifest_type},
                              {"config", descriptor("application/vnd.oci.image.config.v1+json", image.config)},
                              {"layers", JsonArray{descriptor("application/vnd.oci.image.layer.v1.tar+gzip", layer)}}},
                             JsonStyle::compact);
  return image;
}

// podman and df.
class FakePodman final : public sys::Runner {
 public:
  explicit FakePodman(std::string folder) : folder_(std::move(folder)) {}

  Result<sys::Output> run(const sys::Context& context, const sys::Command& command) override {
    journal.push_back(join(command.argv, " "));
    if (command.argv[0] == "df") return sys::Output{.status = 0, .out = fmt::format("Avail Mounted on\n{} /\n", free), .err = ""};
    const bool has_vfs = command.argv[3].starts_with("--storage-driver");
    const std::string verb = command.argv[has_vfs ? 4 : 3];
    if (verb == "info") {
      if (is_overlay_broken && !has_vfs) return sys::Output{.status = 125, .out = "", .err = "Error: overlay"};
      return sys::Output{.status = 0, .out = folder_ + "/storage\n", .err = ""};
    }
    if (verb == "build") {
      const std::vector<std::string> lines = build(++builds);
      for (const std::string& line : lines) command.on_line(sys::Stream::out, line);
      if (takes > Milliseconds(0)) {
        EXPECT_TRUE(sys::pause(context, std::min(takes, command.limit)));
        if (takes >= command.limit) return error(Code::timeout, "podman: stopped after its limit");
      }
      return sys::Output{.status = lines.back().starts_with("Error: ") ? 1 : 0, .out = "", .err = ""};
    }
    if (verb == "push") TRY(write_layout(command.argv.back()));
    if (verb == "images") {
      const bool of_results = command.argv[5].starts_with("--filter=");
      return sys::Output{.status = 0, .out = of_results ? results : images, .err = ""};
    }
    if (verb == "history") return sys::Output{.status = 0, .out = history, .err = ""};
    if (verb == "rmi" && command.argv.back() == build_before) results = results.substr(results.find('\n') + 1);
    return sys::Output{};
  }

  bool did(std::string_view text) const {
    return std::ranges::any_of(journal, [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }

  std::vector<std::string> journal;
  std::uint64_t free = 1ULL << 40;
  bool is_overlay_broken = false;
  int builds = 0;
  Milliseconds takes{0};  // a build
  std::function<std::vector<std::string>(int run)> build = [](int) { return std::vector<std::string>{"STEP 1/1: FROM base"}; };
  Image image = make_image("layer");
  std::string images, results, history;  // answers
  std::string build_before{};            // the name in the first line of `results`

 private:
  // place: "oci:FOLDER:NAME"
  Result<> write_layout(const std::string& place) {
    const std::vector<std::string_view> parts = split(place, ':');
    const std::string folder(parts[1]);
    for (const std::string& content : {image.config, image.layer, image.manifest}) {
      TRY(files_.write(fmt::format("{}/blobs/sha256/{}", folder, Digest::of(content).hex()), content, 0644));
    }
    Json entry = descriptor(testing_support::SampleRelease::manifest_type, image.manifest);
    entry.as_object()["annotations"] = {{"org.opencontainers.image.ref.name", parts[2]}};
    TRY(files_.write(folder + "/index.json",
                     emit_json({{"schemaVersion", 2}, {"manifests", JsonArray{entry}}}, JsonStyle::compact), 0644));
    return files_.write(folder + "/oci-layout", R"({"imageLayoutVersion":"1.0.0"})", 0644);
  }

  std::string folder_;
  sys::RealFiles files_;
};

class OsBuilds : public testing::Test {
 protected:
  OsBuilds() {
    const Image base = make_image("base");
    put_base(base);
    write_build();
  }

  void put_base(const Image& base) {
    testing_support::SampleRelease sample;
    for (const std::string& content : {base.config, base.layer, base.manifest})
      sample.blobs[Digest::of(content).text()] = content;
    sample.manifests[base.digest().text()] = testing_support::SampleRelease::manifest_type;
    sample.release = base.digest().text();
    registry.fill(sample);
    build.base_image = registry.host() + "/base@" + base.digest().text();
  }

  void write_build() {
    ASSERT_TRUE(files.write(options.folder + "/build.json", emit_json(to_json(build), JsonStyle::pretty), 0644).ok());
    ASSERT_TRUE(files.write(options.folder + "/Containerfile", build.containerfile, 0644).ok());
  }

  Environment environment() {
    return {context, files, podman, random, http, [](std::string_view) {}};
  }

  Result<OsImage> run() { return build_os_image(environment(), options); }
  std::string text(const std::string& path) {
    return files.read(options.output + "/" + path).ok() ? files.read(options.output + "/" + path).value() : "";
  }
  bool has_pushed() { return registry.state().manifests.contains(podman.image.digest().text()); }

  sys::TempDir folder = sys::TempDir::make("os-build-test").value();
  testing_support::TestContext test;
  sys::Context context = test.context();
  sys::RealFiles files;
  FakePodman podman{folder.path()};
  testing_support::SeededRandom random{1};
  net::CurlHttp http;
  testing_support::FakeRegistry registry;
  OsBuildOptions options{.folder = folder.path() + "/build", .output = folder.path() + "/output"};
  OsBuild build{.name = "master-1",
                .pool = "master",
                .rendered = "rendered-master-1",
                .base_image = "",
                .repository = registry.host() + "/team/os",
                .registry = registry.host(),
                .containerfile = "FROM base AS configs\nLABEL machineconfig=\"x\"\nFROM configs AS final\nRUN program\n"};
};

TEST_F(OsBuilds, AreWrittenAndPushed) {
  podman.build_before = build.repository + ":master-0";
  podman.results = fmt::format("sha256:a0 {}\nsha256:a1 {}\n", podman.build_before, build.push_spec());
  podman.history = "a1\n<missing>\nb1\n";
  podman.images = fmt::format("sha256:a1 {}\nsha256:b1 base:1\nsha256:c1 other:1\n", build.push_spec());
  const Result<OsImage> image = run();
  ASSERT_TRUE(image.ok()) << image.error().message();
  EXPECT_EQ(image->digest, podman.image.digest().text());
  EXPECT_TRUE(image->is_pushed);
  EXPECT_EQ(image->bytes,
            static_cast<long long>(podman.image.manifest.size() + podman.image.config.size() + podman.image.layer.size()));
  EXPECT_TRUE(has_pushed());
  EXPECT_EQ(machineconfig::parse_os_image(parse_json(text("image.json"), "").value(), "").value(), image.value());
  EXPECT_EQ(text("build.log"), "STEP 1/1: FROM base\n");
  EXPECT_TRUE(files.info(options.output + "/oci/index.json").value() && !files.info(options.output + "/oci.new").value());
  const std::string podman_in_storage = fmt::format("podman --root={} --runroot=/run/slipway-os-build ", os_build_storage);
  const auto after = [&](std::string_view line) {
    return std::ranges::find(podman.journal, podman_in_storage + std::string(line)) - podman.journal.begin();
  };
  EXPECT_LT(after("rmi " + build.repository + ":master-0"), after("image prune --force")) << join(podman.journal, "\n");
  EXPECT_EQ(podman.journal.back(), podman_in_storage + "rmi --force c1");

  // Again: nothing is done.
  podman.journal.clear();
  EXPECT_EQ(run().value(), image.value());
  EXPECT_EQ(podman.journal, std::vector<std::string>());
}

TEST_F(OsBuilds, WithoutTheCacheEverythingIsBuiltAgain) {
  ASSERT_TRUE(run().ok());
  options.has_cache = false;
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(podman.builds, 2);
  EXPECT_TRUE(podman.did(" --no-cache "));
}

TEST_F(OsBuilds, ThatTakeTooLongAreNotTriedAgain) {
  podman.takes = machineconfig::os_build_limits::run;
  const Result<OsImage> image = run();
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().code(), Code::invalid);
  EXPECT_NE(image.error().message().find("takes longer than 60 minutes"), std::string::npos) << image.error().message();
  EXPECT_EQ(podman.builds, 1);
}

TEST_F(OsBuilds, ARegistryThatComesBackIsWaitedFor) {
  int refusals = 20;
  registry.alter_reply = [&](const auto& seen, auto& reply) {
    if (seen.method == "PUT" && seen.target.find("/manifests/") != std::string::npos && refusals-- > 0) reply.status = 503;
  };
  EXPECT_TRUE(run().ok());
  EXPECT_EQ(podman.builds, 1);
  EXPECT_TRUE(has_pushed());
}

TEST_F(OsBuilds, TheReasonOfAFailureGoesWhenABuildBegins) {
  ASSERT_TRUE(files.write(options.output + "/failure.json", "of the run before", 0644).ok());
  std::string during = "?";
  podman.build = [&](int) {
    during = text("failure.json");
    return std::vector<std::string>{"STEP 1/1: FROM base"};
  };
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(during, "");
}

TEST_F(OsBuilds, PushWhatIsNotPushed) {
  bool is_refused = true;
  registry.alter_reply = [&](const auto& seen, auto& reply) {
    if (is_refused && seen.method == "PUT" && seen.target.find("/manifests/") != std::string::npos) reply.status = 403;
  };
  const Result<OsImage> refused = run();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::denied);
  EXPECT_FALSE(machineconfig::parse_os_image(parse_json(text("image.json"), "").value(), "")->is_pushed);
  EXPECT_NE(text("failure.json").find("\"code\": \"denied\""), std::string::npos) << text("failure.json");
  is_refused = false;
  const Result<OsImage> image = run();
  ASSERT_TRUE(image.ok()) << image.error().message();
  EXPECT_EQ(podman.builds, 1);
  EXPECT_TRUE(has_pushed());
  EXPECT_EQ(text("failure.json"), "");
}

TEST_F(OsBuilds, ARegistryThatRefusesIsFoundBeforeTheBuild) {
  registry.alter_reply = [](const auto& seen, auto& reply) {
    if (seen.method == "POST") reply.status = 401;
  };
  const Result<OsImage> image = run();
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().code(), Code::denied);
  EXPECT_NE(image.error().message().find("pushing to " + build.repository), std::string::npos) << image.error().message();
  EXPECT_EQ(podman.builds, 0);
}

TEST_F(OsBuilds, AFailedStepHasItsLine) {
  podman.build = [](int) {
    return std::vector<std::string>{"[2/2] STEP 2/2: RUN program", "no such thing",
                                    "Error: building at STEP \"RUN program\": while running runtime: exit status 1"};
  };
  const Result<OsImage> image = run();
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().code(), Code::invalid);
  EXPECT_EQ(image.error().message(),
            "OS image " + build.push_spec() +
                ": line 2 of the Containerfile (RUN program): exit status 1; its last output: no such thing");
  EXPECT_EQ(podman.builds, 1);
  EXPECT_NE(text("build.log").find("no such thing\n"), std::string::npos);
}

TEST_F(OsBuilds, ATransientFailureIsTriedThreeTimes) {
  const std::vector<std::string> failure = {"STEP 1/2: FROM base", "Error: creating build container: dial tcp: i/o timeout"};
  podman.build = [&](int run) { return run < 3 ? failure : std::vector<std::string>{"STEP 1/2: FROM base"}; };
  EXPECT_TRUE(run().ok());
  EXPECT_EQ(podman.builds, 3);

  build.name = "master-2";
  write_build();
  podman.build = [&](int) { return failure; };
  const Result<OsImage> image = run();
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().code(), Code::unavailable);
  EXPECT_EQ(podman.builds, 6);
}

TEST_F(OsBuilds, NeedDisk) {
  podman.free = 1 << 20;
  const Result<OsImage> image = run();
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().code(), Code::conflict);
  EXPECT_NE(image.error().message().find("has 1.0 MB free"), std::string::npos) << image.error().message();
  EXPECT_EQ(podman.builds, 0);
}

TEST_F(OsBuilds, NeedABaseImageOfThisArchitecture) {
  put_base(make_image("base", "s390x"));
  write_build();
  const Result<OsImage> image = run();
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().code(), Code::invalid);
  EXPECT_NE(image.error().message().find("it is for s390x"), std::string::npos) << image.error().message();
}

TEST_F(OsBuilds, AnImageThatMachinesCannotImportIsNotPushed) {
  podman.image = make_image("layer", release::machine_architecture(), 2);
  const Result<OsImage> image = run();
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().code(), Code::invalid);
  EXPECT_FALSE(has_pushed());
}

TEST_F(OsBuilds, UseAStorageOfTheirOwnIfThatOfPodmanDoesNotWork) {
  podman.is_overlay_broken = true;
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(podman.did(
      fmt::format("podman --root={}-vfs --runroot=/run/slipway-os-build --storage-driver=vfs build ", os_build_storage)));
}

TEST_F(OsBuilds, LoginsMustHaveTheRepository) {
  options.push_logins = folder.path() + "/logins.json";
  ASSERT_TRUE(files.write(options.push_logins, R"({"auths":{"elsewhere.example.com":{"auth":"dTpw"}}})", 0600).ok());
  const Result<OsImage> image = run();
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.error().code(), Code::denied);
  EXPECT_EQ(podman.builds, 0);
}

TEST_F(OsBuilds, TheCommandNeedsItsFolders) {
  for (const Arguments& arguments : {Arguments{}, Arguments{"--folder=/x"}, Arguments{"--folder=/x", "--output=/y", "--other"}}) {
    EXPECT_EQ(run_os_image_build(environment(), arguments).error().code(), Code::invalid);
  }
  EXPECT_TRUE(run_os_image_build(environment(), {"--folder=" + options.folder, "--output=" + options.output}).ok());
}

}  // namespace
}  // namespace slipway::node
