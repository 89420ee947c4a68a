#include "config/agent_config.h"

#include "base/text.h"

#include <gtest/gtest.h>

namespace slipway::config {
namespace {

constexpr std::string_view head = R"(apiVersion: v1beta1
kind: AgentConfig
metadata: {name: demo}
)";

constexpr std::string_view install_text = R"(apiVersion: v1
metadata: {name: demo}
baseDomain: example.com
controlPlane: {name: master, replicas: 3}
compute: [{name: worker, replicas: 1}]
networking: {machineNetwork: [{cidr: 192.168.126.0/24}]}
platform: {baremetal: {apiVIPs: [192.168.126.100], ingressVIPs: [192.168.126.101]}}
pullSecret: '{"auths":{"quay.io":{"auth":"c2VjcmV0"}}}'
)";

constexpr std::string_view four_hosts = R"(rendezvousIP: 192.168.126.10
hosts:
- {hostname: m0, interfaces: [{name: eth0, macAddress: "52:54:00:00:00:0A"}]}
- {hostname: m1, role: master, interfaces: [{macAddress: "52-54-00-00-00-0b"}]}
- {interfaces: [{macAddress: "52:54:00:00:00:0c"}]}
- {hostname: w0, role: worker, interfaces: [{macAddress: "52:54:00:00:00:0d"}]}
)";

std::string in_full(std::string_view added) { return fmt::format("{}{}", head, added); }

InstallConfig install_config(std::string_view text, const JsonArray& hosts) {
  const Result<LoadedConfig> loaded = load_install_config(text, "install-config.yaml", {.baremetal_hosts = hosts});
  EXPECT_TRUE(loaded.ok()) << loaded.error().message();
  return loaded.ok() ? loaded->config : InstallConfig();
}

std::string replaced(std::string_view text, std::string_view piece, std::string_view by) {
  std::string changed(text);
  const std::size_t at = changed.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return at == std::string::npos ? changed : changed.replace(at, piece.size(), by);
}

TEST(AgentConfig, IsRead) {
  const auto [config, findings] = check_agent_config(
      in_full(R"(rendezvousIP: 192.168.126.10
additionalNTPSources: [time.example.com, 192.168.126.1]
minimalISO: false
hosts:
- hostname: m0
  role: master
  interfaces:
  - {name: eth0, macAddress: "52:54:00:00:00:0A"}
  rootDeviceHints: {deviceName: /dev/sda, rotational: false}
  networkConfig: {interfaces: []}
)"),
      "a", nullptr);
  EXPECT_EQ(findings.to_text(), "");
  const AgentConfig expected{.rendezvous_ip = "192.168.126.10",
                             .hosts = {{.hostname = "m0",
                                        .role = "master",
                                        .interfaces = {{"eth0", "52:54:00:00:00:0a"}},
                                        .root_device_hints = {{"deviceName", "/dev/sda"}, {"rotational", false}},
                                        .network_config = {{"interfaces", JsonArray()}}}},
                             .time_servers = {"time.example.com", "192.168.126.1"}};
  EXPECT_EQ(config, expected);
}

