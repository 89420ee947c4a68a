#include "agent/node_config.h"

#include "base/json.h"
#include "ignition/validate.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::agent {
namespace {

constexpr std::string_view node = R"({"ignition": {"version": "3.1.0", "config": {"merge": [{"source": "data:,master"}]}},
    "storage": {"files": [{"path": "/var/lib/etcd/member/snap/db", "contents": {"source": "data:,state"}},
                          {"path": "/etc/motd", "contents": {"source": "data:,node"}}]},
    "systemd": {"units": [{"name": "bootkube.service", "enabled": true, "contents": "[Service]\n"}]}})";
constexpr std::string_view host = R"({"ignition": {"version": "3.2.0", "config": {"merge": [
        {"source": "https://api-int.demo.example.com:22623/config/master"}, {"source": "https://example.com/more.ign"}]}},
    "storage": {"files": [{"path": "/etc/hostname", "mode": 420, "contents": {"source": "data:,h0%0A"}},
                          {"path": "/etc/motd", "overwrite": true, "contents": {"source": "data:,of%20the%20user"}}]}})";

TEST(NodeConfig, IsTheNodeWithTheHostOnTop) {
  const Result<std::string> made = node_config(node, host);
  ASSERT_TRUE(made.ok()) << made.error().message();
  const ignition::Config config = ignition::read_config(made.value(), "made").value().config;
  std::vector<std::string> references, files;
  for (const ignition::Resource& each : config.ignition.config.merge) references.push_back(each.source.value_or(""));
  EXPECT_EQ(references, (std::vector<std::string>{"data:,master", "https://example.com/more.ign"}))
      << "no other machine serves the config of a master";
  for (const ignition::File& file : config.storage.files) files.push_back(file.path + "=" + file.contents.source.value_or(""));
  EXPECT_EQ(files, (std::vector<std::string>{"/var/lib/etcd/member/snap/db=data:,state", "/etc/motd=data:,of%20the%20user",
                                             "/etc/hostname=data:,h0%0A"}));
  EXPECT_EQ(config.systemd.units.size(), 1u);
}

TEST(NodeConfig, SaysWhichOneIsWrong) {
  EXPECT_NE(node_config("{", host).error().message().find("the config of the node"), std::string::npos);
  EXPECT_NE(node_config(node, "{}").error().message().find("the config of this host"), std::string::npos);
}

}  // namespace
}  // namespace slipway::agent
