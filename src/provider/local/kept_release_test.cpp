#include "provider/local/kept_release.h"

#include "support/test_context.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace slipway::provider::local {
namespace {

const std::string commit_a(64, 'a'), commit_b(64, 'b');

class KeptRelease : public testing::Test {
 protected:
  KeptRelease() {
    EXPECT_TRUE(files.make_directories(cluster.folder, 0700).ok());
    config.name = "demo";
    config.id = "0123456789ab";
    config.os_repo = build + "/os/repo";
    config.images = {build + "/containerd", build + "/registry", build + "/bin/registry"};
    config.domain = "demo.internal";
    set_newest(commit_a);
    add_blob("sha256:1234");
    write(build + "/bin/registry", "program");
    write(build + "/containerd/state/meta.db", "state");
    write(build + "/containerd/images/blobs/sha256/1234", "image");
    write(build + "/containerd.images", "sha256:1234 etcd\n");
  }

  void write(const std::string& path, std::string_view text) { ASSERT_TRUE(files.write(path, text, 0600).ok()); }
  void set_newest(const std::string& commit) {
    write(build + "/os/repo/refs/heads/slipway/machine-os", commit + "\n");
    write(build + "/os/repo/objects/" + commit.substr(0, 2) + "/" + commit.substr(2) + ".commit", "");
  }
  void add_blob(const std::string& digest) {
    const std::string number = digest.substr(7);
    write(build + "/registry/docker/registry/v2/blobs/sha256/" + number.substr(0, 2) + "/" + number + "/data", "blob");
  }
  void add_machine(const std::string& name, int number, const std::string& commit) {
    write(cluster.machine(name).record(), to_text(MachineRecord{name, number, std::string(32, '0')}));
    write(cluster.machine(name).commit(), commit);
  }
  bool has_warning() const {
    return std::ranges::any_of(context.logged(), [](const std::string& line) { return line.starts_with("warn"); });
  }

  const sys::TempDir temporary = sys::TempDir::make("kept-release-test").value();
  const std::string build = temporary.path() + "/build";
  const ClusterPaths cluster{temporary.path() + "/machines/demo"};
  ClusterConfig config{.name = {}, .id = {}, .network = parse_network("10.97.77.0/24").value(), .os_repo = {}, .forwards = {}};
  testing_support::RealTimeContext context;
  sys::RealFiles files;
  sys::RealRunner runner;
};

TEST_F(KeptRelease, RecordedCommitIsKept) {
  config.os_commit = commit_b;
  EXPECT_EQ(with_os_record(context.context(), files, cluster, config).value().os_commit, commit_b);
}

TEST_F(KeptRelease, ClusterWithoutARecordGetsThatOfItsOldestMachine) {
  add_machine("worker-0", 9, commit_a);  // created by an older version, which used the newest commit
  add_machine("master-0", 1, commit_b);
  EXPECT_EQ(with_os_record(context.context(), files, cluster, config).value().os_commit, commit_b);
  EXPECT_EQ(parse_cluster_config(files.read(cluster.config()).value(), "cluster.json").value().os_commit, commit_b);
}

TEST_F(KeptRelease, ClusterWithoutMachinesGetsTheNewest) {
  EXPECT_EQ(with_os_record(context.context(), files, cluster, config).value().os_commit, commit_a);
  ASSERT_TRUE(files.remove(build + "/os/repo/refs").ok());
  const Result<ClusterConfig> none = with_os_record(context.context(), files, cluster, config);
  EXPECT_EQ(none.error().code(), Code::not_found);
  EXPECT_NE(none.error().message().find("make payload"), std::string::npos);
}

TEST_F(KeptRelease, CommitIsInTheClusterOrInTheRepository) {
  EXPECT_TRUE(has_os(files, cluster, config.os_repo, commit_a).value());
  EXPECT_FALSE(has_os(files, cluster, config.os_repo, commit_b).value());
  ASSERT_TRUE(files.make_directories(cluster.os() + "/" + commit_b, 0755).ok());
  EXPECT_TRUE(has_os(files, cluster, config.os_repo, commit_b).value());
}

TEST_F(KeptRelease, CommitThatIsGoneIsNamedWithWhatToDo) {
  config.os_commit = commit_b;
  const Result<> kept = keep_os(context.context(), files, runner, config, cluster);
  EXPECT_EQ(kept.error().code(), Code::not_found);
  EXPECT_NE(kept.error().message().find("cluster demo: created with machine OS bbbbbbbbbbbb"), std::string::npos);
  ASSERT_TRUE(files.make_directories(cluster.os() + "/" + commit_b, 0755).ok());
  EXPECT_TRUE(keep_os(context.context(), files, runner, config, cluster).ok());
}

TEST_F(KeptRelease, ImagesStayWhenTheBuildIsReplaced) {
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(keep_registry(context.context(), files, runner, config, cluster).ok());
    ASSERT_TRUE(keep_images(context.context(), files, runner, config, cluster).ok());
    // Next, another build; then no build at all.
    ASSERT_TRUE(files.remove(build + (round == 0 ? "/registry" : "")).ok());
  }
  EXPECT_TRUE(registry_has(files, cluster.registry(), "sha256:1234").value());
  EXPECT_EQ(files.read(cluster.registry_program()).value(), "program");
  EXPECT_EQ(files.read(cluster.images() + "/images/blobs/sha256/1234").value(), "image");
  EXPECT_FALSE(has_warning());
}