TEST(AgentConfig, SaysWhatIsWrongAndWhere) {
  struct Case {
    std::string_view added, says;
  };
  // The first line that is added is line 4.
  const Case cases[] = {
      {"", "a:1:1: error: rendezvousIP: missing (the address of the master that runs the service of the installation)\n"},
      {"rendezvousIP: m0\n", "a:4:1: error: rendezvousIP: 'm0' is not an IP address\n"},
      {"rendezvousIP: 10.0.0.1\nminimalISO: true\n",
       "a:5:1: error: minimalISO: minimal images are not supported (remove the field: the image contains everything)\n"},
      {"rendezvousIP: 10.0.0.1\nbootArtifactsBaseURL: http://10.0.0.2\n",
       "a:5:1: warning: bootArtifactsBaseURL: no effect: files of a network boot are not made (boot the hosts from the image)\n"},
      {"rendezvousIP: 10.0.0.1\nbootArtifactsBaseURL: s3cret\n",
       "a:5:1: error: bootArtifactsBaseURL: is not an http or https URL\n"},
      {"rendezvousIP: 10.0.0.1\nadditionalNTPSources:\n- a_b\n",
       "a:6:3: error: additionalNTPSources[0]: 'a_b' is not a domain or IP address\n"},
      {"rendezvousIP: 10.0.0.1\nrendezvousIPs: 10.0.0.2\n",
       "a:5:1: error: rendezvousIPs: unknown field (did you mean 'rendezvousIP'?)\n"},
      {"rendezvousIP: 10.0.0.1\nhosts:\n- hostname: m0\n",
       "a:6:3: error: hosts[0].interfaces: missing (a host is recognized by the MAC addresses of its interfaces)\n"},
      {"rendezvousIP: 10.0.0.1\nhosts:\n- hostname: M_0\n  interfaces:\n  - macAddress: '01:00:00:00:00:01'\n",
       "a:6:3: error: hosts[0].hostname: 'M_0' is not a DNS name (lower-case letters, digits, dashes and dots)\n"
       "a:8:5: error: hosts[0].interfaces[0].macAddress: '01:00:00:00:00:01' is not a unicast MAC address (for example "
       "52:54:00:12:34:56)\n"},
      {"rendezvousIP: 10.0.0.1\nhosts:\n- hostname: localhost\n  interfaces:\n  - macAddress: '52:54:00:00:00:01'\n",
       "a:6:3: error: hosts[0].hostname: 'localhost' is not the name of a host\n"},
      {"rendezvousIP: 10.0.0.1\nhosts:\n- role: king\n  interfaces:\n  - macAddress: '52:54:00:00:00:01'\n",
       "a:6:3: error: hosts[0].role: must be master or worker, got 'king'\n"},
      {"rendezvousIP: 10.0.0.1\nhosts:\n- interfaces:\n  - macAddress: '52:54:00:00:00:01'\n"
       "- interfaces:\n  - macAddress: 52-54-00-00-00-01\n",
       "a:9:5: error: hosts[1].interfaces[0].macAddress: duplicate of hosts[0].interfaces[0].macAddress (must be unique)\n"},
      {"rendezvousIP: 10.0.0.1\nhosts:\n- interfaces:\n  - macAddress: '52:54:00:00:00:01'\n  rootDeviceHints:\n"
       "    wwnWithExtension: x\n",
       "a:9:5: error: hosts[0].rootDeviceHints.wwnWithExtension: is not supported (use wwn, serialNumber or deviceName)\n"},
      {"rendezvousIP: 10.0.0.1\nhosts:\n- interfaces:\n  - {name: eth0, macAddress: '52:54:00:00:00:01'}\n  networkConfig: []\n",
       "a:8:3: error: hosts[0].networkConfig: must be a mapping in nmstate format, got a list\n"},
      {"rendezvousIP: 10.0.0.1\nhosts:\n- role: worker\n  interfaces:\n  - {name: eth0, macAddress: '52:54:00:00:00:01'}\n"
       "  networkConfig: {interfaces: [{name: eth0, ipv4: {address: [{ip: 10.0.0.1, prefix-length: 24}]}}]}\n",
       "a:6:3: error: hosts[0].role: the host with the rendezvousIP 10.0.0.1 becomes a master (use master, or the address of "
       "another host)\n"},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(check_agent_config(in_full(each.added), "a", nullptr).findings.to_text(), each.says) << each.added;
  }
}

TEST(AgentConfig, HasAVersionAndAKind) {
  const std::string says = check_agent_config("apiVersion: v2\nrendezvousIP: 10.0.0.1\n", "a", nullptr).findings.to_text();
  EXPECT_NE(says.find("a:1:1: error: apiVersion: must be v1beta1 or v1alpha1, got 'v2'"), std::string::npos) << says;
  EXPECT_NE(says.find("kind: missing (use AgentConfig)"), std::string::npos) << says;
  EXPECT_NE(check_agent_config("a: [", "a", nullptr).findings.to_text().find("a:"), std::string::npos);
}

