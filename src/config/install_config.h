// install-config.yaml: what the user wants, read, with defaults, checked; all problems at once, each with its place.
//
//   Loaded loaded = TRY(load_install_config(text, "install-config.yaml"));
//   install-config.yaml:7:13: error: controlPlane.replicas: must be odd, got 2 (use 1 or 3)
//
// The fields, defaults and rules are OpenShift's (openshift/installer pkg/types); platform `local` is ours
// (docs/install-config.md).
#pragma once

#include "base/findings.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "config/host.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::config {

struct MachinePool {
  std::string name;  // "master", "worker"
  int replicas = 3;
  bool hyperthreading = true;
  std::string architecture = "amd64";
  Json platform = JsonObject();  // the section of the cluster's platform, over defaultMachinePlatform, over the defaults

  bool operator==(const MachinePool&) const = default;
};

struct ClusterNetwork {
  std::string cidr;
  int host_prefix = 0;

  bool operator==(const ClusterNetwork&) const = default;
};

struct Networking {
  std::string network_type;  // "OVNKubernetes", "Flannel"
  std::vector<std::string> machine_network;
  std::vector<ClusterNetwork> cluster_network;
  std::vector<std::string> service_network;
  int mtu = 0;  // 0: the network's own choice

  bool operator==(const Networking&) const = default;
};

struct Proxy {
  std::string http_proxy;
  std::string https_proxy;
  std::string no_proxy;

  bool operator==(const Proxy&) const = default;
};

// What images of `source` can also be read from.
struct MirrorSource {
  std::string source;
  std::vector<std::string> mirrors;

  bool operator==(const MirrorSource&) const = default;
};

// Machines on this Linux host.
struct LocalPlatform {
  std::string api_vip;      // in the machine network, .5 when not given
  std::string ingress_vip;  // .7 when not given

  bool operator==(const LocalPlatform&) const = default;
};

struct Platform {
  std::string type;                      // "local", "none"; as written
  std::optional<LocalPlatform> local{};  // of type local
  Json section = JsonObject();           // of the effective config

  bool operator==(const Platform&) const = default;
};

struct InstallConfig {
  std::string name;         // metadata.name
  std::string base_domain;  // without a dot at its end
  Secret pull_secret;       // JSON
  std::string ssh_key;      // as written; may be empty, may have several lines
  std::string additional_trust_bundle;
  std::string additional_trust_bundle_policy = "Proxyonly";
  MachinePool control_plane;
  std::vector<MachinePool> compute;
  Networking networking;
  Platform platform;
  std::optional<Proxy> proxy{};
  std::vector<MirrorSource> image_digest_sources{};
  std::vector<MirrorSource> image_content_sources{};  // the deprecated form
  std::string publish = "External";
  bool fips = false;
  std::string cpu_partitioning_mode = "None";
  std::string credentials_mode;
  std::optional<std::string> bootstrap_in_place{};  // its installation disk
  Json capabilities = nullptr;                      // as written
  std::string feature_set;
  std::vector<std::string> feature_gates{};

  // The config with its defaults, as `create install-config` writes it and cluster-config-v1 holds it, keys sorted; secrets are
  // in it.
  Json effective = JsonObject();

  std::string cluster_domain() const { return name + "." + base_domain; }
  int compute_replicas() const;
};

struct Loaded {
  InstallConfig config;
  Findings warnings;
};

// How a text is read.
struct Reading {
  bool strict = false;         // fields that nobody knows are errors, not warnings
  std::optional<Host> host{};  // that installs; none: a text that was judged before
};

// Reads, converts older fields, fills in defaults, checks.
//
//   name    what messages call the text
//   errors  invalid: syntax, or all findings, a line each
Result<Loaded> load_install_config(std::string_view text, std::string_view name, const Reading& reading = {});

// What loading a text finds, warnings too. Fine with one that is half written: what is missing is a finding among others.
Findings check_install_config(std::string_view text, std::string_view name, const Reading& reading = {});

// The virtual addresses of a platform that has them, in their order; empty otherwise.
std::vector<std::string> api_vips(const InstallConfig& config);
std::vector<std::string> ingress_vips(const InstallConfig& config);

}  // namespace slipway::config
