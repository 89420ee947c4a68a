#include "components/machine_config_server/server.h"

#include "base/yaml.h"
#include "components/machine_config_server/bootstrap.h"
#include "ignition/data_url.h"
#include "machineconfig/controller_config.h"
#include "machineconfig/os_build.h"
#include "machineconfig/types.h"

#include "net/x509.h"
#include "support/memory_files.h"
#include "support/operator_environment.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace slipway::components::machine_config_server {
namespace {

class ConfigServerTest : public testing::Test {
 protected:
  ConfigServerTest() { put("/kubeconfig", "kind: Config\n"); }

  void put(const std::string& path, std::string_view text) { (void)files.write(path, text, 0600); }

  void render(std::string_view name, std::string_view motd) {
    machineconfig::MachineConfig config{.name = std::string(name)};
    config.config.ignition.version = ignition::newest_version;
    config.config.storage.files.push_back({.path = "/etc/motd", .contents = {.source = fmt::format("data:,{}", motd)}});
    put(fmt::format("/base/machine-configs/{}.yaml", name), emit_yaml(machineconfig::to_json(config)));
    put("/base/controller-config/machine-config-controller.yaml",
        emit_yaml(machineconfig::to_json(machineconfig::ControllerConfig{.version = "1"})));
    put("/base/machine-pools/master.yaml", fmt::format("spec: {{configuration: {{name: {}}}}}\n", name));
  }

  net::ServerAnswer get(std::string path, std::vector<net::Header> headers = {}, std::string method = "GET") {
    if (sends_token) headers.push_back({"Authorization", "Bearer " + std::string(tokens.control_plane.reveal())});
    return server().answer({.method = std::move(method),
                            .path = std::move(path),
                            .query = "",
                            .headers = std::move(headers),
                            .body = "",
                            .peer = "10.0.0.9"});
  }

  ConfigServer& server() {
    if (!server_) server_.emplace(context, rendered, tokens);
    return *server_;
  }

  testing_support::TestContext test;
  const sys::Context context = test.context();
  testing_support::MemoryFiles files;
  RenderedFolder rendered{files, "/base", "/kubeconfig"};
  PointerTokens tokens{Secret("0123456789abcdef"), Secret("fedcba9876543210")};
  bool sends_token = true;

