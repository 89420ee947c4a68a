#include "components/machine_config_server/cluster.h"

#include "base/yaml.h"
#include "ignition/data_url.h"
#include "machineconfig/node_annotations.h"

#include "support/fake_kube.h"
#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace slipway::components::machine_config_server {
namespace {

using testing_support::FakeKube;

Json pool(std::string_view name, std::string_view wanted, std::string_view reached, int updated) {
  Json object = {{"apiVersion", machineconfig::to_json(machineconfig::MachineConfig{}).at("apiVersion")},
                 {"kind", "MachineConfigPool"},
                 {"metadata", {{"name", name}}},
                 {"spec", JsonObject()},
                 {"status", {{"updatedMachineCount", updated}}}};
  if (!wanted.empty()) object.at("spec").as_object()["configuration"] = {{"name", wanted}};
  if (!reached.empty()) object.at("status").as_object()["configuration"] = {{"name", reached}};
  return object;
}

TEST(ConfigToServe, IsTheNewConfigOnceAMachineHasIt) {
  struct Case {
    const char* wanted;
    const char* reached;
    int updated;
    const char* served;
  };
  for (const Case& c : {Case{"new", "old", 0, "old"}, Case{"new", "old", 1, "new"}, Case{"new", "new", 0, "new"},
                        Case{"new", "", 0, "new"}, Case{"", "old", 1, "old"}, Case{"", "", 0, ""}}) {
    EXPECT_EQ(config_to_serve(pool("worker", c.wanted, c.reached, c.updated)), c.served)
        << c.wanted << " " << c.reached << " " << c.updated;
  }
}

// The fake API, which also issues tokens: "node-bootstrapper 1".
class ApiWithTokens final : public kube::Api {
 public:
  ApiWithTokens(kube::Api& api, sys::Clock& clock) : api_(api), clock_(clock) {}

  Result<Json> send(const sys::Context& context, const kube::ApiRequest& request) override {
    constexpr std::string_view accounts = "/api/v1/namespaces/openshift-machine-config-operator/serviceaccounts/";
    if (!request.path.starts_with(accounts) || request.method != "POST") return api_.send(context, request);
    if (is_silent) return error(Code::unavailable, "no tokens today");
    const std::string rest = request.path.substr(accounts.size());
    EXPECT_TRUE(rest.ends_with("/token"));
    EXPECT_EQ(request.body->at("spec").at("expirationSeconds"), Json(86400));
    const std::string token = fmt::format("{} {}", rest.substr(0, rest.find('/')), ++given);
    return Json{{"status", {{"token", token}, {"expirationTimestamp", to_rfc3339(clock_.now() + life.load())}}}};
  }
  Result<> stream(const sys::Context& context, const std::string& path,
                  const std::function<Result<>(kube::WatchEvent)>& on_event) override {
    return api_.stream(context, path, on_event);
  }

  std::atomic<bool> is_silent = false;
  std::atomic<int> given = 0;
  std::atomic<Seconds> life = Seconds(86400);

 private:
  kube::Api& api_;
  sys::Clock& clock_;
};

class ClusterConfigsTest : public testing::Test {
 protected:
  ClusterConfigsTest() {
    kube.serve(kube::types::machine_config_pools);
    kube.serve(kube::types::machine_configs);
    kube.serve(kube::types::controller_configs);
    kube.serve(kube::types::machine_os_configs);
    kube.serve(kube::types::machine_os_builds);
    put_file("/ca.crt", "CA");
  }
  ~ClusterConfigsTest() override { test.stop.request_stop(); }

  void put_file(const std::string& path, std::string_view text) { (void)files.write(path, text, 0600); }

  static machineconfig::MachineConfig rendered_config(std::string_view name) {
    machineconfig::MachineConfig config{.name = std::string(name)};
    config.config.ignition.version = ignition::newest_version;
    config.config.storage.files.push_back({.path = "/etc/motd", .contents = {.source = fmt::format("data:,{}", name)}});
    return config;
  }
  void put_rendered(std::string_view name) { kube.put(machineconfig::to_json(rendered_config(name))); }

