// Runs all stages with fake render commands: in any order, and with a kill at any point, they reach the same state.
#include "bootstrap/stages.h"

#include "bootstrap/in_place.h"
#include "bootstrap/renders.h"

#include "base/digest.h"
#include "base/text.h"
#include "base/yaml.h"
#include "kube/kubeconfig.h"
#include "support/memory_files.h"
#include "support/test_context.h"
#include "sys/wait_for.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <random>

namespace slipway::bootstrap {
namespace {

using testing_support::MemoryFiles;
using testing_support::RealTimeContext;

const std::string assets = "/opt/openshift";

// Lists all files below `path`, "PATH: CONTENT", one line each. Random output of renders is replaced, because it differs between
// runs.
void add_tree(sys::Files& files, const std::string& path, std::string& text) {
  const std::vector<std::string> names = files.list(path).value();
  for (const std::string& name : names) {
    const std::string inner = path == "/" ? "/" + name : path + "/" + name;
    if (files.info(inner).value()->kind == sys::FileKind::directory) {
      add_tree(files, inner, text);
    } else {
      text += inner + ": " + files.read(inner).value() + "\n";
    }
  }
}

std::string tree(sys::Files& files) {
  std::string text;
  add_tree(files, "/", text);
  for (std::size_t at = 0; (at = text.find("drawn-", at)) != std::string::npos; at += 6) {
    std::size_t end = at + 6;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
    text.erase(at + 6, end - at - 6);
  }
  return text;
}

// Files of a process that is killed at its N-th change: later changes fail.
class MortalFiles final : public sys::Files {
 public:
  MortalFiles(sys::Files& files, int changes) : files_(files), left_(changes) {}

  bool is_dead() const { return left_ < 0; }
  Result<std::string> read(const std::string& path) override { return files_.read(path); }
  Result<std::optional<sys::FileInfo>> info(const std::string& path) override { return files_.info(path); }
  Result<std::vector<std::string>> list(const std::string& path) override { return files_.list(path); }
  Result<> write(const std::string& path, std::string_view content, sys::Mode mode) override {
    TRY(live());
    return files_.write(path, content, mode);
  }
  Result<> append(const std::string& path, std::string_view content, sys::Mode mode) override {
    TRY(live());
    return files_.append(path, content, mode);
  }
  Result<> make_directories(const std::string& path, sys::Mode mode) override {
    TRY(live());
    return files_.make_directories(path, mode);
  }
  Result<> rename(const std::string& from, const std::string& to) override {
    TRY(live());
    return files_.rename(from, to);
  }
  Result<> exchange(const std::string& one, const std::string& other) override {
    TRY(live());
    return files_.exchange(one, other);
  }
  Result<> remove(const std::string& path) override {
    TRY(live());
    return files_.remove(path);
  }

 private:
  Result<> live() {
    if (--left_ >= 0) return Ok{};
    return error(Code::internal, "killed");
  }

  sys::Files& files_;
  std::atomic<int> left_;
};

// Acts as ctr: each render takes a while and writes files that depend on all files that it can see.
class FakeContainers final : public sys::Runner {
 public:
  FakeContainers(sys::Files& files, unsigned seed) : files_(files), random_(std::mt19937(seed)) {}

  std::map<std::string, int> runs() const {
    return runs_.with_lock([](const auto& runs) { return runs; });
  }

  Result<sys::Output> run(const sys::Context&, const sys::Command& command) override {
    const std::vector<std::string>& argv = command.argv;
    if (argv[0] == "flock") return sys::Output{.out = "", .err = ""};
    if (argv[0].ends_with("installer-gather.sh")) {
      TRY(put("log-bundle-bootstrap.tar.gz", "logs"));
      return sys::Output{};
    }
    if (argv[0] == "getent") return sys::Output{.out = argv[2].starts_with("api-int") ? "" : "10.97.77.5 STREAM\n", .err = ""};
    if (argv[3] != "run") return sys::Output{.out = "IMAGE\n", .err = ""};
    const std::string name = name_in(argv);
    runs_.with_lock([&](auto& runs) { ++runs[name]; });
    for (int pause = random_.with_lock([](auto& random) { return static_cast<int>(random() % 300); }); pause > 0; --pause) {
      std::this_thread::yield();
    }
    TRY(play(name, manifests_in(argv)));
    return sys::Output{};
  }

 private:
  static std::string name_in(const std::vector<std::string>& argv) {
    std::size_t at = 6;
    while (argv[at] == "--mount") at += 2;
    return argv[at + 1];
  }

  // The folder that is mounted as /assets/manifests.
  static std::string manifests_in(const std::vector<std::string>& argv) {
    for (const std::string& word : argv) {
      const std::size_t target = word.find(",dst=/assets/manifests,");
      if (target != std::string::npos) return word.substr(word.find("src=") + 4, target - word.find("src=") - 4);
    }
    return assets + "/manifests";
  }

