#include "cli/cluster_commands.h"

#include "cli/installing.h"
#include "support/command_world.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace slipway::cli {
namespace {

using ClusterCommandsTest = testing_support::CommandTest;

constexpr std::string_view events =
    R"({"time":"2026-11-21T09:30:00.000Z","source":"slipway","kind":"step","name":"assets","phase":"started"})"
    "\n"
    R"({"time":"2026-11-21T09:30:01.500Z","source":"bootstrap","kind":"stage","name":"etcd-render","phase":"finished","duration_ms":500})"
    "\n"
    R"({"time":"2026-11-21T09:30:0)";

constexpr std::string_view machine_event =
    R"({"time":"2026-11-21T09:30:00.900Z","source":"slipway","kind":"boot","name":"m0","phase":"finished","duration_ms":700})"
    "\n";

TEST(ConsoleLines, TellOfAPasswordOnlyWhereThereIsOne) {
  EXPECT_EQ(
      console_lines("https://c", "/d/auth/kubeadmin-password"),
      (std::vector<std::string>{"web console: https://c",
                                "log in to the console as user kubeadmin with the password in /d/auth/kubeadmin-password"}));
  EXPECT_EQ(console_lines("https://c", std::nullopt), std::vector<std::string>{"web console: https://c"});
}

TEST_F(ClusterCommandsTest, TimelineReadsTheEventsOfTheDirectoryAndSkipsWhatAKillHasCut) {
  ASSERT_TRUE(files.write("/demo/.slipway/events.jsonl", events, 0644).ok());
  ASSERT_TRUE(files.write("/elsewhere", events, 0644).ok());
  const Result<> shown = run({"timeline", "--dir", "/demo"});
  ASSERT_TRUE(shown.ok()) << shown.error().message();
  EXPECT_NE(printed.find("*  1.50   0.50  stage etcd-render\n"), std::string::npos) << printed;
  const std::string of_directory = std::exchange(printed, "");
  ASSERT_TRUE(run({"timeline", "--dir", "/nowhere", "--from", "/elsewhere"}).ok());
  EXPECT_EQ(printed, of_directory);
}

TEST_F(ClusterCommandsTest, TimelineHasWhatTheMachinesDidAndIsAPageOrJsonToo) {
  ASSERT_TRUE(files.write("/demo/.slipway/events.jsonl", events, 0644).ok());
  ASSERT_TRUE(files.write("/demo/metadata.json", R"({"clusterName":"demo","local":{}})", 0644).ok());
  ASSERT_TRUE(files.write("/state/demo/events.jsonl", machine_event, 0644).ok());
  ASSERT_TRUE(run({"timeline", "--dir", "/demo", "--state", "/state"}).ok());
  EXPECT_NE(printed.find("  0.90   0.70  m0 boots\n"), std::string::npos) << printed;
  printed.clear();
  ASSERT_TRUE(run({"timeline", "--dir", "/demo", "--state", "/state", "--output", "json"}).ok());
  const Result<Json> json = parse_json(printed, "timeline");
  ASSERT_TRUE(json.ok()) << printed;
  EXPECT_EQ(find_string(json.value(), {"cluster"}), "demo");
  printed.clear();
  ASSERT_TRUE(run({"timeline", "--dir", "/demo", "--state", "/state", "--output", "html"}).ok());
  EXPECT_TRUE(printed.starts_with("<!doctype html>")) << printed.substr(0, 80);
  EXPECT_NE(printed.find(emit_json(json.value(), JsonStyle::compact)), std::string::npos);
}

TEST_F(ClusterCommandsTest, FindTheMachinesWhereverTheyWereMade) {
  ASSERT_TRUE(files.write("/demo/.slipway/events.jsonl", events, 0644).ok());
  ASSERT_TRUE(files.write("/demo/.slipway/machines", "/state/demo\n", 0600).ok());
  ASSERT_TRUE(files.write("/demo/metadata.json", R"({"clusterName":"demo","local":{}})", 0644).ok());
  ASSERT_TRUE(files.write("/state/demo/events.jsonl", machine_event, 0644).ok());
  ASSERT_TRUE(run({"timeline", "--dir", "/demo"}).ok());
  EXPECT_NE(printed.find("m0 boots"), std::string::npos) << printed;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"timeline"}, {"destroy", "cluster"}, {"destroy", "bootstrap"}}) {
    std::vector<std::string> argv = words;
    argv.insert(argv.end(), {"--dir", "/demo", "--state", "/elsewhere"});
    const Result<> ran = run(argv);
    ASSERT_FALSE(ran.ok()) << words[0];
    EXPECT_EQ(ran.error().message(), "--state /elsewhere: the machines of /demo are in /state (omit --state)");
  }
  EXPECT_TRUE(files.read("/demo/metadata.json").ok());
  // Without events there is nothing to report.
  ASSERT_TRUE(files.remove("/state/demo/events.jsonl").ok());
  ASSERT_TRUE(files.remove("/state/demo").ok());
  EXPECT_TRUE(run({"timeline", "--dir", "/demo", "--state", "/elsewhere"}).ok());
}