TEST(AgentConfig, TellsWhatTheCheckOfNetworksSays) {
  const NetworkCheck check = [](const AgentHost& host) {
    return std::vector<std::string>{fmt::format("'ovs-bridge' of {} is not supported", host.interfaces.at(0).name)};
  };
  const auto checked = check_agent_config(
      in_full("rendezvousIP: 10.0.0.1\nhosts:\n- interfaces:\n  - {name: eth0, macAddress: '52:54:00:00:00:01'}\n"
              "  networkConfig: {}\n"),
      "a", check);
  EXPECT_EQ(checked.findings.to_text(), "a:8:3: error: hosts[0].networkConfig: 'ovs-bridge' of eth0 is not supported\n");
}

TEST(AgentConfig, NamesTheHostsOfAnInstallConfigWithoutHosts) {
  const AgentConfig config = check_agent_config(in_full(four_hosts), "a", nullptr).config;
  const JsonArray hosts = baremetal_hosts(config);
  std::vector<std::string> lines;
  for (const Json& each : hosts)
    lines.push_back(text_of(each, {"name"}) + " " + text_of(each, {"role"}) + " " + text_of(each, {"bootMACAddress"}));
  EXPECT_EQ(lines, (std::vector<std::string>{"m0 master 52:54:00:00:00:0a", "m1 master 52:54:00:00:00:0b",
                                             "52-54-00-00-00-0c master 52:54:00:00:00:0c", "w0 worker 52:54:00:00:00:0d"}));
  const InstallConfig install = install_config(install_text, hosts);
  EXPECT_EQ(find_array(install.platform.section, {"hosts"}).size(), 4u);
  EXPECT_EQ(text_of(install.platform.section, {"provisioningNetwork"}), "Disabled");
  EXPECT_EQ(check_agent_config(in_full(four_hosts), "a", nullptr, &install).findings.to_text(), "");
}

TEST(AgentConfig, FitsTheInstallConfig) {
  const JsonArray hosts = baremetal_hosts(check_agent_config(in_full(four_hosts), "a", nullptr).config);
  const InstallConfig usual = install_config(install_text, hosts);
  const auto says = [](std::string_view agent, const InstallConfig& install) {
    return check_agent_config(in_full(agent), "a", nullptr, &install).findings.to_text();
  };
  EXPECT_EQ(says(replaced(four_hosts, "126.10", "126.100"), usual),
            "a:4:1: error: rendezvousIP: 192.168.126.100 is a virtual address of the cluster (use the address of a host)\n");
  EXPECT_EQ(says(replaced(four_hosts, "126.10", "127.10"), usual),
            "a:4:1: error: rendezvousIP: 192.168.127.10 is not in networking.machineNetwork of install-config.yaml: "
            "192.168.126.0/24\n");
  EXPECT_EQ(says(replaced(four_hosts, "role: master", "role: worker"), usual),
            "a:5:1: error: hosts: 2 have role worker, but compute[0].replicas of install-config.yaml is 1\n");
  const std::string without = replaced(install_text, "{baremetal: {apiVIPs: [192.168.126.100], ingressVIPs: [192.168.126.101]}}",
                                       "{none: {}}");
  EXPECT_EQ(says("rendezvousIP: 192.168.126.10\n", install_config(without, {})), "");
  EXPECT_EQ(says(four_hosts, install_config(replaced(without, "worker, replicas: 1", "worker, replicas: 0"), {})),
            "a:5:1: error: hosts: 1 have role worker, but compute[0].replicas of install-config.yaml is 0\n"
            "a:5:1: error: hosts: has 4, but install-config.yaml has 3 masters and 0 workers\n");
  const std::string five = replaced(without, "master, replicas: 3", "master, replicas: 5");
  EXPECT_EQ(says("rendezvousIP: 192.168.126.10\n", install_config(five, {})),
            "install-config.yaml: error: controlPlane.replicas: must be 1 or 3 for an agent-based installation, got 5\n");
}

