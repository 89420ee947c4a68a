// Assets: everything that is made from an install-config before a machine exists, as pure functions; graph.cpp is the list.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "config/install_config.h"
#include "ignition/types.h"
#include "net/x509.h"
#include "sys/random.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slipway::assets {

// One file of an asset, its path below the asset directory ("manifests/cluster-config.yaml").
struct AssetFile {
  std::string path;
  std::string content;

  bool operator==(const AssetFile&) const = default;
};
using AssetFiles = std::vector<AssetFile>;

// What is not in the install-config and comes from the outside of the graph.
struct Environment {
  WallTime now{};
  std::string release_image;    // by digest
  std::string release_version;  // "0.1.0"
  std::string invoker = "user";
  bool no_kubeadmin = false;    // no user kubeadmin, and so no password file
  std::string bootstrap_url{};  // where the user will put bootstrap.ign for a platform that hands machines little; may be empty
  std::optional<net::KeyType> key_type{};  // of new keys, when somebody asks for one; else RSA, on platform local P-256
  std::optional<Secret> seed{};            // what is drawn follows from it; else it comes from the system
  bool load_certificates = false;          // authorities of the user's are taken from tls/ (installer 4.4)
  // Names, roles and addresses of the machines that will ask for certificates (design 12.9); empty where a platform has Machine
  // objects or the user adds nodes by hand.
  struct Node {
    std::string name;
    std::string role;  // "master", "worker"
    std::vector<std::string> addresses;

    bool operator==(const Node&) const = default;
  };
  std::vector<Node> nodes{};

  std::string cluster_profile{};    // whose manifests of the release are taken (installer 1.8); empty: the release's default
  std::string bootstrap_node_ip{};  // what the kubelet of the bootstrap machine shall be known by; empty: its own choice
  // Images with slipway-node, any of which will do, for releases that have none in their release image (those of others).
  bool release_has_slipway_node = true;
  std::vector<std::string> slipway_images{};
};

// Where drawn assets get their numbers from: assets/identity/stream.h.
struct Randomness {
  sys::Random* source = nullptr;
  std::optional<Secret> seed{};  // of this cluster
};

// The assets, each made by one function from those in its signature. Drawn ones are kept by the store.

// Drawn (installer 2.6).
struct ClusterId {
  std::string infra_id;    // "demo-x7k2p"
  std::string cluster_id;  // a UUID

  bool operator==(const ClusterId&) const = default;
};

// Drawn (installer 4.6).
struct KubeadminPassword {
  Secret plain;
  std::string hash;  // bcrypt

  bool operator==(const KubeadminPassword&) const = default;
};

// Drawn: what pointer configs carry and the machine-config-server asks for (design 12.14).
struct ServerToken {
  Secret text;

  bool operator==(const ServerToken&) const = default;
};

// Certificates and keys by their base name under tls/, "kube-apiserver-lb-signer" (installer 4.2). Keys without a certificate
// ("service-account") have an empty pem, bundles ("kubelet-client-ca-bundle") an empty key. Drawn.
using Tls = std::map<std::string, net::Certificate, std::less<>>;

// Of those, root-ca and machine-config-server: what manifests and pointer configs carry. An RSA key takes its time, so the others
// are made when somebody needs them.
struct RootTls {
  Tls tls;
};

// Of an earlier run, to be used again as far as it is still good; empty in the first run.
struct KeptTls {
  Tls tls;
  bool has_cluster = false;  // machines have them: they stay as they are
};

// What the user gave of tls/ (installer 4.4).
struct UserTls {
  std::optional<Secret> signing_key{};         // of service account tokens
  std::optional<std::string> password_hash{};  // bcrypt, of kubeadmin
  Tls pairs{};                                 // to be used in the place of ours
};

struct Kubeconfigs {
  Secret user;       // <dir>/auth/kubeconfig
  Secret bootstrap;  // the other three for the bootstrap machine
  Secret loopback;
  Secret kubelet;
};

struct CommonManifests {
  AssetFiles files;  // manifests/*
};
struct OpenshiftManifests {
  AssetFiles files;  // openshift/*
};
struct ClusterApiManifests {
  AssetFiles files;  // cluster-api/*
};

// What the user did to manifests/ and openshift/: a path with the content it shall have, or without one when it was removed.
struct UserFiles {
  std::map<std::string, std::optional<std::string>, std::less<>> files;

  bool operator==(const UserFiles&) const = default;
};

// One object of a manifest.
struct ManifestObject {
  std::string path;      // of its file
  bool is_first = true;  // of the objects in it
  std::string group;     // "config.openshift.io", empty for the core's
  std::string kind;
  std::string name_space;
  std::string name;
  Json value;
};

// Both folders as the bootstrap machine gets them: ours with the user's over them.
struct ManifestSet {
  AssetFiles files;  // by path
  std::vector<ManifestObject> objects;
};

// What keeps the cluster-version operator's hands off our manifests while the bootstrap is running (installer 6.5).
struct CvoOverrides {
  std::string manifest;  // cvo-overrides.yaml as the bootstrap machine gets it
  std::string patch;     // a JSON merge patch that brings the user's own overrides back
};

struct PointerConfigs {
  ignition::Config master;
  ignition::Config worker;
};

struct BootstrapConfig {
  ignition::Config config;
};

struct Metadata {
  Json document;
};

// Drawn: the login of the provisioning services on the bootstrap machine (installer 4.6); empty but on platform baremetal.
struct IronicCredentials {
  std::string user;
  Secret password;

  bool operator==(const IronicCredentials&) const = default;
};

// master.ign and worker.ign as the user changed them; empty where nobody did.
struct PointerEdits {
  std::optional<ignition::Config> master{};
  std::optional<ignition::Config> worker{};
};

// bootstrap-in-place-for-live-iso.ign: a single node that bootstraps itself (installer 6.9).
struct SingleNodeConfig {
  ignition::Config config;
};

// What all generated assets are of; each field is one asset.
struct Assets {
  config::InstallConfig config;
  ClusterId id;
  Tls tls;
  Secret kubeadmin_password;
  std::string kubeadmin_hash;          // bcrypt
  Secret machine_config_server_token;  // that pointer configs carry and the server checks
  AssetFiles manifests;                // manifests/*
  AssetFiles openshift;                // openshift/*
  AssetFiles auth;                     // auth/kubeconfig, auth/kubeadmin-password of the user
  ignition::Config bootstrap;          // bootstrap.ign
  ignition::Config master;             // master.ign, a pointer
  ignition::Config worker;
  Json metadata;  // metadata.json
};

}  // namespace slipway::assets