  Result<> put(const std::string& path, const std::string& content, sys::Mode mode = 0644) {
    return files_.write(assets + "/" + path, content, mode);
  }

  // Writes a manifest that contains a hash of the manifests that its render saw.
  Result<> put_manifest(const std::string& path, const std::string& seen) {
    std::string all;
    add_tree(files_, seen, all);
    return put(path, "saw " + sha256_hex(all).substr(0, 8));
  }

  Result<> play(const std::string& name, const std::string& manifests) {
    const std::string drawn = fmt::format("drawn-{}", ++drawn_);
    if (name == "api-render") {
      TRY(files_.write(manifests + "/99_feature-gate.yaml", "gates with status", 0644));
      return put("api-bootstrap/manifests/crd.yaml", "crd");
    }
    if (name == "bootstrap-in-place") {
      return put("master.ign", TRY(files_.read(assets + "/original-master.ign")) + " and etcd");
    }
    if (name == "cluster-bootstrap") {
      for (const std::string& pod : TRY(files_.list(assets + "/bootstrap-manifests"))) {
        // Like the original cluster-bootstrap: an existing file is an error.
        if (TRY(files_.info("/etc/kubernetes/manifests/" + pod))) return error(Code::unavailable, "{} is there", pod);
        TRY(files_.write("/etc/kubernetes/manifests/" + pod, "running", 0644));
      }
      TRY(files_.write("/var/lib/etcd/member/snap/db", "cluster", 0600));
      return put("seen-by-cluster-bootstrap", join(TRY(files_.list(assets + "/manifests")), " "));
    }
    if (name == "ingress-render") return put_manifest("ingress-operator-manifests/cluster-ingress-00-namespace.yaml", manifests);
    if (name == "node-tuning-render") return Ok{};
    const std::string folder = name.substr(0, name.find("-render"));
    const std::string output = folder == "kube-controller" ? "kube-controller-manager-bootstrap" : folder + "-bootstrap";
    TRY(put_manifest(output + "/manifests/" + folder + ".yaml", manifests));
    if (name == "cvo-render") return put(output + "/bootstrap/bootstrap-pod.yaml", "cvo pod");
    if (name == "etcd-render") {
      for (const char* file : {"ca-bundle.crt", "client.crt", "client.key"}) TRY(put(output + "/tls/etcd-" + file, drawn, 0600));
      TRY(put(output + "/manifests/openshift-etcd-etcd-signer.yaml", drawn));
      TRY(put(output + "/etc-kubernetes/static-pod-resources/etcd-member/ca.crt", drawn, 0600));
      return put(output + "/etc-kubernetes/manifests/etcd-member-pod.yaml", "etcd pod");
    }
    if (name == "mco-render") {
      TRY(put(output + "/bootstrap/manifests/master.machineconfigpool.yaml", "pool"));
      TRY(put(output + "/local/manifests/keepalived.yaml", "keepalived"));
      TRY(put(output + "/local/static-pod-resources/keepalived/keepalived.conf.tmpl", "vrrp"));
      return put(output + "/bootstrap/machineconfigoperator-bootstrap-pod.yaml", "mcs pod");
    }
    if (!folder.starts_with("kube-")) return Ok{};
    TRY(put(output + "/config", folder));
    if (folder == "kube-controller") TRY(put(output + "/cpc-config", folder));
    if (folder == "kube-apiserver") {
      const std::string key = "tls/bound-service-account-signing-key";
      const bool has_key = TRY(files_.info(assets + "/" + key + ".key")).has_value();
      if (has_key != TRY(files_.info(assets + "/" + key + ".pub")).has_value()) return error(Code::unavailable, "one key alone");
      if (!has_key) {
        TRY(put(key + ".key", drawn, 0600));
        TRY(put(key + ".pub", drawn));
      }
      const std::string ca = TRY(files_.read(assets + "/tls/etcd-ca-bundle.crt"));
      TRY(put(output + "/manifests/with-etcd-ca.yaml", ca));
    }
    return put(output + "/bootstrap-manifests/" + folder + "-pod.yaml", folder);
  }

  sys::Files& files_;
  std::atomic<int> drawn_ = 0;
  Guarded<std::mt19937> random_;
  Guarded<std::map<std::string, int>> runs_;
};

// A healthy etcd, and an API that accepts the patch and reports that etcd runs on the masters.
class FakeServers final : public net::Http {
 public:
  Result<net::Answer> send(const net::Request& request, std::stop_token, const net::Sink&) override {
    lines.with_lock([&](auto& all) { all.push_back(request.method + " " + net::to_string(request.url)); });
    net::Answer answer{.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = "{}"};
    if (request.url.target.find("/etcds") != std::string::npos) {
      answer.body = R"({"kind":"EtcdList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"cluster"},)"
                    R"("status":{"conditions":[{"type":"EtcdRunningInCluster","status":"True"}]}}]})";
    }
    if (request.url.target == "/config/master") answer.body = "config of a master";
    if (request.url.target == "/health" && !is_healthy()) answer.status = 503;
    if (request.method == "PATCH") patch.with_lock([&](auto& body) { body = request.body; });
    return answer;
  }

