#include "bootstrap/in_place.h"

#include "base/text.h"
#include "support/memory_files.h"
#include "support/test_context.h"

#include <gtest/gtest.h>

namespace slipway::bootstrap {
namespace {

using testing_support::MemoryFiles;
using testing_support::TestContext;

const std::string pod = "/etc/kubernetes/manifests/etcd-member-pod.yaml";
const std::string data = "/var/lib/etcd/member/snap/db";

// Grants the lock after the given number of refusals.
class LockedFile final : public sys::Runner {
 public:
  explicit LockedFile(int refusals) : refusals_(refusals) {}

  Result<sys::Output> run(const sys::Context&, const sys::Command& command) override {
    commands.push_back(join(command.argv, " "));
    return sys::Output{.status = refusals_-- > 0 ? 1 : 0, .out = "", .err = ""};
  }

  std::vector<std::string> commands;

 private:
  int refusals_;
};

TEST(StopEtcd, WaitsUntilNobodyHasItsDataOpen) {
  TestContext test;
  MemoryFiles files;
  ASSERT_TRUE(files.write(pod, "pod", 0600).ok());
  ASSERT_TRUE(files.write(data, "data", 0600).ok());
  LockedFile locked(3);
  ASSERT_TRUE(stop_etcd(test.context(), files, locked).ok());
  EXPECT_EQ(locked.commands, std::vector<std::string>(4, "flock --exclusive --timeout=5 /var/lib/etcd/member/snap/db true"));
  EXPECT_FALSE(files.info(pod).value());
  EXPECT_EQ(files.read(stopped_etcd_pod).value(), "pod");
  ASSERT_TRUE(stop_etcd(test.context(), files, locked).ok()) << "again";
}

TEST(StopEtcd, SaysWhatKeepsIt) {
  TestContext test;
  MemoryFiles files;
  LockedFile locked(1'000'000);
  EXPECT_EQ(stop_etcd(test.context(), files, locked).error().code(), Code::not_found);
  ASSERT_TRUE(files.write(data, "data", 0600).ok());
  const Result<> stopped = stop_etcd(test.context(), files, locked);
  EXPECT_EQ(stopped.error().code(), Code::timeout);
  EXPECT_NE(stopped.error().message().find("/var/lib/etcd/member/snap/db is in use"), std::string::npos);
}

class Server final : public net::Http {
 public:
  explicit Server(std::vector<int> statuses) : statuses_(std::move(statuses)) {}

  Result<net::Answer> send(const net::Request& request, std::stop_token, const net::Sink&) override {
    last_request = request;
    const int status = statuses_.front();
    if (statuses_.size() > 1) statuses_.erase(statuses_.begin());
    return net::Answer{.status = status, .headers = {}, .body = status == 200 ? "config" : "no"};
  }

  net::Request last_request;

 private:
  std::vector<int> statuses_;
};

TEST(FetchMasterConfig, AsksUntilItIsThere) {
  TestContext test;
  MemoryFiles files;
  ASSERT_TRUE(files.write("/assets/tls/machine-config-server-token", "TOKEN", 0600).ok());
  Server server({503, 500, 200});
  ASSERT_TRUE(fetch_master_config(test.context(), files, server, "/assets").ok());
  EXPECT_EQ(files.read("/assets/original-master.ign").value(), "config");
  EXPECT_EQ(files.info("/assets/original-master.ign").value()->mode, 0600u);
  EXPECT_EQ(net::to_string(server.last_request.url), "http://localhost:22624/config/master");
  EXPECT_EQ(net::find_header(server.last_request.headers, "accept"), "application/vnd.coreos.ignition+json;version=3.2.0");
  EXPECT_EQ(server.last_request.authorization->reveal(), "Bearer TOKEN");
}

TEST(FetchMasterConfig, GivesUpWhereItIsRefused) {
  TestContext test;
  MemoryFiles files;
  Server server({403});
  const Result<> fetched = fetch_master_config(test.context(), files, server, "/assets");
  EXPECT_EQ(fetched.error().code(), Code::denied);
  EXPECT_FALSE(files.info("/assets/original-master.ign").value());
}

}  // namespace
}  // namespace slipway::bootstrap
