#include "machineconfig/templates.h"

#include "base/yaml.h"
#include "data/data.h"
#include "ignition/data_url.h"
#include "ignition/translate.h"
#include "ignition/validate.h"
#include "machineconfig/render.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace slipway::machineconfig {
namespace {

ControllerConfig sample(std::string platform) {
  return {.version = "0.1.0",
          .platform = std::move(platform),
          .cluster_dns_ip = "172.30.0.10",
          .additional_trust_bundle = "-----BEGIN CERTIFICATE-----\n",
          .images = {{"machineConfigOperator", "r.example.com/mco@sha256:1"},
                     {"infraImageKey", "r.example.com/pod@sha256:2"},
                     {"haproxyImage", "r.example.com/haproxy@sha256:4"},
                     {"keepalivedImage", "r.example.com/keepalived@sha256:5"},
                     {"baremetalRuntimeCfgImage", "r.example.com/runtimecfg@sha256:6"}},
          .os_image = "r.example.com/os@sha256:3",
          .api_vips = {"10.97.77.5"},
          .ingress_vips = {"10.97.77.7"},
          .infrastructure = {{"status", {{"apiServerInternalURI", "https://api-int.demo.example.com:6443"}}}},
          .dns = {{"spec", {{"baseDomain", "demo.example.com"}}}},
          .proxy = {{"httpProxy", "http://proxy.example.com:3128"}}};
}

Rendered rendered(const ControllerConfig& config, const std::string& role, const std::string& pull_secret = R"({"auths":{}})") {
  const Result<std::vector<MachineConfig>> made = template_configs(role, config, Secret(pull_secret));
  EXPECT_TRUE(made.ok()) << made.error().message();
  const Pool pool{.name = role, .roles = {role}, .object = JsonObject()};
  const Result<Rendered> result = render(pool, made.value(), {config.os_image, "", config.version});
  EXPECT_TRUE(result.ok()) << result.error().message();
  return result.value();
}

const ignition::File* find_file(const Rendered& rendered, std::string_view path) {
  for (const ignition::File& file : rendered.config.config.storage.files) {
    if (file.path == path) return &file;
  }
  return nullptr;
}

std::string text_of(const Rendered& rendered, std::string_view path) {
  const ignition::File* file = find_file(rendered, path);
  EXPECT_NE(file, nullptr) << path;
  return file ? ignition::decode_data_url(*file->contents.source).value() : "";
}

TEST(Templates, EveryRoleAndPlatformRendersToAConfigThatIsServedInIgnition32) {
  for (const char* platform : {"local", "none", "baremetal"}) {
    for (std::string_view role : template_roles) {
      const Rendered made = rendered(sample(platform), std::string(role));
      EXPECT_EQ(made.sources.size(), 3u);
      const Result<ignition::Config> old = ignition::translate(made.config.config, ignition::Version::v3_2);
      ASSERT_TRUE(old.ok()) << old.error().message();
      EXPECT_TRUE(ignition::validate(old.value()).empty()) << ignition::validate(old.value()).to_text();
    }
  }
}

TEST(Templates, EveryFileOfDataBelongsToAnOutputOfSomePlatform) {
  std::set<std::string, std::less<>> known = {"bootstrap", "container-runtime", "registries"};
  for (const data::File& file : data::machine_config()) {
    const std::string_view scope = file.path.substr(0, file.path.find('/'));
    if (known.contains(scope)) continue;
    EXPECT_TRUE(scope == "common" || scope == "master" || scope == "worker") << file.path;
    const std::string_view rest = file.path.substr(scope.size() + 1);
    EXPECT_TRUE(rest.starts_with("00/") || rest.starts_with("01-container-runtime/") || rest.starts_with("01-kubelet/"))
        << file.path;
    const bool is_entry =
        file.path.find("/files/") != std::string_view::npos || file.path.find("/units/") != std::string_view::npos;
    EXPECT_TRUE(is_entry) << file.path;
  }
}

TEST(Templates, SecretsAreForRootAndProgramsAreExecutable) {
  const Rendered made = rendered(sample("local"), "master");
  EXPECT_EQ(find_file(made, "/var/lib/kubelet/config.json")->mode, 0600);
  EXPECT_EQ(find_file(made, "/usr/local/bin/kubelet-start")->mode, 0755);
  EXPECT_EQ(find_file(made, "/etc/mco/proxy.env")->mode, 0600);
  EXPECT_EQ(find_file(made, "/etc/kubernetes/kubelet.conf")->mode, 0600);
  EXPECT_EQ(find_file(made, "/etc/kubernetes/manifests/keepalived.yaml")->mode, 0600);
  EXPECT_EQ(find_file(made, "/etc/containerd/conf.d/10-slipway.toml")->mode, 0600);
}

TEST(Templates, ContainerdHasTheLoginsOfThePullSecret) {
  const Rendered made = rendered(sample("local"), "worker", R"({"auths":{"r.example.com":{"auth":"YTpi"}}})");
  const std::string text = text_of(made, "/etc/containerd/conf.d/10-slipway.toml");
  EXPECT_NE(text.find("config_path = \"/etc/containerd/certs.d\"\n\n  [plugins.\"io.containerd.grpc.v1.cri\".registry.configs."
                      "\"r.example.com\".auth]\n    auth = \"YTpi\"\n"),
            std::string::npos)
      << text;
}

TEST(Templates, HaveWhatTheClusterSays) {
  const Rendered made = rendered(sample("local"), "master");
  EXPECT_EQ(text_of(made, "/etc/kubernetes/apiserver-url.env"),
            "KUBERNETES_SERVICE_HOST=api-int.demo.example.com\nKUBERNETES_SERVICE_PORT=6443\n");
  EXPECT_EQ(text_of(made, "/var/lib/kubelet/config.json"), R"({"auths":{}})");
  EXPECT_EQ(text_of(made, "/etc/mco/proxy.env"), "HTTP_PROXY=http://proxy.example.com:3128\n");
  EXPECT_NE(text_of(made, "/usr/local/bin/kubelet-start").find("virtual=\"10.97.77.5 10.97.77.7\""), std::string::npos);
  EXPECT_NE(text_of(made, "/etc/containerd/conf.d/10-slipway.toml").find("r.example.com/pod@sha256:2"), std::string::npos);
}

TEST(Templates, WhatIsEmptyIsNotThere) {
  ControllerConfig config = sample("local");
  config.additional_trust_bundle.clear();
  config.proxy = nullptr;
  const Rendered made = rendered(config, "worker");
  EXPECT_EQ(find_file(made, "/usr/local/share/ca-certificates/openshift-config-user-ca-bundle.crt"), nullptr);
  EXPECT_EQ(find_file(made, "/etc/mco/proxy.env"), nullptr);
}

TEST(Templates, OnlyMastersHaveTheTaint) {
  const std::string_view taint = "node-role.kubernetes.io/master:NoSchedule", path = "/usr/local/bin/kubelet-start";
  EXPECT_NE(text_of(rendered(sample("none"), "master"), path).find(taint), std::string::npos);
  EXPECT_EQ(text_of(rendered(sample("none"), "worker"), path).find(taint), std::string::npos);
}

TEST(Templates, OnlyPlatformLocalTakesWhatContainersNeed) {
  const std::string_view path = "/etc/openshift/kubelet.conf.d/10-local.conf";
  EXPECT_NE(find_file(rendered(sample("local"), "master"), path), nullptr);
  EXPECT_EQ(find_file(rendered(sample("none"), "master"), path), nullptr);
}

TEST(Templates, MachinesHoldTheVirtualAddressesWhereNobodyElseDoes) {
  const std::string folder = "/etc/kubernetes/static-pod-resources/keepalived/",
                    pod = "/etc/kubernetes/manifests/keepalived.yaml";
  const Rendered master = rendered(sample("local"), "master");
  const Result<YamlDocument> parsed = parse_yaml(text_of(master, pod), pod);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message();
  EXPECT_EQ(find_array(parsed->value, {"spec", "containers"}).size(), 3u);
  for (const char* part :
       {"haproxy@sha256:4", "keepalived@sha256:5", "runtimecfg@sha256:6", "namespace: openshift-local-infra\n",
        "--cluster-domain=demo.example.com", "--needed-backends=2\n", "--api-vips=10.97.77.5", "--ingress-vips=10.97.77.7"}) {
    EXPECT_NE(text_of(master, pod).find(part), std::string::npos) << part;
  }
  EXPECT_NE(text_of(master, folder + "haproxy.cfg").find("bind 10.97.77.5:6443 transparent\n"), std::string::npos);
  EXPECT_NE(text_of(master, folder + "instance-api.conf.tmpl").find("interface {{INTERFACE}}\n"), std::string::npos);
  EXPECT_NE(text_of(master, folder + "instance-ingress.conf.tmpl").find("interface {{INGRESS_INTERFACE}}\n"), std::string::npos);

  // Workers have only the ingress address and nothing that requires a kubeconfig.
  const Rendered worker = rendered(sample("local"), "worker");
  const Result<YamlDocument> on_worker = parse_yaml(text_of(worker, pod), pod);
  ASSERT_TRUE(on_worker.ok()) << on_worker.error().message();
  EXPECT_EQ(find_array(on_worker->value, {"spec", "containers"}).size(), 2u);
  EXPECT_EQ(text_of(worker, pod).find("--api-vips"), std::string::npos);
  EXPECT_EQ(find_file(worker, folder + "instance-api.conf.tmpl"), nullptr);
  EXPECT_EQ(find_file(worker, folder + "haproxy.cfg"), nullptr);
  for (const char* name : {"keepalived.conf.tmpl", "instance-ingress.conf.tmpl"}) {
    EXPECT_EQ(text_of(worker, folder + name), text_of(master, folder + name)) << name;
  }

  ControllerConfig behind_a_load_balancer = sample("baremetal");
  behind_a_load_balancer.api_vips.clear();
  for (const char* role : {"master", "worker"}) {
    EXPECT_EQ(find_file(rendered(sample("none"), role), pod), nullptr) << role;
    EXPECT_EQ(find_file(rendered(behind_a_load_balancer, role), pod), nullptr) << role;
  }
  ControllerConfig single = sample("local");
  single.infrastructure.as_object()["status"].as_object()["controlPlaneTopology"] = "SingleReplica";
  EXPECT_NE(text_of(rendered(single, "master"), pod).find("--needed-backends=1\n"), std::string::npos);
}

TEST(Templates, KubeletNeverStartsBeforeTheFirstBootIsComplete) {
  const Rendered made = rendered(sample("local"), "master");
  const auto unit = [&](std::string_view name) -> const ignition::Unit& {
    const auto& units = made.config.config.systemd.units;
    const auto found = std::ranges::find(units, name, &ignition::Unit::name);
    EXPECT_NE(found, units.end()) << name;
    return *found;
  };
  const auto has_line = [](const ignition::Unit& one, std::string_view line) {
    return one.contents->find(line) != std::string::npos;
  };
  EXPECT_TRUE(has_line(unit("kubelet.service"), "Requires=containerd.service kubelet-dependencies.target\n"));
  EXPECT_TRUE(has_line(unit("kubelet.service"), "After=containerd.service kubelet-dependencies.target\n"));
  EXPECT_TRUE(
      has_line(unit("kubelet-dependencies.target"), "Requires=firstboot-osupdate.target\nAfter=firstboot-osupdate.target\n"));
  EXPECT_TRUE(has_line(unit("firstboot-osupdate.target"), "After=machine-config-daemon-firstboot.service\n"));
  EXPECT_TRUE(has_line(unit("machine-config-daemon-firstboot.service"), "RequiredBy=firstboot-osupdate.target\n"));
  EXPECT_EQ(unit("kubelet.service").enabled, true);
  EXPECT_EQ(unit("kubelet-dependencies.target").enabled, false);
}

TEST(Templates, KubeletConfigurationIsYaml) {
  const Rendered made = rendered(sample("local"), "master");
  const Result<YamlDocument> config = parse_yaml(text_of(made, "/etc/kubernetes/kubelet.conf"), "kubelet.conf");
  ASSERT_TRUE(config.ok()) << config.error().message();
  EXPECT_EQ(find_array(config->value, {"clusterDNS"}), JsonArray{"172.30.0.10"});
}

TEST(Templates, SayEverythingThatIsMissing) {
  const std::string message = template_configs("master", {.version = "1"}, Secret()).error().message();
  for (const char* part : {"apiServerInternalURI", "clusterDNSIP", "machineConfigOperator", "infraImageKey"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in:\n" << message;
  }
  ControllerConfig config = sample("local");
  config.images.erase("haproxyImage");
  EXPECT_NE(template_configs("master", config, Secret()).error().message().find("haproxyImage"), std::string::npos);
  EXPECT_TRUE(template_configs("worker", config, Secret()).ok());
  EXPECT_EQ(template_configs("infra", sample("local"), Secret()).error().code(), Code::invalid);
}

}  // namespace
}  // namespace slipway::machineconfig