  Guarded<std::vector<std::string>> lines;
  Guarded<std::string> patch;
  std::function<bool()> is_healthy = [] { return true; };  // of etcd
};

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

Outcome bootstrap(
    sys::Files& files, FakeContainers& runner, bool in_place = false, std::function<bool()> is_healthy = [] { return true; }) {
  RealTimeContext test;
  FakeServers servers;
  servers.is_healthy = std::move(is_healthy);
  Inputs inputs = sample_inputs();
  inputs.in_place = in_place;
  inputs.etcd_stopped = in_place && files.info(stopped_etcd_pod).value().has_value();
  Containers containers(Runtime::containerd, runner, 3);
  for (const std::string& name : repeated_stages) (void)files.remove(sys::marker_path(assets, name)).ok();
  Outcome outcome;
  outcome.result = sys::run_stages(test.context(), files, assets, stages({inputs, files, runner, servers, containers}));
  outcome.events = test.told();
  outcome.requests = servers.lines.with_lock([](const auto& lines) { return lines; });
  outcome.patch = servers.patch.with_lock([](const auto& patch) { return patch; });
  return outcome;
}

TEST(BootstrapStages, AreAProperList) {
  MemoryFiles files;
  FakeContainers runner(files, 1);
  FakeServers servers;
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
            "wait-for-etcd cb-bootstrap cvo-overrides stop-machine-config-server wait-for-ceo check-api-url check-api-int-url "
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
  const Outcome outcome = bootstrap(files, runner, true);
  ASSERT_TRUE(outcome.result.ok()) << outcome.result.error().message();
  EXPECT_EQ(files.read(assets + "/master.ign").value(), "config of a master and etcd");
  EXPECT_EQ(files.info(assets + "/original-master.ign").value()->mode, 0600U);
  EXPECT_TRUE(files.info(assets + "/log-bundle-bootstrap.tar.gz").value());
  EXPECT_FALSE(files.info("/etc/kubernetes/manifests/etcd-member-pod.yaml").value());
  EXPECT_TRUE(files.info("/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml").value());
  EXPECT_TRUE(files.info(assets + "/.bootkube.done").value());
  EXPECT_EQ(outcome.patch, "") << "the installed machine does it";
}

// With a handover to masters, and in place.
class AKill : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(BootstrapStages, AKill, testing::Bool());

TEST_P(AKill, AnywhereReachesTheSameEnd) {
  const bool in_place = GetParam();
  MemoryFiles reference_files;
  fill(reference_files);
  FakeContainers reference(reference_files, 0);
  ASSERT_TRUE(bootstrap(reference_files, reference, in_place).result.ok());
  // In place, these stages are not repeated after etcd is stopped.
  const auto forget_etcd = [](sys::Files& files) {
    for (const char* stage : {"wait-for-etcd-process", "wait-for-etcd"}) {
      ASSERT_TRUE(files.remove(sys::marker_path(assets, stage)).ok());
    }
  };
  forget_etcd(reference_files);
  const std::string expected = tree(reference_files);
  int kills = 0;
  for (int changes = 0;; ++changes) {
    MemoryFiles files;
    fill(files);
    MortalFiles mortal(files, changes);
    FakeContainers runner(mortal, static_cast<unsigned>(changes));
    (void)bootstrap(mortal, runner, in_place).result.ok();
    if (!mortal.is_dead()) break;
    ++kills;
    FakeContainers again(files, static_cast<unsigned>(changes));
    Outcome outcome = bootstrap(files, again, in_place);
    // The original cluster-bootstrap does not start when files of a killed run exist; the service restarts it.
    if (!outcome.result.ok() && outcome.result.error().message().find("is there") != std::string::npos)
      outcome = bootstrap(files, again, in_place);
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
  EXPECT_GT(kills, 100);
}

TEST(BootstrapStages, TheControlPlaneStartsWhileEtcdElects) {
  MemoryFiles files;
  fill(files);
  FakeContainers runner(files, 1);
  // Limits the wait if cluster-bootstrap never starts.
  std::atomic<int> asked = 0;
  const Outcome outcome =
      bootstrap(files, runner, false, [&] { return runner.runs().contains("cluster-bootstrap") || ++asked > 20; });
  ASSERT_TRUE(outcome.result.ok()) << outcome.result.error().message();
  const auto started = std::ranges::find(outcome.events, "stage cb-bootstrap started");
  const auto healthy = std::ranges::find(outcome.events, "stage wait-for-etcd finished");
  ASSERT_NE(healthy, outcome.events.end());
  EXPECT_LT(started, healthy);
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
