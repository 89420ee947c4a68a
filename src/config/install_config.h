// Reads and validates install-config.yaml, and sets its defaults. All problems are reported together, each with its place.
//
//   LoadedConfig loaded = TRY(load_install_config(text, "install-config.yaml"));
//   install-config.yaml:7:13: error: controlPlane.replicas: must be odd, got 2 (use 1 or 3)
//
// Fields, defaults and rules are OpenShift's (openshift/installer pkg/types). Platform `local` is slipway's
// (docs/install-config.md).
#pragma once

#include "base/findings.h"
#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "config/host.h"
#include "config/image_mode.h"

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
  Json platform = JsonObject();  // settings of the machines (effective_pool), with defaults

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
  int mtu = 0;  // 0: the network plugin chooses

  bool operator==(const Networking&) const = default;
};

struct Proxy {
  std::string http_proxy;
  std::string https_proxy;
  std::string no_proxy;

  bool operator==(const Proxy&) const = default;
};

// Mirrors of the repository `source`.
struct MirrorSource {
  std::string source;
  std::vector<std::string> mirrors;

  bool operator==(const MirrorSource&) const = default;
};

// Machines on this Linux host.
struct LocalPlatform {
  std::string api_vip;      // in the machine network; default: its address 5
  std::string ingress_vip;  // the same; default: 7

  bool operator==(const LocalPlatform&) const = default;
};

struct Platform {
  std::string type;                      // "local", "none"
  std::optional<LocalPlatform> local{};  // for type local only
  Json section = JsonObject();           // platform.TYPE of the effective config

  bool operator==(const Platform&) const = default;
};

struct InstallConfig {
  std::string name;         // metadata.name
  std::string base_domain;  // without a trailing dot
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
  std::optional<std::string> bootstrap_in_place{};  // the installation disk
  ImageMode image_mode = ImageMode::none;
  Json capabilities = nullptr;  // as written
  std::string feature_set;
  std::vector<std::string> feature_gates{};

  // The config with its defaults and sorted keys, as in cluster-config-v1 and in the output of `create install-config`. It
  // contains secrets.
  Json effective = JsonObject();

  std::string cluster_domain() const { return name + "." + base_domain; }
  int compute_replicas() const;
};

struct LoadedConfig {
  InstallConfig config;
  Findings warnings;
};

// Options for reading a config.
struct LoadOptions {
  bool strict = false;         // unknown fields are errors, not warnings
  std::optional<Host> host{};  // the installing host; none for a config that was validated before
  JsonArray baremetal_hosts{};  // platform.baremetal.hosts, if the config has none (agent_config.h)
  // bootstrapInPlace.installationDisk of a config with one master, if the config has none (agent_config.h).
  std::optional<std::string> in_place_disk{};
};

// Reads a config, converts deprecated fields, sets defaults and validates.
//
//   name    name of the text in messages
//   errors  invalid: syntax errors, or all findings, one per line
Result<LoadedConfig> load_install_config(std::string_view text, std::string_view name, const LoadOptions& options = {});

// All findings of loading a text, including warnings. The text may be incomplete: missing fields are findings.
Findings check_install_config(std::string_view text, std::string_view name, const LoadOptions& options = {});

// The virtual addresses of the platform, in order; empty if it has none.
std::vector<std::string> api_vips(const InstallConfig& config);
std::vector<std::string> ingress_vips(const InstallConfig& config);

}  // namespace slipway::config
