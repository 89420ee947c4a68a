#include "cluster/gather.h"

#include "diagnosis/open.h"
#include "net/curl_http.h"
#include "provider/fake/fake_provider.h"
#include "support/fake_kube.h"
#include "support/seeded_random.h"
#include "support/test_context.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

#include <atomic>

namespace slipway::cluster {
namespace {

// A host without ssh.
class NoSsh final : public sys::Runner {
 public:
  Result<sys::Output> run(const sys::Context& context, const sys::Command& command) override {
    if (command.argv[0].starts_with("ssh")) return error(Code::not_found, "cannot start {}", command.argv[0]);
    return real_.run(context, command);
  }

 private:
  sys::RealRunner real_;
};

// Machines that no provider created.
class GatherElsewhereTest : public testing::Test {
 protected:
  Result<std::string> gather_it(const Subject& subject) {
    const sys::Context context = test.context();
    return gather({context, files, runner, random, http}, subject, folder.path());
  }
  diagnosis::Bundle bundle(const std::string& path) { return diagnosis::unpack(files.read(path).value()).value(); }

  const sys::TempDir folder = sys::TempDir::make("gather-test").value();
  testing_support::RealTimeContext test;
  testing_support::FakeKube kube;
  testing_support::SeededRandom random{1};
  sys::RealFiles files;
  NoSsh runner;
  net::CurlHttp http;
};

TEST_F(GatherElsewhereTest, TheApiTellsWhereNoMachineIsNamed) {
  kube.serve_openshift();
  const Result<std::string> archive = gather_it({.api = &kube});
  ASSERT_TRUE(archive.ok()) << archive.error().message();
  EXPECT_NE(bundle(archive.value()).find("resources/pods.json"), nullptr);
  EXPECT_EQ(bundle(archive.value()).find("gather-errors.txt"), nullptr);
}

TEST_F(GatherElsewhereTest, TheApiTellsWhereMachinesCannotBeEnteredAndTheArchiveSaysWhy) {
  kube.serve_openshift();
  const RemoteMachines machines{"b", {}, {}};
  const Result<std::string> archive = gather_it({.api = &kube, .remote = &machines});
  ASSERT_TRUE(archive.ok()) << archive.error().message();
  EXPECT_NE(bundle(archive.value()).find("resources/pods.json"), nullptr);
  const diagnosis::Bundle packed = bundle(archive.value());
  ASSERT_NE(packed.find("gather-errors.txt"), nullptr);
  EXPECT_NE(packed.find("gather-errors.txt")->find("bootstrap: cannot start ssh-agent"), std::string::npos);
}

TEST_F(GatherElsewhereTest, WithoutAnyAnswerThereIsNoArchive) {
  const RemoteMachines machines{"b", {}, {}};
  const Result<std::string> by_ssh = gather_it({.remote = &machines});
  ASSERT_FALSE(by_ssh.ok());
  EXPECT_NE(by_ssh.error().message().find("apt-get install openssh-client"), std::string::npos);
  const Result<std::string> by_nobody = gather_it({});
  ASSERT_FALSE(by_nobody.ok());
  EXPECT_NE(by_nobody.error().message().find("--bootstrap HOST"), std::string::npos);
  EXPECT_TRUE(files.list(folder.path())->empty());
}

// Machines of a provider.
class GatherMachinesTest : public GatherElsewhereTest {
 protected:
  void SetUp() override {
    for (const char* name : {"bootstrap", "master-0"})
      provider.machines[name].status = {.name = name, .state = "running", .is_on = true};
    provider.existing.of = provider::ExistingCluster::Of::this_cluster;
    provider.answer = [this](const std::string& machine, const sys::Command&) -> Result<sys::Output> {
      ++commands;
      if (machine == silent) return error(Code::unavailable, "machine {} does not answer", machine);
      return sys::Output{.status = machine == broken ? 1 : 0, .out = archive_of(machine), .err = "disk is full"};
    };
  }

  // What the script of a machine writes: an archive with one file.
  std::string archive_of(const std::string& machine) {
    const sys::TempDir work = sys::TempDir::make("gather-test").value();
    EXPECT_TRUE(files.write(work.path() + "/journal.log", "of " + machine + "\n", 0600).ok());
    const sys::Context context = test.context();
    return sys::run_checked(runner, context, {.argv = {"tar", "--create", "--directory", work.path(), "journal.log"}}).value();
  }

  provider::fake::FakeProvider provider;
  std::string silent, broken;
  std::atomic<int> commands = 0;
};

TEST_F(GatherMachinesTest, TheArchiveHasTheFilesOfEachMachineAndOfTheProvider) {
  const Result<std::string> archive = gather_it({.machines = &provider});
  ASSERT_TRUE(archive.ok()) << archive.error().message();
  const diagnosis::Bundle packed = bundle(archive.value());
  ASSERT_NE(packed.find("journal.log"), nullptr);
  EXPECT_EQ(*packed.find("journal.log"), "of bootstrap\n");
  ASSERT_NE(packed.find("control-plane/master-0/journal.log"), nullptr);
  EXPECT_NE(packed.find("host/machines.jsonl"), nullptr);
  EXPECT_NE(packed.find("host/master-0.probe.txt"), nullptr);
  EXPECT_EQ(packed.find("gather-errors.txt"), nullptr);
}

TEST_F(GatherMachinesTest, AMachineThatFailsIsNamedAndTheOthersAreKept) {
  for (const bool answers : {false, true}) {
    silent = answers ? "" : "master-0";
    broken = answers ? "master-0" : "";
    const Result<std::string> archive = gather_it({.machines = &provider});
    ASSERT_TRUE(archive.ok()) << archive.error().message();
    const diagnosis::Bundle packed = bundle(archive.value());
    EXPECT_NE(packed.find("journal.log"), nullptr);
    EXPECT_EQ(packed.find("control-plane/master-0/journal.log"), nullptr);
    ASSERT_NE(packed.find("gather-errors.txt"), nullptr);
    EXPECT_NE(packed.find("gather-errors.txt")->find(answers ? "disk is full" : "master-0 does not answer"), std::string::npos);
    ASSERT_TRUE(files.remove(archive.value()).ok());
  }
}

TEST_F(GatherMachinesTest, MachinesThatRunNoCommandsAreNotAsked) {
  provider.can.runs_commands = false;
  kube.serve_openshift();
  const Result<std::string> archive = gather_it({.machines = &provider, .api = &kube});
  ASSERT_TRUE(archive.ok()) << archive.error().message();
  EXPECT_EQ(commands, 0);
  EXPECT_NE(bundle(archive.value()).find("resources/pods.json"), nullptr);
  EXPECT_NE(bundle(archive.value()).find("host/machines.jsonl"), nullptr);
}

TEST_F(GatherMachinesTest, AClusterThatDoesNotExistIsAnError) {
  provider.existing = {};
  provider.machines.clear();
  const Result<std::string> archive = gather_it({.machines = &provider});
  ASSERT_FALSE(archive.ok());
  EXPECT_EQ(archive.error().code(), Code::not_found);
}

}  // namespace
}  // namespace slipway::cluster
