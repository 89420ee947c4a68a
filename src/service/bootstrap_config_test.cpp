#include "service/bootstrap_config.h"

#include "assist/controller.h"
#include "base/digest.h"
#include "base/template.h"
#include "base/yaml.h"
#include "ignition/data_url.h"
#include "ignition/validate.h"
#include "kube/machine_table.h"
#include "service/test_records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace slipway::service {
namespace {

constexpr std::string_view base = R"({"ignition": {"version": "3.2.0"}, "storage": {"files": [
    {"path": "/opt/openshift/manifests/machine-addresses.yaml", "contents": {"source": "data:,old"}},
    {"path": "/opt/openshift/auth/kubeconfig", "contents": {"source": "data:,kubeconfig"}}]}})";

std::shared_ptr<const HostRecord> host(const std::string& id, const std::string& name, const std::string& address,
                                       assist::Role role) {
  HostRecord record = test_host_record(id, "c");
  record.host.inventory = assist::test_inventory(name, address);
  record.host.role = role;
  return std::make_shared<const HostRecord>(std::move(record));
}

// The contents of all files, by path.
std::map<std::string, std::string> files_of(const ControllerAccess& access) {
  const std::vector hosts = {host("1", "Master-0", "192.168.126.10/24", assist::Role::master),
                             host("2", "worker-0", "192.168.126.13/24", assist::Role::worker)};
  const Result<std::string> made = bootstrap_ignition(test_cluster_record("c"), hosts, base, access);
  EXPECT_TRUE(made.ok()) << made.error().message();
  const ignition::Parsed parsed = ignition::read_config(made.value(), "made").value();
  std::map<std::string, std::string> files;
  for (const ignition::File& file : parsed.config.storage.files) {
    files[file.path] = ignition::decode_data_url(*file.contents.source).value();
    const bool is_new = file.path != "/opt/openshift/auth/kubeconfig";
    EXPECT_EQ(file.mode.value_or(0), is_new ? 0600 : 0) << file.path;
  }
  return files;
}

const ControllerAccess access = {.url = "https://192.168.126.1:8090",
                                 .token = "id.secret",
                                 .authority = "PEM",
                                 .until = parse_rfc3339("2026-11-28T09:00:00Z").value(),
                                 .host = "M0"};
const std::string prefix = "/opt/openshift/openshift/99_assisted-installer-controller_";

TEST(BootstrapConfig, OnlyRegisteredHostsMayJoin) {
  const auto files = files_of(access);
  const Json table = parse_yaml(files.at("/opt/openshift/manifests/machine-addresses.yaml"), "table").value().value;
  EXPECT_EQ(text_of(table, {"metadata", "namespace"}), kube::machine_table_space);
  EXPECT_EQ(kube::parse_machine_table(table).value(),
            (kube::MachineTable{{"master-0", "master", {"192.168.126.10"}}, {"worker-0", "worker", {"192.168.126.13"}}}));
}

TEST(BootstrapConfig, AnAddressOfTwoHostsIsOfNone) {
  const std::vector hosts = {host("1", "master-0", "192.168.126.10/24", assist::Role::master),
                             host("2", "worker-0", "192.168.126.10/24", assist::Role::worker)};
  const std::string made = bootstrap_ignition(test_cluster_record("c"), hosts, base, access).value();
  const ignition::Parsed parsed = ignition::read_config(made, "made").value();
  const auto file =
      std::ranges::find(parsed.config.storage.files, "/opt/openshift/manifests/machine-addresses.yaml", &ignition::File::path);
  ASSERT_NE(file, parsed.config.storage.files.end());
  const std::string text = ignition::decode_data_url(*file->contents.source).value();
  // A row without addresses would not be restricted.
  EXPECT_EQ(kube::parse_machine_table(parse_yaml(text, "table").value().value).value(),
            (kube::MachineTable{{"master-0", "master", {"master-0"}}, {"worker-0", "worker", {"worker-0"}}}));
}

TEST(BootstrapConfig, EtcdStartsWithTwoMembersBesideTheBootstraps) {
  EXPECT_EQ(files_of(access).at("/opt/openshift/assisted-install-bootstrap"), "");
}

TEST(BootstrapConfig, ASingleNodeBootstrapsInPlace) {
  ClusterRecord cluster = test_cluster_record("c");
  cluster.cluster.control_plane_count = 1;
  const std::string made =
      bootstrap_ignition(cluster, {host("1", "m0", "192.168.126.10/24", assist::Role::master)}, base, access).value();
  const ignition::Parsed parsed = ignition::read_config(made, "made").value();
  std::map<std::string, std::string> files;
  for (const ignition::File& file : parsed.config.storage.files)
    files[file.path] = ignition::decode_data_url(*file.contents.source).value();
  EXPECT_FALSE(files.contains("/opt/openshift/assisted-install-bootstrap"));
  EXPECT_EQ(files.at("/etc/hostname"), "m0\n");
  EXPECT_NE(files.at("/opt/openshift/bootstrap-in-place/master-update.fcc").find("etcd-data"), std::string::npos);
  EXPECT_TRUE(files.contains("/opt/openshift/bootstrap-in-place/bootstrap-in-place-post-reboot.sh"));
  EXPECT_FALSE(files.contains("/usr/local/bin/install-to-disk.sh")) << "the agent writes the disk";
  EXPECT_TRUE(parsed.config.systemd.units.empty());
}

TEST(BootstrapConfig, TheControllerReachesTheService) {
  const auto files = files_of(access);
  const Json secret = parse_yaml(files.at(prefix + "7_secret.yaml"), "secret").value().value;
  EXPECT_EQ(base64_decode(text_of(secret, {"data", "token"})).value(), "id.secret");
  EXPECT_EQ(base64_decode(text_of(secret, {"data", "ca.crt"})).value(), "PEM");
  EXPECT_FALSE(files.contains(std::string(assist::controller_manifest)));  // the host writes it, with the image
  const std::string deployment = files.at(std::string(assist::controller_template));
  EXPECT_EQ(template_holes(deployment), (std::set<std::string, std::less<>>{std::string(assist::controller_image_hole)}));
  for (const char* part :
       {"--url=https://192.168.126.1:8090", "--cluster-id=c", "--until=2026-11-28T09:00:00Z", "--service-host=m0",
        "api-int.demo.example.com"}) {
    EXPECT_NE(deployment.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(deployment.find("id.secret"), std::string::npos);
  int objects = 0;
  for (const auto& [path, content] : files) {
    if (!path.starts_with(prefix)) continue;
    ++objects;
    const Json object = parse_yaml(content, path).value().value;
    const std::string name = text_of(object, {"metadata", "name"});
    EXPECT_TRUE(name == assist::controller_name || name == assist::controller_space || name == assist::controller_report_name)
        << path;
  }
  EXPECT_EQ(objects, 8);
}

TEST(BootstrapConfig, OtherFilesStay) {
  EXPECT_EQ(files_of(access).at("/opt/openshift/auth/kubeconfig"), "kubeconfig");
  EXPECT_EQ(bootstrap_ignition(test_cluster_record("c"), {}, "no JSON", access).error().code(), Code::invalid);
}

}  // namespace
}  // namespace slipway::service