TEST_F(KeptRelease, CopiesCostNoBytesAndAKilledOneIsMadeAgain) {
  write(cluster.registry() + ".new/docker/old", "of a copy that was killed");
  ASSERT_TRUE(keep_registry(context.context(), files, runner, config, cluster).ok());
  ASSERT_TRUE(keep_images(context.context(), files, runner, config, cluster).ok());
  EXPECT_FALSE(std::filesystem::exists(cluster.registry() + "/docker/old"));
  EXPECT_TRUE(std::filesystem::equivalent(build + "/bin/registry", cluster.registry_program()));
  EXPECT_TRUE(std::filesystem::equivalent(build + "/containerd/images/blobs/sha256/1234",
                                          cluster.images() + "/images/blobs/sha256/1234"));
}

TEST_F(KeptRelease, ImagesOfAnotherBuildAreLeftOut) {
  ASSERT_TRUE(keep_registry(context.context(), files, runner, config, cluster).ok());
  write(build + "/containerd.images", "sha256:1234 etcd\nsha256:5678 hyperkube\n");
  ASSERT_TRUE(keep_images(context.context(), files, runner, config, cluster).ok());
  EXPECT_FALSE(std::filesystem::exists(cluster.images()));
  EXPECT_TRUE(has_warning());
}

TEST_F(KeptRelease, ReleaseMustBeAmongTheImages) {
  EXPECT_TRUE(check_release(files, config.images, "registry.slipway.invalid/slipway/release@sha256:1234").ok());
  EXPECT_TRUE(check_release(files, config.images, "quay.io/other/release@sha256:5678").ok());
  EXPECT_TRUE(check_release(files, {}, "registry.slipway.invalid/slipway/release@sha256:5678").ok());
  config.release = "registry.slipway.invalid/slipway/release@sha256:5678";
  EXPECT_EQ(check_release(files, config.images, config.release).error().code(), Code::conflict);
  EXPECT_EQ(keep_registry(context.context(), files, runner, config, cluster).error().code(), Code::conflict);
  EXPECT_FALSE(std::filesystem::exists(cluster.registry()));
}

TEST(PreloadedDigests, AreTheFirstWords) {
  EXPECT_EQ(preloaded_digests("sha256:1 etcd\nsha256:2 hyperkube\n"), (std::vector<std::string>{"sha256:1", "sha256:2"}));
  EXPECT_TRUE(preloaded_digests("").empty());
}

}  // namespace
}  // namespace slipway::provider::local
