#include "components/assisted_controller/controller.h"

#include "base/text.h"
#include "support/fake_kube.h"
#include "support/http_imposter.h"
#include "support/seeded_random.h"
#include "support/test_context.h"

#include "net/curl_http.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <tuple>

namespace slipway::components::assisted_controller {
namespace {

using namespace testing_support;
using Seen = HttpImposter::Seen;
using Reply = HttpImposter::Reply;

// A controller between a cluster and a service, in real time.
class ControllerTest : public testing::Test {
 protected:
  ControllerTest() {
    kube.serve_openshift();
    for (const auto& [kind, name] : {std::pair("ClusterRole", "assisted-installer-controller"),
                                     std::pair("ClusterRoleBinding", "assisted-installer-controller")}) {
      kube.put({{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", kind}, {"metadata", {{"name", name}}}});
    }
    kube.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "assisted-installer"}, {"uid", "u"}}}});
    for (const auto& [version, kind, name] : {std::tuple("v1", "ConfigMap", "assisted-installer-controller-report"),
                                              std::tuple("apps/v1", "Deployment", "assisted-installer-controller")}) {
      kube.put({{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}, {"namespace", "assisted-installer"}}}});
    }
  }

  // Runs until the namespace of the controller is gone.
  void run(const HttpImposter::Handler& answer) {
    run_until([&] { return !kube.stored(kube::types::namespaces, "", "assisted-installer"); }, std::chrono::hours(1), answer);
  }

  // life: of its credential
  void run_until(const std::function<bool()>& is_done, Milliseconds life, const HttpImposter::Handler& answer,
                 Milliseconds between_looks = Milliseconds(50)) {
    HttpImposter server(answer);
    const ServiceAccess service(environment, {.url = "http://" + server.host(), .cluster = "c", .token = Secret("t")});
    std::jthread ends([&] {
      const SteadyTime limit = test.clock.steady() + Seconds(50);
      while (!is_done() && test.clock.steady() < limit) std::this_thread::sleep_for(Milliseconds(20));
      test.stop.request_stop();
    });
    (void)run_controller(
        environment, kube, service,
        {.until = test.clock.now() + life, .pod = "", .between_looks = between_looks, .patience = Milliseconds(200)});
    journal = server.journal();
    EXPECT_TRUE(is_done()) << join(test.logged(), "\n");
  }

  std::string reported(const char* key) const {
    const auto object = kube.stored(kube::types::config_maps, "assisted-installer", "assisted-installer-controller-report");
    return object ? text_of(*object, {"data", key}) : "";
  }

  int count(const std::string& line) const {
    return static_cast<int>(std::ranges::count_if(journal, [&](const Seen& seen) { return seen.line() == line; }));
  }

  FakeKube kube;
  RealTimeContext test;
  sys::Context context = test.context();
  sys::RealFiles files;
  sys::RealRunner runner;
  SeededRandom random{1};
  net::CurlHttp http;
  const net::Environment environment{context, files, runner, random, http, {}};
  std::vector<Seen> journal;
};

TEST_F(ControllerTest, ReportsANodeAndEndsWithTheInstallation) {
  kube.put({{"apiVersion", "v1"},
            {"kind", "Node"},
            {"metadata", {{"name", "host-0"}}},
            {"status", {{"conditions", JsonArray{Json{{"type", "Ready"}, {"status", "True"}}}}}}});
  std::atomic<bool> is_done = false;
  run([&](const Seen& seen) -> Reply {
    EXPECT_EQ(seen.header("x-secret-key"), "t");
    if (seen.line() == "PUT /api/assisted-install/v2/infra-envs/e/hosts/h/progress") is_done = true;
    if (seen.line().starts_with("PUT ")) return {.status = 200, .body = "{}"};
    if (seen.line().ends_with("/hosts")) {
      return {.status = 200, .body = is_done ? "[]" : R"([{"id": "h", "infra_env_id": "e", "requested_hostname": "host-0",
                                     "status": "installing-in-progress", "progress": {"current_stage": "Rebooting"}}])"};
    }
    return {.status = 200, .body = is_done ? R"({"id": "c", "status": "installed"})" : R"({"id": "c", "status": "installing"})"};
  });
  EXPECT_EQ(count("PUT /api/assisted-install/v2/infra-envs/e/hosts/h/progress"), 1);
  const std::vector<std::string> requests = kube.requests();
  EXPECT_EQ(std::ranges::count(requests, "POST /api/v1/namespaces/assisted-installer/events"), 1);
  // Kubernetes removes both with the namespace.
  const Json role = kube.stored(kube::types::cluster_roles, "", "assisted-installer-controller").value();
  const JsonArray& owners = find_array(role, {"metadata", "ownerReferences"});
  ASSERT_EQ(owners.size(), 1u);
  EXPECT_EQ(text_of(owners[0], {"kind"}), "Namespace");
}