 private:
  std::optional<ConfigServer> server_;
};

TEST_F(ConfigServerTest, AnswersEachRequest) {
  struct Case {
    const char* method;
    const char* path;
    const char* accept;
    int before, after;  // rendering
  };
  const std::string ignition = "application/vnd.coreos.ignition+json;version=";
  const std::vector<Case> cases = {
      {"GET", "/config/master", "3.2.0", 503, 200},
      {"HEAD", "/config/master", "3.2.0", 503, 200},
      {"GET", "/config/arbiter", "3.2.0", 503, 404},
      {"GET", "/config/worker", "3.2.0", 500, 500},
      {"GET", "/config/infra", "3.2.0", 500, 500},
      {"GET", "/config/master", "2.2.0", 400, 400},
      {"GET", "/config/master", "9.0.0", 400, 400},
      {"GET", "/healthz", "3.2.0", 200, 200},
      {"GET", "/", "3.2.0", 404, 404},
      {"GET", "/config", "3.2.0", 404, 404},
      {"POST", "/config/master", "3.2.0", 405, 405},
      {"GET", "/config/../../kubeconfig", "3.2.0", 500, 500},
  };
  for (const Case& c : cases) EXPECT_EQ(get(c.path, {{"Accept", ignition + c.accept}}, c.method).status, c.before) << c.path;
  render("rendered-master-1", "one");
  for (const Case& c : cases) EXPECT_EQ(get(c.path, {{"Accept", ignition + c.accept}}, c.method).status, c.after) << c.path;
}

TEST_F(ConfigServerTest, ServesTheCurrentConfig) {
  render("rendered-master-1", "one");
  const net::ServerAnswer first = get("/config/master"), second = get("/config/master");
  EXPECT_NE(first.body->find("data:,one"), std::string::npos);
  EXPECT_EQ(first.body, second.body) << "one text for all who ask";
  render("rendered-master-2", "two");
  EXPECT_NE(get("/config/master").body->find("data:,two"), std::string::npos);
  const std::shared_ptr<const std::string> before = get("/config/master").body;
  put("/kubeconfig", "kind: Config\nother: true\n");
  EXPECT_NE(*get("/config/master").body, *before);
}

machineconfig::OsBuild sample_build(std::string name) {
  return {.name = std::move(name),
          .pool = "master",
          .rendered = "rendered-master-1",
          .base_image = "registry.example.com/release/os@sha256:" + std::string(64, '3'),
          .repository = "registry.example.com/team/os",
          .registry = "registry.example.com",
          .containerfile = "FROM configs\n"};
}

std::string record_of(const machineconfig::OsBuild& build) { return emit_json(machineconfig::to_json(build), JsonStyle::pretty); }

std::string record_of(const machineconfig::OsBuild& build, char digit) {
  machineconfig::OsImage image;
  image.build = build;
  image.digest = "sha256:" + std::string(64, digit);
  return emit_json(machineconfig::to_json(image), JsonStyle::pretty);
}

// The text of a file of a served config; empty if it does not have the file.
std::string served_file(const net::ServerAnswer& answer, std::string_view path) {
  const Json served = parse_json(*answer.body, "answer").value();
  for (const Json& file : find_array(served, {"storage", "files"})) {
    if (find_string(file, {"path"}) == path) return ignition::decode_data_url(*find_string(file, {"contents", "source"})).value();
  }
  return "";
}

// Masters wait in Ignition while the bootstrap machine builds their operating system.
TEST_F(ConfigServerTest, WaitsForTheImageThatThisMachineBuilds) {
  const std::string images = std::string(machineconfig::os_images_folder) + "/master/";
  render("rendered-master-1", "one");
  const std::string api = "https://api-int.demo.example.com:6443";
  machineconfig::ControllerConfig controller{.version = "1", .root_ca = "CA\n"};
  controller.infrastructure = {{"status", {{"apiServerInternalURI", api}}}};
  put("/base/controller-config/machine-config-controller.yaml", emit_yaml(machineconfig::to_json(controller)));
  put("/base/os-builds/master/build.json", record_of(sample_build("master-2")));
  const auto expect_waiting = [&](std::string_view reason) {
    const net::ServerAnswer answer = get("/config/master");
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(net::find_header(answer.headers, "Retry-After"), "5");
    EXPECT_EQ(*answer.body, fmt::format("the operating system image of pool master {}\n", reason));
  };
  expect_waiting("is being built");
  put(images + "image.json", record_of(sample_build("master-1"), 'a'));
  expect_waiting("is being built");
  const std::string failure = images + machineconfig::os_build_failure_file;
  put(failure, R"({"code":"invalid","message":"Containerfile:2: no such package\nE: unable to locate"})");
  expect_waiting("could not be built: Containerfile:2: no such package");
  (void)files.remove(failure);
  expect_waiting("is being built");
  put(images + "image.json", record_of(sample_build("master-2"), 'b'));
  const net::ServerAnswer answer = get("/config/master");
  ASSERT_EQ(answer.status, 200) << *answer.body;
  const auto source =
      machineconfig::parse_os_image_source(served_file(answer, machineconfig::os_image_source_file), "source").value();
  EXPECT_EQ(source.image, "registry.example.com/team/os@sha256:" + std::string(64, 'b'));
  EXPECT_EQ(source.server, "api-int.demo.example.com:22623");
  EXPECT_EQ(source.ca, "CA\n");
  EXPECT_EQ(source.username, os_image_user);
  EXPECT_EQ(source.password, tokens.control_plane);
  EXPECT_NE(served_file(answer, "/etc/machine-config-daemon/node-annotations.json").find(source.image), std::string::npos);
  EXPECT_EQ(get("/config/master").body, answer.body) << "one text for all who ask";
}

TEST_F(ConfigServerTest, APreBuiltImageComesFromItsRegistry) {
  render("rendered-master-1", "one");
  put("/base/os-images/master/image.json", record_of(sample_build("master-1"), 'c'));
  const net::ServerAnswer answer = get("/config/master");
  ASSERT_EQ(answer.status, 200) << *answer.body;
  EXPECT_EQ(served_file(answer, machineconfig::os_image_source_file), "");
  EXPECT_NE(served_file(answer, "/etc/ignition-machine-config-encapsulated.json").find(std::string(64, 'c')), std::string::npos);
}

TEST_F(ConfigServerTest, ServesTheRequestedVersion) {
  render("rendered-master-1", "one");
  for (const char* version : {"3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0"}) {
    const net::ServerAnswer answer =
        get("/config/master", {{"Accept", fmt::format("application/vnd.coreos.ignition+json;version={}", version)}});
    ASSERT_EQ(answer.status, 200);
    EXPECT_EQ(text_of(parse_json(*answer.body, "answer").value(), {"ignition", "version"}), version);
  }
}

TEST_F(ConfigServerTest, APoolWhoseConfigIsMissingIsNotFound) {
  render("rendered-master-1", "one");
  ASSERT_TRUE(files.remove("/base/machine-configs/rendered-master-1.yaml").ok());
  EXPECT_EQ(get("/config/master").status, 404);
}

TEST_F(ConfigServerTest, OnlyATokenOfThePoolGivesAccess) {
  sends_token = false;
  render("rendered-master-1", "one");
  struct Case {
    const char* authorization;  // null: none
    int master, worker;
  };
  for (const Case& c : {Case{"Bearer 0123456789abcdef", 200, 500}, Case{"Bearer fedcba9876543210", 403, 500},
                        Case{"Bearer 0123456789abcdeF", 403, 403}, Case{"Bearer 0123456789abcde", 403, 403},
                        Case{"Bearer 0123456789abcdef0", 403, 403}, Case{"Bearer ", 403, 403}, Case{"", 403, 403},
                        Case{"Basic 0123456789abcdef", 403, 403}, Case{"0123456789abcdef", 403, 403}, Case{nullptr, 403, 403}}) {
    std::vector<net::Header> headers;
    if (c.authorization) headers.push_back({"authorization", c.authorization});
    EXPECT_EQ(get("/config/master", headers).status, c.master) << (c.authorization ? c.authorization : "none");
    EXPECT_EQ(get("/config/arbiter", headers).status, c.master == 200 ? 404 : 403);
    EXPECT_EQ(get("/config/worker", headers).status, c.worker);
    EXPECT_EQ(get("/config/master/worker", headers).status, c.worker) << "the last part is the pool";
    EXPECT_EQ(get("/config/worker/master", headers).status, c.master);
  }
  EXPECT_EQ(get("/healthz").status, 200);
}

// One answer for each connection: unauthorized clients cannot hold a connection by sending more requests.
TEST_F(ConfigServerTest, ClosesTheConnectionAfterEachAnswer) {
  for (const char* path : {"/healthz", "/config/master", "/other"}) {
    const net::ServerAnswer answer = get(path);
    EXPECT_EQ(net::find_header(answer.headers, "Connection"), "close") << path;
  }
}

TEST_F(ConfigServerTest, ControlCharactersOfClientsReachNoLog) {
  render("rendered-master-1", "one");
  for (const bool has_token : {false, true}) {
    sends_token = has_token;
    const int status = get("/config/a\nlevel=info forged\x1b[31m\xff").status;
    EXPECT_EQ(status, has_token ? 404 : 403);
    test.clock.wait(test.clock.steady() + Seconds(2), {}, nullptr, 0);
  }
  ASSERT_EQ(test.events().size(), 1u);
  EXPECT_EQ(test.events()[0].name, R"(/config/a\x0alevel=info forged\x1b[31m\xff)");
  for (const std::string& line : test.logged()) {
    EXPECT_EQ(std::ranges::count_if(line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; }), 0) << line;
  }
}