  static machineconfig::OsConfig os_config(const std::string& pool) {
    return {.pool = pool, .push_spec = "r.example.com/os:latest", .push_secret = "push"};
  }
  void put_os_config(const std::string& pool, std::string_view image, JsonObject annotations = {}) {
    kube.put({{"apiVersion", "machineconfiguration.openshift.io/v1"},
              {"kind", "MachineOSConfig"},
              {"metadata",
               {{"name", pool}, {"creationTimestamp", to_rfc3339(test.clock.now())}, {"annotations", std::move(annotations)}}},
              {"spec",
               {{"machineConfigPool", {{"name", pool}}},
                {"imageBuilder", {{"imageBuilderType", "Job"}}},
                {"renderedImagePushSpec", os_config(pool).push_spec},
                {"renderedImagePushSecret", {{"name", "push"}}}}},
              {"status", {{"currentImagePullSpec", image}}}});
  }
  // The build for a rendered config of put_rendered().
  void put_os_build(const std::string& pool, std::string_view rendered, std::string_view image, std::string_view succeeded,
                    std::optional<WallTime> created = {}) {
    const std::string name =
        machineconfig::plan_os_build(os_config(pool), rendered_config(rendered), controller_config("any")).value().name;
    kube.put({{"apiVersion", "machineconfiguration.openshift.io/v1"},
              {"kind", "MachineOSBuild"},
              {"metadata", {{"name", name}, {"creationTimestamp", to_rfc3339(created.value_or(test.clock.now()))}}},
              {"status",
               {{"digestedImagePushSpec", image}, {"conditions", JsonArray{{{"type", "Succeeded"}, {"status", succeeded}}}}}}});
  }

  static machineconfig::ControllerConfig controller_config(std::string_view host) {
    machineconfig::ControllerConfig controller{
        .version = "1", .kubelet_client_ca = "clients", .os_image = "r.example.com/base@sha256:" + std::string(64, '1')};
    controller.infrastructure = {{"status", {{"apiServerInternalURI", fmt::format("https://{}:6443", host)}}}};
    return controller;
  }
  void put_controller(std::string_view host) { kube.put(machineconfig::to_json(controller_config(host))); }

  net::ServerAnswer get(const std::string& path) {
    return server.answer({.method = "GET",
                          .path = path,
                          .query = "",
                          .headers = {{"Authorization", "Bearer pointer"}},
                          .body = "",
                          .peer = "10.0.0.9"});
  }

  // Retries, because watches report changes on their own threads. Returns the last answer at the time limit.
  net::ServerAnswer get_until(const std::string& path, const std::function<bool(const net::ServerAnswer&)>& is_it) {
    const SteadyTime deadline = test.clock.steady() + Seconds(10);
    for (;;) {
      net::ServerAnswer answer = get(path);
      if (is_it(answer)) return answer;
      if (test.clock.steady() > deadline) {
        ADD_FAILURE() << path << " is still " << answer.status << " " << *answer.body;
        return answer;
      }
      std::this_thread::yield();
    }
  }
  net::ServerAnswer get_until(const std::string& path, int status, std::string_view part = "") {
    return get_until(path, [&](const net::ServerAnswer& answer) {
      return answer.status == status && answer.body->find(part) != std::string::npos;
    });
  }

  void follow() {
    thread = std::jthread([this] { (void)configs.follow(context); });
  }

