#include "components/kube_apiserver/render.h"

#include "base/yaml.h"
#include "components/kube_apiserver/insecure_readyz.h"
#include "support/operator_environment.h"
#include "support/render_assets.h"

#include <gtest/gtest.h>

namespace slipway::components::kube_apiserver {
namespace {

struct World : testing_support::OperatorEnvironment {
  explicit World(const testing_support::RenderAssets& assets = {}) {
    EXPECT_TRUE(testing_support::put_render_assets(files, "/assets", assets).ok());
  }
  Result<> render(const Arguments& more = {}) {
    Arguments arguments = {"--manifest-etcd-serving-ca=etcd-ca-bundle.crt",
                           "--manifest-etcd-server-urls=https://localhost:2379",
                           "--manifest-image=registry.example.com/hyperkube@sha256:1",
                           "--manifest-operator-image=registry.example.com/operator@sha256:2",
                           "--asset-input-dir=/assets/tls",
                           "--asset-output-dir=/out",
                           "--config-output-file=/out/config",
                           "--cluster-config-file=/assets/manifests/cluster-network-02-config.yml",
                           "--cluster-auth-file=/assets/manifests/cluster-authentication-02-config.yaml",
                           "--infra-config-file=/assets/manifests/cluster-infrastructure-02-config.yml",
                           "--rendered-manifest-files=/assets/manifests",
                           "--payload-version=0.1.0",
                           "--operand-kubernetes-version=1.36.3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_render(environment(), arguments);
  }
  Json document(const std::string& path) { return parse_yaml(text(path), path).value().value; }
  std::string argument(std::string_view name) {
    return emit_json(*find(document("/out/config"), {"apiServerArguments", name}), JsonStyle::compact);
  }
};

const std::vector<std::string> tree = {"bootstrap-manifests/kube-apiserver-pod.yaml",
                                       "config",
                                       "manifests/00_openshift-kube-apiserver-ns.yaml",
                                       "manifests/00_openshift-kube-apiserver-operator-ns.yaml",
                                       "manifests/cluster-role-binding-kube-apiserver.yaml",
                                       "manifests/cluster-role-kube-apiserver.yaml",
                                       "manifests/configmap-admin-kubeconfig-client-ca.yaml",
                                       "manifests/configmap-kubelet-bootstrap-kubeconfig-ca.yaml",
                                       "manifests/configmap-sa-token-signing-certs.yaml",
                                       "manifests/secret-aggregator-client-signer.yaml",
                                       "manifests/secret-bound-sa-token-signing-key.yaml",
                                       "manifests/secret-control-plane-client-signer.yaml",
                                       "manifests/secret-kube-apiserver-to-kubelet-signer.yaml",
                                       "manifests/secret-loadbalancer-serving-signer.yaml",
                                       "manifests/secret-localhost-serving-signer.yaml",
                                       "manifests/secret-service-network-serving-signer.yaml"};

TEST(ApiServerRender, TwiceGivesTheSame) {
  World world;
  testing_support::expect_twice_the_same(world, tree);
}

TEST(ApiServerRender, GeneratesTheBoundKeyOnceAndRefusesHalfOfIt) {
  World world;
  ASSERT_TRUE(world.render().ok());
  const std::string stem = "/assets/tls/bound-service-account-signing-key";
  EXPECT_EQ(world.files.info(stem + ".key").value()->mode, 0600u);
  EXPECT_EQ(net::public_key(Secret(world.text(stem + ".key"))).value(), world.text(stem + ".pub"));
  ASSERT_TRUE(world.files.remove(stem + ".pub").ok());
  const Result<> half = world.render();
  ASSERT_FALSE(half.ok());
  EXPECT_NE(half.error().message().find(stem + ".pub does not"), std::string::npos) << half.error().message();
}

TEST(ApiServerRender, PutsTheClusterIntoTheConfig) {
  World world;
  ASSERT_TRUE(world.render().ok());
  EXPECT_EQ(world.argument("feature-gates"),
            R"(["ImageVolume=true","OpenShiftPodSecurityAdmission=true","RouteExternalCertificate=false"])");
  EXPECT_EQ(world.argument("etcd-servers"), R"(["https://localhost:2379"])");
  EXPECT_EQ(world.argument("etcd-cafile"), R"(["/etc/kubernetes/secrets/etcd-ca-bundle.crt"])");
  const Json config = world.document("/out/config");
  EXPECT_EQ(find_string(config, {"servicesSubnet"}), "172.30.0.0/16");
  EXPECT_EQ(find_string(config, {"servingInfo", "bindNetwork"}), "tcp4");
  EXPECT_EQ(find_string(config, {"admission", "pluginConfig", "PodSecurity", "configuration", "defaults", "enforce"}),
            "baseline");
}

TEST(ApiServerRender, TakesTheIssuerFromTheFileOrTheManifests) {
  const std::string object =
      "{apiVersion: config.openshift.io/v1, kind: Authentication, metadata: {name: cluster}, spec: {serviceAccountIssuer: "
      "'https://i'}}";
  for (std::string_view name : {"cluster-authentication-02-config.yaml", "another.yaml"}) {
    World world;
    world.put(fmt::format("/assets/manifests/{}", name), object);
    ASSERT_TRUE(world.render().ok());
    EXPECT_EQ(world.argument("service-account-issuer"), R"(["https://i"])") << name;
  }
}

TEST(ApiServerRender, MergesOverrideFiles) {
  World world;
  world.put("/over.yaml", "apiServerArguments: {event-ttl: [1h]}\nservingInfo: {bindNetwork: tcp}\n");
  ASSERT_TRUE(world.render({"--config-override-files=/over.yaml"}).ok());
  EXPECT_EQ(world.argument("event-ttl"), R"(["1h"])");
  EXPECT_EQ(world.argument("goaway-chance"), R"(["0.001"])");
  EXPECT_EQ(find_string(world.document("/out/config"), {"servingInfo", "bindAddress"}), "0.0.0.0:6443");
}

TEST(ApiServerRender, ReportsEveryMissingInput) {
  World world;
  for (std::string_view file : {"tls/aggregator-signer.key", "tls/service-account.pub", "manifests/99_feature-gate.yaml",
                                "manifests/cluster-network-02-config.yml"}) {
    ASSERT_TRUE(world.files.remove(fmt::format("/assets/{}", file)).ok());
  }
  const Result<> rendered = world.render({"--operand-kubernetes-version=v1.36"});
  ASSERT_FALSE(rendered.ok());
  for (std::string_view expected :
       {"aggregator-signer.key", "service-account.pub", "FeatureGate", "cluster-network-02-config.yml", "v1.36"}) {
    EXPECT_NE(rendered.error().message().find(expected), std::string::npos) << expected << " is not in\n"
                                                                            << rendered.error().message();
  }
  EXPECT_TRUE(world.names("/out").empty());
}

class OneAnswer final : public net::Http {
 public:
  explicit OneAnswer(Result<net::Answer> answer) : answer_(std::move(answer)) {}
  Result<net::Answer> send(const net::Request& request, std::stop_token, const net::Sink&) override {
    EXPECT_TRUE(request.tls.insecure_skip_verify);
    return answer_;
  }

 private:
  Result<net::Answer> answer_;
};

TEST(InsecureReadyz, RelaysTheAnswerOfTheServer) {
  const net::Url url{"https", "localhost", 6443, "/readyz"};
  OneAnswer refused(net::Answer{.status = 500, .headers = {}, .body = "[-]etcd failed"});
  const net::ServerAnswer answer = relay_readyz(refused, url, {});
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(*answer.body, "[-]etcd failed");
  OneAnswer silent(error(Code::unavailable, "localhost: connection refused"));
  EXPECT_EQ(relay_readyz(silent, url, {}).status, 503);
}

}  // namespace
}  // namespace slipway::components::kube_apiserver
