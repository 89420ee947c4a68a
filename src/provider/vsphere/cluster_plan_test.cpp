#include "provider/vsphere/cluster_plan.h"

#include "provider/planned_machines.h"
#include "provider/vsphere/preflight.h"
#include "provider/vsphere/vsphere_provider.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>

namespace slipway::provider::vsphere {
namespace {

constexpr std::string_view vcenters = "vcenters: [{server: vc.example.com, user: u, password: p, datacenters: [dc]}]";

std::string domain(std::string_view name, std::string_view more = "") {
  return fmt::format(
      "{{name: {0}, region: r, zone: {0}, server: vc.example.com, topology: {{datacenter: dc, computeCluster: /dc/host/{0}, "
      "datastore: /dc/datastore/fast, networks: [VM Network]{1}}}}}",
      name, more);
}

// settings: further members of platform.vsphere; more: further members of the config
config::InstallConfig config_with(const std::string& domains, std::string_view settings = "", std::string_view more = "") {
  const std::string text = fmt::format(
      "apiVersion: v1\nbaseDomain: example.com\nmetadata: {{name: demo}}\npullSecret: "
      "'{{\"auths\":{{\"r.example.com\":{{\"auth\":\"YTpi\"}}}}}}'\nnetworking: {{machineNetwork: [{{cidr: 192.0.2.0/24}}]}}\n"
      "platform: {{vsphere: {{apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.6], {}, failureDomains: [{}]{}}}}}\n{}",
      vcenters, domains, settings, more);
  const auto loaded = config::load_install_config(text, "install-config.yaml");
  EXPECT_TRUE(loaded.ok()) << loaded.error().message();
  return loaded.value().config;
}

plan::Plan plan_of(const config::InstallConfig& config) {
  std::vector<PlannedMachine> machines;
  for (const Machine& machine : planned_machines(config))
    machines.push_back({machine, machine.role == "worker" ? "bootstrap" : ""});
  Result<plan::Plan> made = cluster_plan({.config = config, .infra_id = "demo-x7k2p", .os_image = "3f2a9c01d4e5"}, machines);
  EXPECT_TRUE(made.ok()) << made.error().message();
  return std::move(made).value();
}

std::vector<std::string> keys_of(const plan::Plan& plan, std::string_view kind) {
  std::vector<std::string> keys;
  for (const plan::Resource& resource : plan) {
    if (resource.kind == kind) keys.push_back(resource.name);
  }
  return keys;
}

const plan::Resource& machine_in(const plan::Plan& plan, std::string_view machine) {
  const auto found = std::ranges::find(plan, machine, &plan::Resource::machine);
  EXPECT_NE(found, plan.end()) << machine;
  return *found;
}

TEST(VspherePlan, HasATagAFolderATemplateMachinesAndARule) {
  const plan::Plan plan = plan_of(config_with(domain("one")));
  ASSERT_TRUE(plan::in_order(plan).ok()) << plan::in_order(plan).error().message();
  EXPECT_EQ(keys_of(plan, tag_kind), (std::vector<std::string>{"demo-x7k2p"}));
  EXPECT_EQ(keys_of(plan, folder_kind), (std::vector<std::string>{"/dc/vm/demo-x7k2p"}));
  ASSERT_EQ(keys_of(plan, template_kind).size(), 1u);
  const std::string made = keys_of(plan, template_kind)[0];
  EXPECT_TRUE(made.starts_with("/dc/vm/slipway-os-3f2a9c01d4e5-")) << made;
  EXPECT_EQ(image_of_template(made), "3f2a9c01d4e5");
  EXPECT_EQ(image_of_template("/dc/vm/templates/rhcos"), "");
  EXPECT_EQ(keys_of(plan, machine_kind).size(), 1u + 3 + 3);
  EXPECT_EQ(keys_of(plan, rule_kind), (std::vector<std::string>{"/dc/host/one/demo-x7k2p-masters"}));
  const plan::Resource& master = machine_in(plan, "master-1");
  EXPECT_EQ(text_of(master.spec, {"folder"}), "/dc/vm/demo-x7k2p");
  EXPECT_EQ(text_of(master.spec, {"resourcePool"}), "/dc/host/one/Resources");
  EXPECT_EQ(integer_of(master.spec, {"diskGiB"}), 120);
  EXPECT_EQ(text_of(machine_in(plan, "worker-0").spec, {"after"}), "bootstrap");
}

TEST(VspherePlan, SpreadsMachinesOverFailureDomains) {
  const config::InstallConfig config = config_with(
      domain("one") + ", " + domain("two", ", folder: /dc/vm/mine") + ", " + domain("three", ", template: /dc/vm/mine/os"), "",
      "compute: [{name: worker, replicas: 2, platform: {vsphere: {zones: [three, one]}}}]");
  const plan::Plan plan = plan_of(config);
  const auto cluster = [&](std::string_view machine) { return text_of(machine_in(plan, machine).spec, {"computeCluster"}); };
  EXPECT_EQ(cluster("bootstrap"), "/dc/host/one");
  EXPECT_EQ(cluster("master-0"), "/dc/host/one");
  EXPECT_EQ(cluster("master-1"), "/dc/host/two");
  EXPECT_EQ(cluster("master-2"), "/dc/host/three");
  EXPECT_EQ(cluster("worker-0"), "/dc/host/three");
  EXPECT_EQ(cluster("worker-1"), "/dc/host/one");
  EXPECT_EQ(text_of(machine_in(plan, "master-1").spec, {"folder"}), "/dc/vm/mine");
  EXPECT_EQ(text_of(machine_in(plan, "master-2").spec, {"template"}), "/dc/vm/mine/os");
  EXPECT_TRUE(keys_of(plan, rule_kind).empty()) << "each master is in a cluster of its own";
  EXPECT_EQ(keys_of(plan, template_kind).size(), 2u);
  EXPECT_EQ(keys_of(plan, folder_kind).size(), 1u) << "two failure domains share the folder of the cluster";
}

TEST(VspherePlan, SharesTemplatesOfTheSameImageAndPlace) {
  const auto name = [](const config::InstallConfig& config) { return keys_of(plan_of(config), template_kind).at(0); };
  const std::string usual = name(config_with(domain("one")));
  EXPECT_EQ(name(config_with(domain("one"))), usual);
  EXPECT_NE(name(config_with(domain("one"), ", diskType: thin")), usual);
  EXPECT_NE(name(config_with(domain("two"))), usual);
}

TEST(VspherePlan, OneOfManyMachinesNeedsTheSameResources) {
  const plan::Plan plan = plan_of(config_with(domain("one"), "", "compute: [{name: worker, replicas: 500}]"));
  const plan::Plan one = plan::of_machines(plan, {"worker-7"});
  EXPECT_EQ(one.size(), 5u) << "the machine, its template, folder and tag, and the bootstrap machine before it";
}

TEST(VspherePlan, FiveHundredMachinesArePlannedAtOnce) {
  const config::InstallConfig config = config_with(domain("one"), "", "compute: [{name: worker, replicas: 500}]");
  const auto begin = std::chrono::steady_clock::now();
  const plan::Plan plan = plan_of(config);
  const Result<std::vector<plan::Plan>> groups = plan::in_order(plan);
  EXPECT_EQ(keys_of(plan, machine_kind).size(), 504u);
  ASSERT_TRUE(groups.ok());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, Seconds(2));
}

TEST(VspherePlan, RefusesWhatSlipwayDoesNotDo) {
  const auto problem = [](const config::InstallConfig& config) {
    const Result<> checked = check_config(config);
    return checked.ok() ? std::string("none") : checked.error().message();
  };
  EXPECT_EQ(problem(config_with(domain("one"))), "none");
  EXPECT_EQ(problem(config_with(domain("one"), ", clusterOSImage: \"https://r/os.ova\", diskType: thin")), "none");
  config::InstallConfig without = config_with(domain("one"));
  without.platform.section.get_object().erase("apiVIPs");
  EXPECT_NE(problem(without).find("platform.vsphere: has no virtual addresses"), std::string::npos);
  EXPECT_NE(problem(config_with(domain("one"), ", clusterOSImage: \"http://r/os.ova\"")).find("needs a checksum"),
            std::string::npos);
  const std::string with_template = domain("one", ", template: /dc/vm/os");
  EXPECT_EQ(problem(config_with(with_template)), "none");
  EXPECT_NE(problem(config_with(with_template, ", clusterOSImage: \"https://r/os.ova\"")).find("clusterOSImage: has no effect"),
            std::string::npos);
  EXPECT_NE(problem(config_with(with_template, ", diskType: thin")).find("diskType: has no effect"), std::string::npos);
  const std::string_view device = "networkDevice: {ipAddrs: [192.0.2.20/24]}";
  EXPECT_NE(
      problem(config_with(domain("one"), fmt::format(", hosts: [{{role: bootstrap, {0}}}, {{role: control-plane, {0}}}]", device),
                          "controlPlane: {name: master, replicas: 1}\ncompute: [{name: worker, replicas: 0}]"))
          .find("platform.vsphere.hosts: the machine OS gets its addresses by DHCP only"),
      std::string::npos);
}

TEST(VsphereLogin, ComesFromTheConfigTheMetadataOrTheEnvironment) {
  const auto none = [](const std::string&) { return std::string(); };
  const Json config = parse_json(R"({"vcenters": [{"server": "a", "port": 8443, "user": "u", "password": "p"}]})", "t").value();
  EXPECT_EQ(read_login(config, none)->server, "a");
  EXPECT_EQ(read_login(config, none)->port, 8443);
  const Json metadata = parse_json(R"({"VCenters": [{"vCenter": "b", "username": "u", "password": "p"}]})", "t").value();
  EXPECT_EQ(read_login(metadata, none)->server, "b");
  EXPECT_EQ(read_login(metadata, none)->port, 443);
  const Json bare = parse_json(R"({"VCenters": [{"vCenter": "b"}]})", "t").value();
  const auto missing = read_login(bare, none);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), Code::denied);
  EXPECT_NE(missing.error().message().find("GOVC_USERNAME"), std::string::npos);
  const auto given = read_login(bare, [](const std::string& name) { return "of " + name; });
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given->user, "of GOVC_USERNAME");
  EXPECT_EQ(given->password.reveal(), "of GOVC_PASSWORD");
  EXPECT_FALSE(read_login(JsonObject(), none).ok());
}

TEST(OsImage, TheDigestIsInTheUrl) {
  const std::string digest(64, 'A');
  EXPECT_EQ(digest_of_url("http://r/os.ova?sha256=" + digest), std::string(64, 'a'));
  EXPECT_EQ(digest_of_url("http://r/os.ova?x=1&sha256=" + digest), std::string(64, 'a'));
  EXPECT_EQ(digest_of_url("http://r/os.ova?sha256=12"), "");
  EXPECT_EQ(digest_of_url("http://r/os.ova"), "");
}

TEST(Privileges, AreListedOnce) {
  std::set<std::string> seen;
  for (const Privilege& each : privileges())
    EXPECT_TRUE(seen.insert(fmt::format("{} {}", each.where, each.name)).second) << each.name;
}

}  // namespace
}  // namespace slipway::provider::vsphere
