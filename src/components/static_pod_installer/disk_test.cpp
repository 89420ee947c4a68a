#include "components/static_pod_installer/disk.h"

#include "components/render/manifest.h"
#include "support/memory_files.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace slipway::components::static_pod_installer {
namespace {

using Names = std::vector<std::string>;

const Operand& etcd() { return operands().front(); }
const Part pod_part{Part::Kind::config_map, "etcd-pod"};
const Part bundle_part{Part::Kind::config_map, "bundles"};
const Part leaf_part{Part::Kind::secret, "leaf"};
const Part extra_part{Part::Kind::config_map, "extra", true};

// Reports each change after it was made. Simulates a process that is killed after `left` changes.
class WatchedFiles final : public sys::Files {
 public:
  explicit WatchedFiles(sys::Files& files) : files_(files) {}

  int left = 1'000'000;
  std::function<void()> changed = [] {};
  Names journal;

  Result<std::string> read(const std::string& path) override { return files_.read(path); }
  Result<std::optional<sys::FileInfo>> info(const std::string& path) override { return files_.info(path); }
  Result<Names> list(const std::string& path) override { return files_.list(path); }
  Result<> write(const std::string& path, std::string_view content, sys::Mode mode) override {
    return change("write " + path, [&] { return files_.write(path, content, mode); });
  }
  Result<> append(const std::string& path, std::string_view content, sys::Mode mode) override {
    return change("append " + path, [&] { return files_.append(path, content, mode); });
  }
  Result<> make_directories(const std::string& path, sys::Mode mode) override {
    if (left > 0 && TRY(files_.info(path))) return Ok{};
    return change("make " + path, [&] { return files_.make_directories(path, mode); });
  }
  Result<> rename(const std::string& from, const std::string& to) override {
    return change("rename " + to, [&] { return files_.rename(from, to); });
  }
  Result<> exchange(const std::string& one, const std::string& other) override {
    return change("exchange " + other, [&] { return files_.exchange(one, other); });
  }
  Result<> remove(const std::string& path) override {
    if (left > 0 && !TRY(files_.info(path))) return Ok{};
    return change("remove " + path, [&] { return files_.remove(path); });
  }

 private:
  Result<> change(std::string what, const std::function<Result<>()>& make) {
    if (left == 0) return error(Code::internal, "killed");
    --left;
    TRY(make());
    journal.push_back(std::move(what));
    changed();
    return Ok{};
  }

  sys::Files& files_;
};

// A cluster with revisions 1 and 2 of etcd. The number in certificate and key shows whether they belong together.
class World {
 public:
  World() {
    for (int number : {1, 2}) {
      view_.put(revision_object(etcd(), {number, "first", {pod_part, bundle_part}, {leaf_part, extra_part}}));
      view_.put(config_map({"openshift-etcd", fmt::format("etcd-pod-{}", number)}, {{"pod.yaml", "pod REVISION of NODE_NAME"}}));
      view_.put(config_map({"openshift-etcd", fmt::format("bundles-{}", number)}, {{"ca.crt", "CA"}, {"run.sh", "echo"}}));
    }
    put_leaf(1);
  }

  void put_leaf(int number) {
    view_.put(secret({"openshift-etcd", "leaf"}, "kubernetes.io/tls",
                     {{"tls.crt", fmt::format("{}", number)}, {"tls.key", fmt::format("{}", number)}}));
  }
  void put(Json object) { view_.put(std::move(object)); }
  void drop(const kube::ResourceType& type, const std::string& name) { view_.remove(type, "openshift-etcd", name); }
  void want(int revision) {
    view_.put(
        with_node_statuses({{"apiVersion", "operator.openshift.io/v1"}, {"kind", "Etcd"}, {"metadata", {{"name", "cluster"}}}},
                           {{.node = "master-0", .target = revision}}));
  }
  Layout layout() const { return plan_layout(etcd(), view_.snapshot(), "master-0"); }

