// Runs all stages with fake render commands: in any order, and with a kill at any point, they reach the same state.
#include "bootstrap/stages.h"

#include "bootstrap/in_place.h"
#include "bootstrap/renders.h"

#include "base/text.h"
#include "base/yaml.h"
#include "kube/kubeconfig.h"
#include "machineconfig/os_build.h"
#include "support/bootstrap_fakes.h"
#include "support/memory_files.h"
#include "support/test_context.h"
#include "sys/wait_for.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>

namespace slipway::bootstrap {
namespace {

using config::ImageMode;

using testing_support::FakeContainers;
using testing_support::FakeEtcdAndApi;
using testing_support::KilledFiles;
using testing_support::MemoryFiles;
using testing_support::RealTimeContext;
using testing_support::tree;

const std::string& assets = testing_support::bootstrap_assets;

Inputs sample_inputs() {
  Inputs inputs{.assets = assets, .release_image = "REL", .version = "0.1.0", .kubernetes_version = "1.36.3"};
  for (const std::string_view name : needed_components) inputs.images.emplace(name, std::string(name));
  inputs.has_overrides = true;
  return inputs;
}

std::string kubeconfig(const std::string& server) {
  return emit_yaml(kube::make_kubeconfig({.server = server, .ca = "authority", .token = Secret("t")}, "demo", "admin"));
}

// A machine after Ignition.
void fill(sys::Files& files) {
  const std::pair<const char*, std::string> content[] = {
      {"manifests/cluster-config.yaml", "config"},
      {"manifests/99_feature-gate.yaml", "gates"},
      {"openshift/99_ssh.yaml", "ssh"},
      {"tls/machine-config-server.crt", "crt"},
      {"tls/machine-config-server.key", "key"},
      {"tls/machine-config-server-token", "token"},
      {"auth/kubeconfig", kubeconfig("https://api.demo.example.com:6443")},
      {"auth/kubeconfig-kubelet", kubeconfig("https://api-int.demo.example.com:6443")},
      {"auth/kubeconfig-loopback", "loopback"},
      {"original_cvo_overrides.patch", R"({"spec":{"overrides":null}})"},
  };
  for (const auto& [path, text] : content) ASSERT_TRUE(files.write(assets + "/" + path, text, 0600).ok());
  // Created by bootkube.sh and at the start of the program.
  for (const char* folder : {"/opt/openshift/bootstrap-manifests", "/etc/kubernetes/manifests"}) {
    ASSERT_TRUE(files.make_directories(folder, 0700).ok());
  }
}

struct Outcome {
  Result<> result = Ok{};
  std::vector<std::string> events;
  std::vector<std::string> requests;
  std::string patch;
};

struct Case {
  bool in_place = false;
  std::function<bool()> is_healthy = [] { return true; };  // etcd
  ImageMode image_mode = ImageMode::none;
  std::string image{};  // of the master
};

Outcome bootstrap(sys::Files& files, FakeContainers& runner, const Case& of = {}) {
  RealTimeContext test;
  FakeEtcdAndApi servers;
  servers.is_healthy = of.is_healthy;
  servers.image_of_masters = of.image;
  Inputs inputs = sample_inputs();
  inputs.in_place = of.in_place;
  inputs.image_mode = of.image_mode;
  inputs.etcd_stopped = of.in_place && files.info(stopped_etcd_pod).value().has_value();
  Containers containers(Runtime::containerd, runner, 3);
  for (const std::string& name : repeated_stages) (void)files.remove(sys::marker_path(assets, name)).ok();
  Outcome outcome;
  outcome.result = sys::run_stages(test.context(), files, assets, stages({inputs, files, runner, servers, containers}));
  outcome.events = test.event_lines();
  outcome.requests = servers.lines.with_lock([](const auto& lines) { return lines; });
  outcome.patch = servers.patch.with_lock([](const auto& patch) { return patch; });
  return outcome;
}

TEST(BootstrapStages, AreAProperList) {
  MemoryFiles files;
  FakeContainers runner(files, 1);
  FakeEtcdAndApi servers;
  Containers containers(Runtime::containerd, runner, 3);
  const Inputs inputs = sample_inputs();
  const std::vector<sys::Stage> all = stages({inputs, files, runner, servers, containers});
  EXPECT_EQ(sys::check_stages(all).to_text(), "");
  std::vector<std::string> names;
  for (const sys::Stage& stage : all) names.push_back(stage.name);
  EXPECT_EQ(join(names, " "),
            "openshift-manifests api-render api-bootstrap freeze-manifests mco-render mco-bootstrap etcd-render etcd-bootstrap "
            "cvo-render "
            "cvo-bootstrap node-tuning-render node-tuning-bootstrap kube-apiserver-render kube-apiserver-bootstrap "
            "kube-controller-render "
            "kube-controller-manager-bootstrap kube-scheduler-render kube-scheduler-bootstrap config-render config-bootstrap "
            "ingress-render ingress-operator-bootstrap cco-render cco-bootstrap resolve-api-url resolve-api-int-url "
            "wait-for-etcd-process "
            "wait-for-etcd cb-bootstrap os-image-build os-image-of-masters cvo-overrides stop-machine-config-server wait-for-ceo "
            "check-api-url check-api-int-url "
            "stop-etcd "
            "master-ignition "
            "bootkube");
}

TEST(BootstrapStages, ReachTheEnd) {
  MemoryFiles files;
  fill(files);
  FakeContainers runner(files, 1);
  const Outcome outcome = bootstrap(files, runner);
  ASSERT_TRUE(outcome.result.ok()) << outcome.result.error().message();
  const std::pair<const char*, const char*> expected[] = {
      {"/opt/openshift/.bootkube.done", ""},
      {"/opt/openshift/api-dns-resolved.done", ""},
      {"/opt/openshift/api-int-dns-check.done", ""},
      {"/opt/openshift/manifests/99_ssh.yaml", "ssh"},
      {"/opt/openshift/manifests/99_feature-gate.yaml", "gates with status"},
      {"/opt/openshift/frozen/manifests/99_feature-gate.yaml", "gates with status"},
      {"/opt/openshift/bootstrap-manifests/kube-apiserver-pod.yaml", "kube-apiserver"},
      {"/etc/kubernetes/kubeconfig", "loopback"},
      {"/etc/kubernetes/manifests/etcd-member-pod.yaml", "etcd pod"},
      {"/etc/kubernetes/manifests/keepalived.yaml", "keepalived"},
      {"/etc/kubernetes/static-pod-resources/keepalived/keepalived.conf.tmpl", "vrrp"},
      {"/etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml", "kube-apiserver"},
      {"/etc/kubernetes/bootstrap-configs/cluster-policy-controller-config.yaml", "kube-controller"},
      {"/etc/mcc/bootstrap/master.machineconfigpool.yaml", "pool"},
      {"/etc/mcc/bootstrap/99_ssh.yaml", "ssh"},
      {"/etc/mcc/bootstrap/99_feature-gate.yaml", "gates with status"},
      {"/etc/ssl/mcs/tls.key", "key"},
      {"/etc/ssl/mcs/token", "token"},
  };
  for (const auto& [path, content] : expected) {
    const Result<std::string> got = files.read(path);
    EXPECT_TRUE(got.ok() && got.value() == content) << path;
  }
  EXPECT_EQ(files.info("/etc/ssl/mcs/token").value()->mode, 0600U);
  EXPECT_FALSE(files.info("/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml").value());
  EXPECT_FALSE(files.info("/opt/openshift/api-int-dns-resolved.done").value());  // the name has no address here
  EXPECT_EQ(outcome.patch, R"({"spec":{"overrides":null}})");
  EXPECT_NE(std::ranges::find(outcome.events, "check resolve-api-int-url failed"), outcome.events.end());
  EXPECT_NE(std::ranges::find(outcome.requests, "GET https://api-int.demo.example.com:6443/readyz"), outcome.requests.end());
  // cluster-bootstrap saw the output of every render.
  EXPECT_EQ(
      files.read(assets + "/seen-by-cluster-bootstrap").value(),
      "99_feature-gate.yaml 99_ssh.yaml cco.yaml cluster-config.yaml cluster-ingress-00-namespace.yaml crd.yaml cvo.yaml "
      "etcd.yaml "
      "kube-apiserver.yaml kube-controller.yaml kube-scheduler.yaml mco.yaml openshift-etcd-etcd-signer.yaml with-etcd-ca.yaml");
}

TEST(BootstrapStages, OrderChangesNothing) {
  std::string first;
  for (unsigned seed = 0; seed < 30; ++seed) {
    MemoryFiles files;
    fill(files);
    FakeContainers runner(files, seed);
    const Outcome outcome = bootstrap(files, runner);
    ASSERT_TRUE(outcome.result.ok()) << "seed " << seed << ": " << outcome.result.error().message();
    if (first.empty()) first = tree(files);
    ASSERT_EQ(tree(files), first) << "seed " << seed;
  }
}

TEST(BootstrapStages, InPlaceTheMachineKeepsTheCluster) {
  MemoryFiles files;
  fill(files);
  FakeContainers runner(files, 1);
  const Outcome outcome = bootstrap(files, runner, {.in_place = true});
  ASSERT_TRUE(outcome.result.ok()) << outcome.result.error().message();
  EXPECT_EQ(files.read(assets + "/master.ign").value(), "config of a master and etcd");
  EXPECT_EQ(files.info(assets + "/original-master.ign").value()->mode, 0600U);
  EXPECT_TRUE(files.info(assets + "/log-bundle-bootstrap.tar.gz").value());
  EXPECT_FALSE(files.info("/etc/kubernetes/manifests/etcd-member-pod.yaml").value());
  EXPECT_TRUE(files.info("/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml").value());
  EXPECT_TRUE(files.info(assets + "/.bootkube.done").value());
  EXPECT_EQ(outcome.patch, "") << "the installed machine does it";
}

// With a handover to masters, and in place, where most stages are the same: some kills are enough. Each takes a hundred threads,
// which wait for a processor when other tests run.
class AKill : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(BootstrapStages, AKill, testing::Bool());

TEST_P(AKill, AnywhereReachesTheSameEnd) {
  const bool in_place = GetParam();
  MemoryFiles reference_files;
  fill(reference_files);
  FakeContainers reference(reference_files, 0);
  ASSERT_TRUE(bootstrap(reference_files, reference, {.in_place = in_place}).result.ok());
  // In place, these stages are not repeated after etcd is stopped.
  const auto forget_etcd = [](sys::Files& files) {
    for (const char* stage : {"wait-for-etcd-process", "wait-for-etcd"}) {
      ASSERT_TRUE(files.remove(sys::marker_path(assets, stage)).ok());
    }
  };
  forget_etcd(reference_files);
  const std::string expected = tree(reference_files);
  int kills = 0;
  for (int changes = 0;; changes += in_place ? 5 : 1) {
    MemoryFiles files;
    fill(files);
    KilledFiles mortal(files, changes);
    FakeContainers runner(mortal, static_cast<unsigned>(changes));
    (void)bootstrap(mortal, runner, {.in_place = in_place}).result.ok();
    if (!mortal.is_dead()) break;
    ++kills;
    FakeContainers again(files, static_cast<unsigned>(changes));
    Outcome outcome = bootstrap(files, again, {.in_place = in_place});
    // The original cluster-bootstrap does not start when files of a killed run exist; the service restarts it.
    if (!outcome.result.ok() && outcome.result.error().message().find("is there") != std::string::npos)
      outcome = bootstrap(files, again, {.in_place = in_place});
    ASSERT_TRUE(outcome.result.ok()) << "killed at change " << changes << ": " << outcome.result.error().message();
    forget_etcd(files);
    ASSERT_EQ(tree(files), expected) << "killed at change " << changes;
    // etcd trusts the CA that the cluster gets, also if the kill came between two copies.
    const std::string drawn = files.read("/etc/kubernetes/static-pod-resources/etcd-member/ca.crt").value();
    for (const char* path : {"/opt/openshift/tls/etcd-ca-bundle.crt", "/opt/openshift/manifests/openshift-etcd-etcd-signer.yaml",
                             "/opt/openshift/manifests/with-etcd-ca.yaml"}) {
      ASSERT_EQ(files.read(path).value(), drawn) << path << ", killed at change " << changes;
    }
  }
  EXPECT_GT(kills, in_place ? 20 : 100);
}

TEST(BootstrapStages, TheControlPlaneStartsWhileEtcdElects) {
  MemoryFiles files;
  fill(files);
  FakeContainers runner(files, 1);
  // Limits the wait if cluster-bootstrap never starts.
  std::atomic<int> asked = 0;
  const Outcome outcome =
      bootstrap(files, runner, {.is_healthy = [&] { return runner.runs().contains("cluster-bootstrap") || ++asked > 20; }});
  ASSERT_TRUE(outcome.result.ok()) << outcome.result.error().message();
  const auto started = std::ranges::find(outcome.events, "stage cb-bootstrap started");
  const auto healthy = std::ranges::find(outcome.events, "stage wait-for-etcd finished");
  ASSERT_NE(healthy, outcome.events.end());
  EXPECT_LT(started, healthy);
}

TEST(BootstrapStages, TheBootstrapEndsWhenMastersRunTheirImage) {
  MemoryFiles files;
  fill(files);
  machineconfig::OsImage image{.build = {.name = "master-1",
                                         .pool = "master",
                                         .rendered = "rendered-master-1",
                                         .base_image = "r.example.com/os@sha256:0",
                                         .repository = "r.example.com/team/os",
                                         .registry = "r.example.com",
                                         .containerfile = "FROM configs\n"}};
  image.digest = "sha256:" + std::string(64, 'a');
  const std::string record = emit_json(machineconfig::to_json(image), JsonStyle::compact);
  ASSERT_TRUE(files.write("/etc/mcs/bootstrap/os-builds/master/build.json", "{}", 0644).ok());
  ASSERT_TRUE(files.write("/var/lib/slipway/os-images/master/image.json", record, 0644).ok());
  FakeContainers runner(files, 1);
  const Outcome outcome = bootstrap(files, runner, {.image_mode = ImageMode::build_on_bootstrap, .image = image.image()});
  ASSERT_TRUE(outcome.result.ok()) << outcome.result.error().message();
  const auto built = std::ranges::find(outcome.events, "stage os-image-build finished");
  const auto runs = std::ranges::find(outcome.events, "stage os-image-of-masters finished");
  const auto stopped = std::ranges::find(outcome.events, "stage stop-machine-config-server started");
  ASSERT_NE(stopped, outcome.events.end());
  EXPECT_LT(built, runs);
  EXPECT_LT(runs, stopped);
  const std::string config_map = "/namespaces/openshift-machine-config-operator/configmaps/os-images-of-bootstrap";
  EXPECT_TRUE(std::ranges::any_of(outcome.requests, [&](const std::string& line) {
    return line.starts_with("PATCH ") && line.find(config_map) != std::string::npos;
  }));
}

TEST(BootstrapStages, ASecondRunLooksAgainAndRendersNothing) {
  MemoryFiles files;
  fill(files);
  FakeContainers runner(files, 0);
  ASSERT_TRUE(bootstrap(files, runner).result.ok());
  FakeContainers again(files, 1);
  const Outcome outcome = bootstrap(files, again);
  ASSERT_TRUE(outcome.result.ok());
  EXPECT_TRUE(again.runs().empty());
  EXPECT_NE(std::ranges::find(outcome.events, "stage wait-for-etcd finished"), outcome.events.end());
  EXPECT_NE(std::ranges::find(outcome.events, "stage cb-bootstrap skipped"), outcome.events.end());
}

TEST(BootstrapStages, AManifestOfTheUserIsNotReplaced) {
  MemoryFiles files;
  fill(files);
  ASSERT_TRUE(files.write(assets + "/manifests/cvo.yaml", "of the user", 0644).ok());
  FakeContainers runner(files, 0);
  const Outcome outcome = bootstrap(files, runner);
  ASSERT_FALSE(outcome.result.ok());
  EXPECT_EQ(outcome.result.error().code(), Code::conflict);
  EXPECT_EQ(files.read(assets + "/manifests/cvo.yaml").value(), "of the user");
}

}  // namespace
}  // namespace slipway::bootstrap