TEST_F(ConfigServerTest, ReportsRefusalsOnceASecondAndNeverTheToken) {
  sends_token = false;
  for (int i = 0; i < 5; ++i) (void)get("/config/master", {{"Authorization", "Bearer guess"}});
  EXPECT_EQ(test.event_lines(), std::vector<std::string>{"config-request /config/master failed"});
  test.clock.wait(test.clock.steady() + Seconds(2), {}, nullptr, 0);
  (void)get("/config/master");
  ASSERT_EQ(test.event_lines().size(), 2u);
  EXPECT_EQ(test.events().back().fields.at("not_told"), 4);
  EXPECT_EQ(test.events().back().fields.at("peer"), "10.0.0.9");
  for (const std::string& line : test.logged()) {
    EXPECT_EQ(line.find("0123456789abcdef"), std::string::npos);
    EXPECT_EQ(line.find("guess"), std::string::npos);
  }
}

// Uses a clock whose minutes pass at once.
class ServeConfigs : public testing::Test {
 protected:
  ServeConfigs() {
    renew();
    world.put("/token", "one");
    thread = std::jthread([this] {
      const Environment environment = world.environment();
      RenderedFolder rendered(world.files, "/base", "/kubeconfig");
      const Flags flags = parse_flags("server", config_server_flags(),
                                      {"--cert=/crt", "--key=/key", "--token-file=/token", "--worker-token-file=/worker",
                                       "--secure-port=0", "--insecure-port=0"})
                              .value();
      ended = serve_configs(environment, flags, rendered);
    });
    const SteadyTime begin = world.test.clock.steady();
    while (world.test.clock.steady() < begin + std::chrono::minutes(3)) std::this_thread::yield();  // the server checks its files
  }