// A cluster that does not belong to "demo" with infraID demo-aaaaa.
constexpr std::string_view others_cluster = R"({"name":"demo","id":"0123456789ab","network":"10.97.77.0/24","osRepo":"/os",
"domain":"demo.example.com","records":[],"hostAddress":"127.1.2.3","forwards":[],
"images":{"preload":"","registry":"","registryProgram":""}})";

TEST_F(ClusterCommandsTest, LeaveTheClusterOfAnotherDirectoryAlone) {
  // The lock of the directory is a file of this host.
  const sys::TempDir made = sys::TempDir::make("cli").value();
  const std::string& demo = made.path();
  std::filesystem::create_directory(demo + "/.slipway");
  ASSERT_TRUE(files.write(demo + "/metadata.json", R"({"clusterName":"demo","infraID":"demo-aaaaa","local":{}})", 0644).ok());
  ASSERT_TRUE(files.write(demo + "/auth/kubeconfig", "", 0600).ok());
  ASSERT_TRUE(files.write("/state/demo/cluster.json", others_cluster, 0600).ok());
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"destroy", "bootstrap"}, {"create", "worker"}, {"destroy", "worker", "worker-0"}}) {
    std::vector<std::string> argv = words;
    argv.insert(argv.end(), {"--dir", demo, "--state", "/state"});
    const Result<> ran = run(argv);
    ASSERT_FALSE(ran.ok()) << words[0];
    EXPECT_EQ(ran.error().message(),
              fmt::format("cluster demo in /state: created from another asset directory than {} (name that directory with --dir)",
                          demo));
  }
  const Result<> destroyed = run({"destroy", "cluster", "--dir", demo, "--state", "/state"});
  ASSERT_TRUE(destroyed.ok()) << destroyed.error().message();
  EXPECT_TRUE(files.read("/state/demo/cluster.json").ok());
  EXPECT_FALSE(files.read(demo + "/metadata.json").ok());
}

TEST_F(ClusterCommandsTest, SayWhatADirectoryLacks) {
  ASSERT_TRUE(files
                  .write("/made/install-config.yaml",
                         "apiVersion: v1\nmetadata: {name: made}\nbaseDomain: example.com\nplatform: {local: {}}\n", 0644)
                  .ok());
  struct Case {
    std::vector<std::string> argv;
    std::string words;
  };
  const Case cases[] = {
      {{"timeline", "--dir", "/empty"}, "/empty/.slipway/events.jsonl: not found"},
      {{"wait-for", "bootstrap-complete", "--dir", "/empty"}, "install-config.yaml: not found in this directory"},
      {{"wait-for", "bootstrap-complete", "--dir", "/made"}, "no cluster was created from this directory yet"},
      {{"wait-for", "install-complete", "--dir", "/made"}, "no cluster was created from this directory yet"},
      {{"destroy", "bootstrap", "--dir", "/made"}, "/made/metadata.json: not found"},
      {{"destroy", "cluster", "--dir", "/made"}, "/made/metadata.json: not found"},
      {{"create", "worker", "--dir", "/made"}, "/made/metadata.json: not found"},
      {{"destroy", "worker", "worker-0", "--dir", "/made"}, "/made/metadata.json: not found"},
      {{"gather", "bootstrap", "--dir", "/made"}, "/made/metadata.json: not found"},
  };
  for (const Case& c : cases) {
    const Result<> ran = run(c.argv);
    ASSERT_FALSE(ran.ok()) << c.argv[0];
    EXPECT_NE(ran.error().message().find(c.words), std::string::npos) << ran.error().message();
  }
  EXPECT_EQ(printed, "");
}

// No server listens at this address, and the test clock does not sleep.
constexpr std::string_view kubeconfig = R"(apiVersion: v1
clusters: [{name: made, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: admin, user: {token: secret}}]
contexts: [{name: admin, context: {cluster: made, user: admin}}]
current-context: admin
)";

TEST_F(ClusterCommandsTest, EndWithTheStatusOfWhatWasWaitedForInVain) {
  ASSERT_TRUE(files
                  .write("/made/install-config.yaml",
                         "apiVersion: v1\nmetadata: {name: made}\nbaseDomain: example.com\nplatform: {local: {}}\n", 0644)
                  .ok());
  ASSERT_TRUE(files.write("/made/auth/kubeconfig", kubeconfig, 0600).ok());
  struct Case {
    std::string command;
    ExitStatus status;
    std::string hint;
  };
  const Case cases[] = {
      {"bootstrap-complete", ExitStatus::bootstrap, "slipway gather bootstrap --dir /made"},
      {"install-complete", ExitStatus::initialisation, "slipway wait-for install-complete --dir /made"},
  };
  for (const Case& c : cases) {
    const Result<> waited = run({"wait-for", c.command, "--dir", "/made", "--state", "/state"});
    ASSERT_FALSE(waited.ok()) << c.command;
    EXPECT_EQ(status, static_cast<int>(c.status)) << waited.error().message();
    const auto logged = test.logged();
    EXPECT_TRUE(std::ranges::any_of(logged, [&](const std::string& line) { return line.find(c.hint) != std::string::npos; }))
        << c.hint;
  }
}

}  // namespace
}  // namespace slipway::cli
