// Fakes for the stages of the bootstrap machine: its files, its containers, and the servers that the stages ask.
//
//   KilledFiles files(memory, 7);            // the eighth change fails
//   FakeContainers runner(files, seed);
//   FakeEtcdAndApi servers;
//   sys::run_stages(test.context(), files, bootstrap_assets, stages({inputs, files, runner, servers, containers}));
//   EXPECT_EQ(tree(memory), ...);
#pragma once

#include "base/digest.h"
#include "base/guarded.h"
#include "base/result.h"
#include "base/text.h"
#include "net/http.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <fmt/core.h>

#include <atomic>
#include <cctype>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace slipway::testing_support {

inline const std::string bootstrap_assets = "/opt/openshift";

// Lists all files below `path`, "PATH: CONTENT", one line each. Random output of renders is replaced, because it differs between
// runs.
inline void add_tree(sys::Files& files, const std::string& path, std::string& text) {
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

inline std::string tree(sys::Files& files) {
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
class KilledFiles final : public sys::Files {
 public:
  KilledFiles(sys::Files& files, int changes) : files_(files), left_(changes) {}

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
    if (argv[0] == "flock" || argv[0] == "slipway-pull-image") return sys::Output{.out = "", .err = ""};
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
    return bootstrap_assets + "/manifests";
  }

  Result<> put(const std::string& path, const std::string& content, sys::Mode mode = 0644) {
    return files_.write(bootstrap_assets + "/" + path, content, mode);
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
      return put("master.ign", TRY(files_.read(bootstrap_assets + "/original-master.ign")) + " and etcd");
    }
    if (name == "cluster-bootstrap") {
      for (const std::string& pod : TRY(files_.list(bootstrap_assets + "/bootstrap-manifests"))) {
        // Like the original cluster-bootstrap: an existing file is an error.
        if (TRY(files_.info("/etc/kubernetes/manifests/" + pod))) return error(Code::unavailable, "{} is there", pod);
        TRY(files_.write("/etc/kubernetes/manifests/" + pod, "running", 0644));
      }
      TRY(files_.write("/var/lib/etcd/member/snap/db", "cluster", 0600));
      return put("seen-by-cluster-bootstrap", join(TRY(files_.list(bootstrap_assets + "/manifests")), " "));
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
      const bool has_key = TRY(files_.info(bootstrap_assets + "/" + key + ".key")).has_value();
      if (has_key != TRY(files_.info(bootstrap_assets + "/" + key + ".pub")).has_value())
        return error(Code::unavailable, "one key alone");
      if (!has_key) {
        TRY(put(key + ".key", drawn, 0600));
        TRY(put(key + ".pub", drawn));
      }
      const std::string ca = TRY(files_.read(bootstrap_assets + "/tls/etcd-ca-bundle.crt"));
      TRY(put(output + "/manifests/with-etcd-ca.yaml", ca));
    }
    return put(output + "/bootstrap-manifests/" + folder + "-pod.yaml", folder);
  }

  sys::Files& files_;
  std::atomic<int> drawn_ = 0;
  Guarded<std::mt19937> random_;
  Guarded<std::map<std::string, int>> runs_;
};

// A healthy etcd, and an API that accepts patches, reports that etcd runs on the masters, and has one master.
class FakeEtcdAndApi final : public net::Http {
 public:
  Result<net::Answer> send(const net::Request& request, std::stop_token, const net::Sink&) override {
    lines.with_lock([&](auto& all) { all.push_back(request.method + " " + net::to_string(request.url)); });
    net::Answer answer{.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = "{}"};
    if (request.url.target.find("/etcds") != std::string::npos) {
      answer.body = R"({"kind":"EtcdList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"cluster"},)"
                    R"("status":{"conditions":[{"type":"EtcdRunningInCluster","status":"True"}]}}]})";
    }
    if (request.url.target.find("/nodes") != std::string::npos) {
      answer.body =
          fmt::format(R"({{"kind":"NodeList","metadata":{{"resourceVersion":"7"}},"items":[{{"metadata":{{"name":"master-0",)"
                      R"("annotations":{{"machineconfiguration.openshift.io/currentImage":"{}"}}}}}}]}})",
                      image_of_masters);
    }
    if (request.url.target == "/config/master") answer.body = "config of a master";
    if (request.url.target == "/health" && !is_healthy()) answer.status = 503;
    if (request.method == "PATCH" && request.url.target.find("/clusterversions") != std::string::npos)
      patch.with_lock([&](auto& body) { body = request.body; });
    return answer;
  }

  Guarded<std::vector<std::string>> lines;
  Guarded<std::string> patch;
  std::function<bool()> is_healthy = [] { return true; };  // of etcd
  std::string image_of_masters{};
};

}  // namespace slipway::testing_support