 private:
  View view_;
};

const std::string top = "/etc/kubernetes/static-pod-resources";
const std::string manifest = "/etc/kubernetes/manifests/etcd-pod.yaml";

Result<bool> write(sys::Files& files, const World& world, const std::string& root = "") {
  return write_layout(files, {root, "master-0"}, etcd(), world.layout());
}

TEST(WriteLayout, WritesEverythingThePodLast) {
  testing_support::MemoryFiles memory;
  WatchedFiles files(memory);
  World world;
  world.want(1);
  EXPECT_TRUE(write(files, world).value());
  EXPECT_EQ(files.journal.back(), "write " + manifest);
  EXPECT_EQ(memory.read(manifest).value(), "pod 1 of master-0");
  EXPECT_EQ(memory.read(top + "/etcd-pod-1/etcd-pod.yaml").value(), "pod 1 of master-0");
  EXPECT_EQ(memory.read(top + "/etcd-pod-1/configmaps/bundles/ca.crt").value(), "CA");
  EXPECT_EQ(memory.read(top + "/etcd-pod-1/configmaps/etcd-pod/pod.yaml").value(), "pod REVISION of NODE_NAME");
  EXPECT_EQ(memory.read(top + "/etcd-certs/secrets/leaf/tls.key").value(), "1");
  EXPECT_EQ(memory.list(top + "/etcd-certs/secrets").value(), Names{"leaf"}) << "nothing is left beside it";
}

TEST(WriteLayout, ModesOnARealDisk) {
  const sys::TempDir temp = sys::TempDir::make("test").value();
  sys::RealFiles files;
  World world;
  world.want(1);
  ASSERT_TRUE(write(files, world, temp.path()).ok());
  world.put_leaf(2);
  ASSERT_TRUE(write(files, world, temp.path()).ok());
  const auto mode = [&](const std::string& path) { return files.info(temp.path() + path).value().value().mode; };
  EXPECT_EQ(mode(manifest), 0600u);
  EXPECT_EQ(mode(top + "/etcd-certs/secrets/leaf"), 0700u);
  EXPECT_EQ(mode(top + "/etcd-certs/secrets/leaf/tls.key"), 0600u);
  EXPECT_EQ(mode(top + "/etcd-pod-1/configmaps/bundles"), 0755u);
  EXPECT_EQ(mode(top + "/etcd-pod-1/configmaps/bundles/run.sh"), 0755u);
  EXPECT_EQ(mode(top + "/etcd-pod-1/configmaps/bundles/ca.crt"), 0600u);
  EXPECT_EQ(mode("/etc/kubernetes/manifests"), 0755u);
  EXPECT_EQ(files.read(temp.path() + top + "/etcd-certs/secrets/leaf/tls.key").value(), "2");
  EXPECT_EQ(files.list(temp.path() + top + "/etcd-certs/secrets").value(), Names{"leaf"});
}

TEST(WriteLayout, TouchesNothingThatIsRight) {
  testing_support::MemoryFiles memory;
  WatchedFiles files(memory);
  World world;
  world.want(1);
  ASSERT_TRUE(write(files, world).ok());
  files.journal.clear();
  EXPECT_FALSE(write(files, world).value());
  EXPECT_EQ(files.journal, Names{});
  // Only a certificate changes: the kubelet has nothing to do.
  world.put_leaf(2);
  EXPECT_FALSE(write(files, world).value());
  EXPECT_EQ(std::ranges::count_if(files.journal, [](const std::string& line) { return line.find("leaf") == std::string::npos; }),
            0);
  EXPECT_EQ(memory.read(top + "/etcd-certs/secrets/leaf/tls.crt").value(), "2");
}

TEST(WriteLayout, HealsWhatSomebodyChanged) {
  struct Case {
    std::string name;
    std::function<void(sys::Files&)> harm;
  };
  const std::string folder = top + "/etcd-certs/secrets/leaf";
  const Case cases[] = {{"content", [&](sys::Files& files) { ASSERT_TRUE(files.write(folder + "/tls.crt", "9", 0600).ok()); }},
                        {"mode", [&](sys::Files& files) { ASSERT_TRUE(files.write(folder + "/tls.crt", "1", 0644).ok()); }},
                        {"one more", [&](sys::Files& files) { ASSERT_TRUE(files.write(folder + "/old.crt", "1", 0600).ok()); }},
                        {"one less", [&](sys::Files& files) { ASSERT_TRUE(files.remove(folder + "/tls.crt").ok()); }},
                        {"all gone", [&](sys::Files& files) { ASSERT_TRUE(files.remove("/etc/kubernetes").ok()); }},
                        {"a file", [&](sys::Files& files) {
                           ASSERT_TRUE(files.remove(folder).ok());
                           ASSERT_TRUE(files.write(folder, "x", 0600).ok());
                         }}};
  for (const Case& c : cases) {
    testing_support::MemoryFiles files;
    World world;
    world.want(1);
    ASSERT_TRUE(write(files, world).ok());
    c.harm(files);
    ASSERT_TRUE(write(files, world).ok()) << c.name;
    EXPECT_EQ(files.list(folder).value(), (Names{"tls.crt", "tls.key"})) << c.name;
    EXPECT_EQ(files.read(folder + "/tls.crt").value(), "1") << c.name;
    EXPECT_EQ(files.info(folder + "/tls.crt").value()->mode, 0600u) << c.name;
    EXPECT_EQ(files.read(manifest).value(), "pod 1 of master-0") << c.name;
  }
}

TEST(WriteLayout, WaitsWithThePodButNotWithCertificates) {
  testing_support::MemoryFiles files;
  World world;
  world.want(1);
  world.drop(kube::types::config_maps, "bundles-1");
  EXPECT_FALSE(write(files, world).value());
  EXPECT_FALSE(files.info(manifest).value());
  EXPECT_FALSE(files.info(top + "/etcd-pod-1").value());
  EXPECT_EQ(files.read(top + "/etcd-certs/secrets/leaf/tls.crt").value(), "1");
}

TEST(WriteLayout, RemovesOptionalCertificatesAndOldRevisions) {
  testing_support::MemoryFiles files;
  World world;
  world.put(config_map({"openshift-etcd", "extra"}, {{"ca.crt", "CA"}}));
  world.want(1);
  ASSERT_TRUE(write(files, world).ok());
  EXPECT_TRUE(files.info(top + "/etcd-certs/configmaps/extra").value());
  ASSERT_TRUE(files.write(top + "/kube-apiserver-pod-7/x", "", 0600).ok());

  world.drop(kube::types::config_maps, "extra");
  world.drop(kube::types::config_maps, "bundles-2");
  world.want(2);
  ASSERT_TRUE(write(files, world).ok());
  EXPECT_FALSE(files.info(top + "/etcd-certs/configmaps/extra").value());
  world.drop(kube::types::config_maps, "revision-status-1");
  ASSERT_TRUE(write(files, world).ok());
  EXPECT_TRUE(files.info(top + "/etcd-pod-1").value()) << "what runs stays until the next one is there";

  world.put(config_map({"openshift-etcd", "bundles-2"}, {{"ca.crt", "CA"}}));
  ASSERT_TRUE(write(files, world).ok());
  EXPECT_EQ(files.list(top).value(), (Names{"etcd-certs", "etcd-pod-2", "kube-apiserver-pod-7"}));
}

TEST(WriteLayout, FailsWithoutAPodWhenAnObjectCannotBeFiles) {
  testing_support::MemoryFiles files;
  World world;
  world.want(1);
  world.put(config_map({"openshift-etcd", "etcd-pod-1"}, {{"pod.yml", ""}}));
  EXPECT_EQ(write(files, world).error().message(), "ConfigMap openshift-etcd/etcd-pod-1: no pod.yaml found");
  EXPECT_FALSE(files.info(manifest).value());
}

// At every moment each key has its certificate, and the kubelet's pod has its revision.
void expect_consistent(sys::Files& files, const std::string& when) {
  const std::string folder = top + "/etcd-certs/secrets/leaf";
  if (files.info(folder).value()) {
    EXPECT_EQ(files.read(folder + "/tls.crt").value(), files.read(folder + "/tls.key").value()) << when;
  }
  const std::optional<std::string> pod = files.read_if_exists(manifest).value();
  if (!pod) return;
  const std::string revision = top + "/etcd-pod-" + pod->substr(4, 1);
  EXPECT_TRUE(files.info(folder).value()) << when;
  EXPECT_EQ(files.read_if_exists(revision + "/etcd-pod.yaml").value(), pod) << when;
  EXPECT_EQ(files.list(revision + "/configmaps/bundles").value(), (Names{"ca.crt", "run.sh"})) << when;
}

TEST(WriteLayout, IsWholeAfterAKillAtAnyMoment) {
  int kills = 0;
  for (int killed_after = 0;; ++killed_after) {
    testing_support::MemoryFiles memory;
    World world;
    world.want(1);
    ASSERT_TRUE(write(memory, world).ok());
    world.put_leaf(2);
    world.want(2);
    WatchedFiles files(memory);
    files.changed = [&] { expect_consistent(memory, files.journal.back()); };
    files.left = killed_after;
    if (write(files, world).ok()) break;
    ++kills;
    files.left = 1'000'000;
    ASSERT_TRUE(write(files, world).ok()) << killed_after;
    EXPECT_EQ(memory.read(manifest).value(), "pod 2 of master-0");
    EXPECT_EQ(memory.list(top + "/etcd-certs/secrets").value(), Names{"leaf"}) << killed_after;
    EXPECT_EQ(memory.read(top + "/etcd-certs/secrets/leaf/tls.key").value(), "2");
    ASSERT_FALSE(testing::Test::HasFailure()) << killed_after;
  }
  EXPECT_GT(kills, 10);
}

}  // namespace
}  // namespace slipway::components::static_pod_installer