  // Writes the files one after the other, as the kubelet does.
  void renew() {
    const net::Certificate made = net::make_certificate({.subject = {.common_name = "server"},
                                                         .server_auth = true,
                                                         .dns_names = {"server"},
                                                         .valid_from = std::chrono::floor<Seconds>(world.test.clock.now()),
                                                         .valid_for = Seconds(3600)},
                                                        nullptr)
                                      .value();
    world.put("/crt", made.pem);
    world.put("/key", made.key.reveal());
  }

  testing_support::OperatorEnvironment world;
  Result<> ended = error(Code::internal, "still running");
  std::jthread thread;
};

TEST_F(ServeConfigs, EndsWhenAStopIsRequested) {
  world.test.stop.request_stop();
  thread.join();
  EXPECT_TRUE(ended.ok());
}

TEST_F(ServeConfigs, EndsForARestartWithARenewedCertificate) {
  renew();
  thread.join();
  EXPECT_TRUE(ended.ok()) << ended.error().message();
}

TEST_F(ServeConfigs, EndsWithANewTokenButNotWithAMissingOne) {
  (void)world.files.remove("/token");
  const SteadyTime begin = world.test.clock.steady();
  while (world.test.clock.steady() < begin + std::chrono::minutes(5)) std::this_thread::yield();
  EXPECT_EQ(ended.error().message(), "still running");
  world.put("/token", "two");
  thread.join();
  EXPECT_TRUE(ended.ok());
}

TEST_F(ServeConfigs, EndsWithANewTokenOfWorkers) {
  world.put("/worker", "two");
  thread.join();
  EXPECT_TRUE(ended.ok());
}

TEST(ServeConfigsWithoutAToken, Refuses) {
  testing_support::OperatorEnvironment world;
  world.put("/crt", "");
  world.put("/key", "");
  const Environment environment = world.environment();
  RenderedFolder rendered(world.files, "/base", "/kubeconfig");
  const Flags flags = parse_flags("server", config_server_flags(), {"--cert=/crt", "--key=/key", "--token-file=/token"}).value();
  const Result<> ended = serve_configs(environment, flags, rendered);
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code(), Code::not_found);
  EXPECT_TRUE(ended.error().message().starts_with("/token: no token")) << ended.error().message();
}

}  // namespace
}  // namespace slipway::components::machine_config_server
