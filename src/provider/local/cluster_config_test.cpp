#include "provider/local/cluster_config.h"

#include <gtest/gtest.h>

namespace slipway::provider::local {
namespace {

TEST(ClusterConfig, TextReadsBack) {
  const ClusterConfig config{"demo",
                             "0123456789ab",
                             parse_network("10.97.77.0/24").value(),
                             "/srv/repo",
                             {{8443, "master-0", 6443}},
                             {"/srv/containerd", "/srv/registry", "/srv/bin/registry"},
                             "demo.example.com",
                             {{"api.demo.example.com", "10.97.77.5"}, {"*.apps.demo.example.com", "10.97.77.7"}},
                             "127.7.7.7",
                             std::string(64, 'c'),
                             "registry.slipway.invalid/slipway/release@sha256:1234",
                             "0.1.0",
                             "",
                             5050,
                             "registry.demo.example.com:5443"};
  const Result<ClusterConfig> read = parse_cluster_config(to_text(config), "cluster.json");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read.value(), config);
}

TEST(ClusterConfig, ClustersOfBeforeHaveNoRecord) {
  const Result<ClusterConfig> read = parse_cluster_config(
      R"({"name": "demo", "id": "0123456789ab", "network": "10.97.77.0/24", "osRepo": "/srv/repo", "domain": "demo.internal",
          "hostAddress": "127.0.0.1", "images": {"preload": "", "registry": "", "registryProgram": ""}})",
      "cluster.json");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->os_commit + read->release + read->release_version + read->os_registry, "");
}

TEST(ClusterConfig, CommitIsNoPath) {
  ClusterConfig config{"demo", "0123456789ab", parse_network("10.97.77.0/24").value(), "/srv/repo", {}, {}, "demo.internal"};
  config.os_commit = "../" + std::string(61, 'a');
  EXPECT_EQ(parse_cluster_config(to_text(config), "cluster.json").error().message(),
            "cluster.json: osCommit must be 64 hexadecimal digits");
}

TEST(ClusterConfig, IdIsNoPath) {
  ClusterConfig config{"demo", "../../etc", parse_network("10.97.77.0/24").value(), "/srv/repo", {}, {}, "demo.internal"};
  EXPECT_EQ(parse_cluster_config(to_text(config), "cluster.json").error().message(),
            "cluster.json: id must be 12 hexadecimal digits");
}

TEST(MachineRecord, TextReadsBack) {
  const MachineRecord record{"master-0", 3, std::string(32, 'a')};
  EXPECT_EQ(parse_machine_record(to_text(record), "machine.json").value(), record);
  MachineRecord later = record;
  later.after = "bootstrap";
  EXPECT_EQ(parse_machine_record(to_text(later), "machine.json").value(), later);
  later.after = "../x";
  EXPECT_EQ(parse_machine_record(to_text(later), "machine.json").error().code(), Code::invalid);
  EXPECT_EQ(parse_machine_record("{\"name\":\"a\",\"uuid\":\"b\",\"number\":1}", "machine.json").error().message(),
            "machine.json: must have a uuid of 32 hexadecimal digits and a number");
}

TEST(Forward, ReadsAndRefuses) {
  EXPECT_EQ(parse_forward("8443:m0:6443").value(), (Forward{8443, "m0", 6443}));
  EXPECT_EQ(to_string(Forward{8443, "m0", 6443}), "8443:m0:6443");
  EXPECT_TRUE(parse_forward("6443:10.97.77.5:6443")->is_address());
  for (const std::string& text : {std::string(), std::string("80"), std::string("0:m0:1"), std::string("1:m0:65536"),
                                  std::string("1:M:2"), std::string("1:m0:2:3"), std::string("x:m0:2")}) {
    EXPECT_EQ(parse_forward(text).error().code(), Code::invalid) << text;
  }
}

TEST(HostPorts, ReadsAndRefuses) {
  EXPECT_EQ(parse_host_ports({"8090", "80"}).value(), (std::vector<int>{8090, 80}));
  using Texts = std::vector<std::string>;
  for (const Texts& texts :
       {Texts{"x"}, Texts{"0"}, Texts{"65536"}, Texts{"80", "80"}, Texts{"53"}, Texts{"5000"}, Texts{"5443"}})
    EXPECT_EQ(parse_host_ports(texts).error().code(), Code::invalid) << texts[0];
}

TEST(NameRecord, ReadsAndRefuses) {
  EXPECT_EQ(parse_name_record("api.demo.example.com=10.97.77.5").value(), (NameRecord{"api.demo.example.com", "10.97.77.5"}));
  EXPECT_EQ(parse_name_record("*.apps.demo.example.com=10.97.77.6")->name, "*.apps.demo.example.com");
  for (const char* text : {"", "api", "api=", "=10.97.77.5", "api=x", "a/b=10.97.77.5", "a.*=10.97.77.5", "api=10.97.77.5\n"})
    EXPECT_EQ(parse_name_record(text).error().code(), Code::invalid) << text;
}

TEST(Names, AreDnsLabels) {
  for (const std::string& name : {std::string("a"), std::string("master-0"), std::string(40, 'a')})
    EXPECT_TRUE(check_name("machine", name).ok());
  for (const std::string& name : {std::string(), std::string("-a"), std::string("a-"), std::string("A"), std::string("a.b"),
                                  std::string(".."), std::string("a/b"), std::string(41, 'a')}) {
    EXPECT_FALSE(check_name("machine", name).ok()) << name;
  }
}

}  // namespace
}  // namespace slipway::provider::local
