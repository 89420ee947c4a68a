#include "cluster/gather.h"

#include "diagnosis/open.h"
#include "net/curl_http.h"
#include "support/fake_kube.h"
#include "support/seeded_random.h"
#include "support/test_context.h"
#include "sys/temp_dir.h"

#include <gtest/gtest.h>

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

  const sys::TempDir folder = sys::TempDir::make("slipway-gather-test").value();
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

}  // namespace
}  // namespace slipway::cluster
