#include "node/certificate_repair.h"

#include "base/text.h"
#include "net/x509.h"
#include "support/node_world.h"

#include <gtest/gtest.h>

#include <thread>

namespace slipway::node {
namespace {

using testing_support::RealTimeNodeWorld;

const std::string resources = "/etc/kubernetes/static-pod-resources";
const std::string pod = "/etc/kubernetes/manifests/certificate-recovery.yaml";
const std::string kubelet = "/var/lib/kubelet/pki/kubelet-client-current.pem";

std::string secret_of(const std::string& operand, const std::string& name) {
  return fmt::format("{}/{}-certs/secrets/{}/tls.crt", resources, operand, name);
}

class CertificateRepair : public testing::Test {
 protected:
  CertificateRepair() {
    for (const int revision : {2, 10}) {
      world.put(fmt::format("{}/kube-apiserver-pod-{}/configmaps/kube-apiserver-pod/recovery-pod.yaml", resources, revision),
                fmt::format("pod of revision {}\n", revision));
    }
    // A revision of a release without the pod, and folders that are no revisions.
    world.put(resources + "/kube-apiserver-pod-11/configmaps/kube-apiserver-pod/pod.yaml", "");
    world.put(resources + "/kube-apiserver-pod-x/a", "");
    world.put(resources + "/etcd-pod-12/a", "");
    for (const auto& path : all) put(path, Seconds(86'400));
    for (const char* client : {"kube-controller-manager", "kube-scheduler", "cluster-policy-controller"}) {
      world.runner.answer({"ctr", "--namespace", "k8s.io", "containers", "list", "--quiet",
                           fmt::format("labels.\"io.kubernetes.container.name\"=={}", client)},
                          client == std::string_view("kube-scheduler") ? "" : fmt::format("id-of-{}\n", client));
    }
    world.put(secret_of("kube-apiserver", "localhost-recovery-client-token"), "no certificate");
  }

  void put(const std::string& path, Seconds left) {
    const WallTime now = std::chrono::floor<Seconds>(world.test.clock.now());
    world.put(
        path,
        net::make_certificate(
            {.subject = {.common_name = "x"}, .valid_from = now - Seconds(10'000), .valid_for = Seconds(10'000) + left}, nullptr)
            .value()
            .pem);
  }
  Result<> run() { return run_repair_certificates(world.environment(), {}); }

  RealTimeNodeWorld world;
  const std::vector<std::string> all = {secret_of("kube-apiserver", "localhost-serving-cert-certkey"),
                                        secret_of("kube-controller-manager", "csr-signer"),
                                        secret_of("kube-scheduler", "kube-scheduler-client-cert-key"), kubelet};
};

TEST_F(CertificateRepair, NothingIsDoneWhenAllAreValid) {
  world.put(pod, "left by a kill");
  ASSERT_TRUE(run().ok());
  EXPECT_FALSE(world.has(pod));
  EXPECT_EQ(world.test.event_lines(), std::vector<std::string>{});
}

TEST_F(CertificateRepair, MachinesWithoutAControlPlaneAreLeftAlone) {
  RealTimeNodeWorld worker;
  worker.put(kubelet, world.text(kubelet));
  ASSERT_TRUE(run_repair_certificates(worker.environment(), {}).ok());
  EXPECT_EQ(ends_of_certificates(worker.files, {}).value().size(), 0u);
}

// Each certificate, expired or about to expire.
TEST_F(CertificateRepair, TheNewestPodRunsUntilEachWasReplaced) {
  for (const std::string& path : all) {
    for (const Seconds left : {Seconds(-100), Seconds(60)}) {
      put(path, left);
      std::jthread healer([&](const std::stop_token& stop) {
        while (!world.has(pod) && !stop.stop_requested()) std::this_thread::yield();
        EXPECT_EQ(world.text(pod), "pod of revision 10\n") << path;
        put(path, Seconds(86'400));
      });
      const std::size_t commands = world.runner.journal().size();
      const Result<> done = run();
      EXPECT_TRUE(done.ok()) << done.error().message();
      // Three lists and two kills of containers; the runner has no answers for the kills.
      EXPECT_EQ(world.runner.journal().size() - commands, path == kubelet ? 0u : 5u);
      EXPECT_FALSE(world.has(pod)) << path;
    }
  }
}

TEST_F(CertificateRepair, AReleaseWithoutSuchAPodSaysSo) {
  for (const int revision : {2, 10}) {
    ASSERT_TRUE(
        world.files
            .remove(fmt::format("{}/kube-apiserver-pod-{}/configmaps/kube-apiserver-pod/recovery-pod.yaml", resources, revision))
            .ok());
  }
  put(kubelet, Seconds(-1));
  EXPECT_EQ(run().error().code(), Code::not_found);
  EXPECT_FALSE(world.has(pod));
}

}  // namespace
}  // namespace slipway::node