constexpr std::string_view one_host = R"(rendezvousIP: 192.168.126.10
hosts:
- {hostname: m0, interfaces: [{macAddress: "52:54:00:00:00:0a"}], rootDeviceHints: {deviceName: /dev/sda}}
)";

std::string single_node() {
  const std::string one = replaced(install_text, "master, replicas: 3", "master, replicas: 1");
  const std::string none =
      replaced(one, "{baremetal: {apiVIPs: [192.168.126.100], ingressVIPs: [192.168.126.101]}}", "{none: {}}");
  return replaced(none, "worker, replicas: 1", "worker, replicas: 0");
}

TEST(AgentConfig, OfASingleNodeNamesItsDisk) {
  const AgentConfig agent = check_agent_config(in_full(one_host), "a", nullptr).config;
  EXPECT_EQ(in_place_disk(agent), "/dev/sda");
  EXPECT_EQ(in_place_disk(check_agent_config(in_full(four_hosts), "a", nullptr).config), "");
  const auto loaded = [](const std::string& text, const std::string& disk) {
    return load_install_config(text, "i", {.in_place_disk = disk}).value();
  };
  EXPECT_EQ(loaded(single_node(), "/dev/sda").config.bootstrap_in_place, "/dev/sda");
  EXPECT_EQ(text_of(loaded(single_node(), "/dev/sda").config.effective, {"bootstrapInPlace", "installationDisk"}), "/dev/sda");
  // The disk may be chosen on the host; the release still has to know that the node bootstraps in place.
  const LoadedConfig any_disk = loaded(single_node(), "");
  EXPECT_EQ(any_disk.config.bootstrap_in_place, "");
  EXPECT_NE(find(any_disk.config.effective, {"bootstrapInPlace"}), nullptr);
  EXPECT_EQ(any_disk.warnings.to_text(), "");
  EXPECT_EQ(loaded(single_node() + "bootstrapInPlace: {installationDisk: /dev/sdb}\n", "/dev/sda").config.bootstrap_in_place,
            "/dev/sdb");
  EXPECT_EQ(loaded(std::string(replaced(single_node(), "master, replicas: 1", "master, replicas: 3")), "/dev/sda")
                .config.bootstrap_in_place,
            std::nullopt);
}

TEST(AgentConfig, OfASingleNodeFitsTheInstallConfig) {
  const auto says = [](std::string_view agent, const std::string& install) {
    const LoadedConfig loaded = load_install_config(install, "i", {.in_place_disk = "/dev/sda"}).value();
    return check_agent_config(in_full(agent), "a", nullptr, &loaded.config).findings.to_text();
  };
  EXPECT_EQ(says(one_host, single_node()), "");
  EXPECT_EQ(says(one_host, replaced(single_node(), "worker, replicas: 0", "worker, replicas: 2")),
            "install-config.yaml: error: compute[0].replicas: must be 0 with one master, got 2 (workers can be added when the "
            "cluster is installed)\n");
  EXPECT_EQ(says(one_host, single_node() + "bootstrapInPlace: {installationDisk: /dev/sdb}\n"),
            "install-config.yaml: warning: bootstrapInPlace.installationDisk: no effect: agent-config.yaml chooses the disk (use "
            "hosts[0].rootDeviceHints.deviceName)\n");
  const std::string baremetal = replaced(replaced(install_text, "master, replicas: 3", "master, replicas: 1"),
                                         "worker, replicas: 1", "worker, replicas: 0");
  const AgentConfig agent = check_agent_config(in_full(one_host), "a", nullptr).config;
  const InstallConfig with_addresses = install_config(baremetal, baremetal_hosts(agent));
  EXPECT_EQ(check_agent_config(in_full(one_host), "a", nullptr, &with_addresses).findings.to_text(),
            "install-config.yaml: error: platform: must be none with one master: baremetal has virtual addresses, and the only "
            "node needs none (your DNS resolves the names of the API and of ingress to the address of the node)\n");
}

}  // namespace
}  // namespace slipway::config