TEST_F(ControllerTest, EndsWhenTheServiceForgetsTheCluster) {
  run([&](const Seen&) -> Reply { return {.status = 404, .body = R"({"reason": "no such object"})"}; });
  EXPECT_GE(count("GET /api/assisted-install/v2/clusters/c"), 3);  // one refusal is not enough
}

TEST_F(ControllerTest, AServiceThatDoesNotAnswerIsAskedAgainSoon) {
  std::atomic<int> looks = 0;
  run_until([&] { return !kube.stored(kube::types::namespaces, "", "assisted-installer"); }, std::chrono::hours(1),
            [&](const Seen& seen) -> Reply {
              if (looks++ == 0) return {.status = 503, .body = R"({"reason": "not now"})"};
              if (seen.line().ends_with("/hosts")) return {.status = 200, .body = "[]"};
              return {.status = 200, .body = R"({"id": "c", "status": "installed"})"};
            },
            std::chrono::hours(1));
}

TEST_F(ControllerTest, WithoutTheServicePeopleFindTheReportInTheCluster) {
  std::atomic<bool> answers = false;
  const auto service = [&](const Seen& seen) -> Reply {
    if (!answers) return {.status = 503, .body = R"({"reason": "not now"})"};
    if (seen.line().ends_with("/hosts")) return {.status = 200, .body = "[]"};
    return {.status = 200, .body = R"({"id": "c", "status": "installing"})"};
  };
  const auto comes_and_goes = [&] {
    if (reported("service").find("has not answered since 2") == 0) answers = true;
    return reported("summary").find("answers again") != std::string::npos;
  };
  run_until(comes_and_goes, std::chrono::hours(1), service);
  EXPECT_EQ(reported("service"), "") << "no part of the earlier report is left";
  EXPECT_TRUE(kube.stored(kube::types::namespaces, "", "assisted-installer"));
}

TEST_F(ControllerTest, EndsWithoutTheServiceAndLeavesItsReport) {
  run_until([&] { return !kube.stored(kube::types::deployments, "assisted-installer", "assisted-installer-controller"); },
            Milliseconds(100), [](const Seen&) -> Reply { return {.status = 503, .body = "{}"}; });
  EXPECT_TRUE(kube.stored(kube::types::namespaces, "", "assisted-installer"));
  EXPECT_EQ(reported("controller"),
            "has ended: the installation has taken too long (kubectl delete namespace assisted-installer removes what is left of "
            "it)");
  EXPECT_NE(reported("summary").find("not installed yet: there are no Nodes"), std::string::npos) << reported("summary");
}

TEST(ControllerArguments, TheTokenDoesNotCrossTheNetworkUnencrypted) {
  RealTimeContext test;
  const sys::Context context = test.context();
  sys::RealFiles files;
  sys::RealRunner runner;
  SeededRandom random{1};
  net::CurlHttp http;
  const net::Environment environment{context, files, runner, random, http, {}};
  const Error why =
      run_start(environment, {"--url=http://192.168.1.1:8090", "--cluster-id=c", "--until=2026-11-27T12:00:00Z"}).error();
  EXPECT_NE(why.message().find("--url: must be https"), std::string::npos) << why.message();
}

}  // namespace
}  // namespace slipway::components::assisted_controller