  testing_support::RealTimeContext test;
  const sys::Context context = test.context();
  testing_support::MemoryFiles files;
  FakeKube kube;
  ApiWithTokens api{kube, test.clock};
  ClusterConfigs configs{context, api, files, "/ca.crt"};
  ConfigServer server{context, configs, {Secret("pointer"), Secret("pointer")}};
  std::jthread thread;
};

TEST_F(ClusterConfigsTest, ServesEachPoolAndNeverReportsNotFound) {
  EXPECT_EQ(get("/config/worker").status, 503) << "nothing is known";
  follow();
  put_controller("api-int.demo.example.com");
  kube.put(pool("worker", "", "", 0));
  get_until("/config/worker", 503, "no config is rendered");
  kube.put(pool("worker", "rendered-worker-1", "rendered-worker-1", 0));
  get_until("/config/worker", 503, "rendered-worker-1");
  put_rendered("rendered-worker-1");
  const net::ServerAnswer answer = get_until("/config/worker", 200);
  EXPECT_NE(answer.body->find("data:,rendered-worker-1"), std::string::npos);
  EXPECT_EQ(get("/config/infra").status, 503);
  kube.put(pool("infra", "rendered-worker-1", "", 0));
  get_until("/config/infra", 200);
}

TEST_F(ClusterConfigsTest, TwoRequestsReadOnce) {
  put_controller("api-int.demo.example.com");
  kube.put(pool("worker", "rendered-worker-1", "", 0));
  put_rendered("rendered-worker-1");
  follow();
  const net::ServerAnswer first = get_until("/config/worker", 200);
  EXPECT_EQ(get("/config/worker").body, first.body);
  // The other requests are those of watches, which begin meanwhile.
  const std::vector<std::string> requests = kube.requests();
  EXPECT_EQ(std::ranges::count_if(requests, [](const auto& each) { return each.find("/machineconfigs/") != std::string::npos; }), 1);
}

TEST_F(ClusterConfigsTest, ServesChanges) {
  put_controller("api-int.demo.example.com");
  kube.put(pool("worker", "rendered-worker-1", "rendered-worker-1", 1));
  put_rendered("rendered-worker-1");
  put_rendered("rendered-worker-2");
  follow();
  get_until("/config/worker", 200, "data:,rendered-worker-1");
  kube.put(pool("worker", "rendered-worker-2", "rendered-worker-1", 1));
  const net::ServerAnswer second = get_until("/config/worker", 200, "data:,rendered-worker-2");
  put_controller("api-int.other.example.com");
  get_until("/config/worker", [&](const auto& answer) { return answer.status == 200 && *answer.body != *second.body; });
}

TEST(BuiltImage, IsThatOfASuccessfulBuild) {
  const auto build = [](const char* succeeded) {
    return Json{{"status",
                 {{"digestedImagePushSpec", "r/os@sha256:1"},
                  {"conditions", JsonArray{{{"type", "Succeeded"}, {"status", succeeded}}}}}}};
  };
  EXPECT_EQ(built_image(build("True")), "r/os@sha256:1");
  EXPECT_EQ(built_image(build("False")), "");
  EXPECT_EQ(built_image(JsonObject()), "");
}

// The desired image in the annotations of a served config; empty if there is none.
std::string served_image(const net::ServerAnswer& answer) {
  const Json served = parse_json(*answer.body, "answer").value();
  for (const Json& file : find_array(served, {"storage", "files"})) {
    if (find_string(file, {"path"}) != "/etc/machine-config-daemon/node-annotations.json") continue;
    const std::string text = ignition::decode_data_url(*find_string(file, {"contents", "source"})).value();
    const Json annotations = parse_json(text, "annotations").value();
    return std::string(find_string(annotations, {machineconfig::desired_image}).value_or(""));
  }
  return "no annotations";
}

TEST_F(ClusterConfigsTest, ServesTheImageThatWasBuiltFromTheConfig) {
  const std::string first = "r.example.com/os@sha256:" + std::string(64, 'a'),
                    second = "r.example.com/os@sha256:" + std::string(64, 'b');
  put_controller("api-int.demo.example.com");
  kube.put(pool("worker", "rendered-worker-1", "", 0));
  kube.put(pool("infra", "rendered-worker-1", "", 0));
  put_rendered("rendered-worker-1");
  put_rendered("rendered-worker-2");
  put_os_build("worker", "rendered-worker-1", first, "True");
  put_os_build("worker", "rendered-worker-2", second, "False");
  follow();
  const auto expect_image = [&](const std::string& image) {
    const net::ServerAnswer answer = get_until(
        "/config/worker", [&](const net::ServerAnswer& now) { return now.status == 200 && served_image(now) == image; });
    EXPECT_EQ(answer.body->find("os-image-source"), std::string::npos);
  };
  expect_image("");
  put_os_config("worker", first);
  expect_image(first);
  kube.put(pool("worker", "rendered-worker-2", "rendered-worker-2", 1));
  expect_image("");  // its build has not succeeded
  put_os_build("worker", "rendered-worker-2", second, "True");
  put_os_config("worker", second);
  expect_image(second);
  // The pool is still at the config before.
  kube.put(pool("worker", "rendered-worker-2", "rendered-worker-1", 0));
  expect_image(first);
  EXPECT_EQ(served_image(get_until("/config/infra", 200)), "");
}

TEST(EndOfHold, DependsOnTheBuild) {
  const WallTime created = parse_rfc3339("2026-11-21T00:00:00Z").value();
  const Json building = {{"metadata", {{"creationTimestamp", "2026-11-21T01:00:00Z"}}}};
  Json failed = building;
  failed.as_object()["status"] = {{"conditions", JsonArray{{{"type", "Failed"}, {"status", "True"}}}}};
  PoolImage image{.config = {.pool = "worker", .holds_first_boot = true}, .image = "", .created = created};
  EXPECT_EQ(end_of_hold(image, nullptr), created + std::chrono::hours(2));
  EXPECT_EQ(end_of_hold(image, &building), created + std::chrono::minutes(80));
  EXPECT_EQ(end_of_hold(image, &failed), std::nullopt);
  image.image = "r/os@sha256:1";
  EXPECT_EQ(end_of_hold(image, &building), std::nullopt) << "machines of a pool with an image are updated";
  image.image.clear();
  image.config.holds_first_boot = false;
  EXPECT_EQ(end_of_hold(image, &building), std::nullopt);
}

TEST_F(ClusterConfigsTest, HoldsMachinesUntilTheFirstImageExists) {
  const std::string built = "r.example.com/os@sha256:" + std::string(64, 'a');
  put_controller("api-int.demo.example.com");
  kube.put(pool("worker", "rendered-worker-1", "", 0));
  put_rendered("rendered-worker-1");
  const auto put = [&](std::string_view image) {
    put_os_config("worker", image, {{machineconfig::first_boot_annotation, "Hold"}});
  };
  put("");
  follow();
  get_until("/config/worker", 503, "no MachineOSBuild");
  put_os_build("worker", "rendered-worker-1", "", "False");
  get_until("/config/worker", 503, "has not succeeded yet");
  put_os_build("worker", "rendered-worker-1", built, "True");
  put(built);
  get_until("/config/worker", [&](const net::ServerAnswer& now) { return now.status == 200 && served_image(now) == built; });
}

TEST_F(ClusterConfigsTest, HoldsNoMachinesAfterTheLimit) {
  put_controller("api-int.demo.example.com");
  kube.put(pool("worker", "rendered-worker-1", "", 0));
  put_rendered("rendered-worker-1");
  put_os_build("worker", "rendered-worker-1", "", "False", test.clock.now() - std::chrono::minutes(21));
  put_os_config("worker", "", {{machineconfig::first_boot_annotation, "Hold"}});
  follow();
  get_until("/config/worker", [&](const net::ServerAnswer& now) { return now.status == 200 && served_image(now).empty(); });
}

kube::Access served_access(const net::ServerAnswer& answer) {
  const Json served = parse_json(*answer.body, "answer").value();
  const std::function<Result<std::string>(const std::string&)> no_files = [](const std::string& path) {
    return error(Code::not_found, "{}", path);
  };
  for (const Json& file : find_array(served, {"storage", "files"})) {
    if (find_string(file, {"path"}) != "/etc/kubernetes/kubeconfig") continue;
    EXPECT_EQ(*find(file, {"mode"}), Json(0600));
    const std::string text = ignition::decode_data_url(*find_string(file, {"contents", "source"})).value();
    return kube::parse_kubeconfig(text, "kubeconfig", no_files).value();
  }
  ADD_FAILURE() << "no kubeconfig is served";
  return {};
}

TEST_F(ClusterConfigsTest, EachRoleJoinsWithATokenOfItsOwn) {
  put_controller("api-int.demo.example.com");
  for (const char* name : {"worker", "infra", "master"}) kube.put(pool(name, "rendered-1", "", 0));
  put_rendered("rendered-1");
  ASSERT_TRUE(files.remove("/ca.crt").ok());
  follow();
  get_until("/config/worker", 503, "the authority of the API server");
  put_file("/ca.crt", "CA");
  api.is_silent = true;
  get_until("/config/worker", 503, "ServiceAccount openshift-machine-config-operator/node-bootstrapper: no token to join with");
  api.is_silent = false;
  const kube::Access worker = served_access(get_until("/config/worker", 200));
  EXPECT_EQ(worker.server, "https://api-int.demo.example.com:6443");
  EXPECT_EQ(worker.ca, "CA");
  EXPECT_EQ(worker.token.reveal(), "node-bootstrapper 1");
  EXPECT_EQ(served_access(get_until("/config/infra", 200)).token.reveal(), "node-bootstrapper 1");
  EXPECT_EQ(served_access(get_until("/config/master", 200)).token.reveal(), "node-bootstrapper-master 2");
  EXPECT_EQ(api.given, 2);
}

TEST_F(ClusterConfigsTest, ATokenIsServedAsLongAsHalfOfItsLifeIsLeft) {
  put_controller("api-int.demo.example.com");
  kube.put(pool("worker", "rendered-1", "", 0));
  put_rendered("rendered-1");
  api.life = Seconds(4);
  follow();
  const SteadyTime begin = test.clock.steady();
  const std::string first(served_access(get_until("/config/worker", 200)).token.reveal());
  while (served_access(get("/config/worker")).token.reveal() == first) {
    ASSERT_LT(test.clock.steady() - begin, Seconds(20));
    std::this_thread::yield();
  }
  EXPECT_GE(test.clock.steady() - begin, Milliseconds(1500));
}

TEST_F(ClusterConfigsTest, MachinesRetryWhenTheApiDoesNotAnswer) {
  put_controller("api-int.demo.example.com");
  kube.put(pool("worker", "rendered-worker-1", "", 0));
  put_rendered("rendered-worker-1");
  kube.fail_request = [](const kube::ApiRequest& request) -> std::optional<Error> {
    if (!request.path.ends_with("/rendered-worker-1")) return std::nullopt;
    return error(Code::denied, "who are you");
  };
  follow();
  get_until("/config/worker", 503, "who are you");
}

}  // namespace
}  // namespace slipway::components::machine_config_server
