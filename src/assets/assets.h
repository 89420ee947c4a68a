// Assets: everything that is made from an install-config before a machine exists, as pure functions; graph.cpp is the list.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "config/install_config.h"
#include "ignition/types.h"
#include "kube/machine_table.h"
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
  bool no_kubeadmin = false;    // somebody asks for no user kubeadmin, and so for no password file
  std::string bootstrap_url{};  // where the user will put bootstrap.ign for a platform that hands machines little; may be empty
  std::optional<net::KeyType> key_type{};  // of new keys, when somebody asks for one; else RSA, on platform local P-256
  std::optional<Secret> seed{};            // what is drawn follows from it; else it comes from the system
  bool fips_check_bypassed = false;        // a cluster in FIPS mode, made on a host that is not
  bool load_certificates = false;          // use the user's authorities in tls/ (OPENSHIFT_INSTALL_LOAD_CLUSTER_CERTS)
  // Names, roles and addresses of the machines whose certificate requests are approved. Empty where a platform has Machine
  // objects or the user adds nodes by hand.
  kube::MachineTable nodes{};

  std::string cluster_profile{};    // the profile whose manifests of the release are used; empty: the release's default
  std::string bootstrap_node_ip{};  // what the kubelet of the bootstrap machine shall be known by; empty: its own choice
  // Images with slipway-node, any of which will do, for releases that have none in their release image (those of others).
  bool release_has_slipway_node = true;
  std::vector<std::string> slipway_images{};
  bool release_has_login = true;  // it has an OAuth server, which takes the password of kubeadmin

  bool has_kubeadmin() const { return release_has_login && !no_kubeadmin; }
};

// Where drawn assets get their numbers from: assets/identity/stream.h.
struct Randomness {
  sys::Random* source = nullptr;
  std::optional<Secret> seed{};  // of this cluster
};

// The assets, each made by one function from those in its signature. Drawn ones are kept by the store.

// The ids of a cluster. Drawn.
struct ClusterId {
  std::string infra_id;    // "demo-x7k2p"
  std::string cluster_id;  // a UUID

  bool operator==(const ClusterId&) const = default;
};

// The password of the user kubeadmin. Drawn.
struct KubeadminPassword {
  Secret plain;
  std::string hash;  // bcrypt

  bool operator==(const KubeadminPassword&) const = default;
};

// Drawn: what pointer configs carry and the machine-config-server asks for. With the one of workers the server gives no master's
// config; directories of before there were two have the same in both.
struct ServerToken {
  Secret text;  // of masters
  Secret worker;

  bool operator==(const ServerToken&) const = default;
};

// Certificates and keys by their base name under tls/, "kube-apiserver-lb-signer". Keys without a certificate
// ("service-account") have an empty pem, bundles ("kubelet-client-ca-bundle") an empty key. Drawn.
using Tls = std::map<std::string, net::Certificate, std::less<>>;

// Of those, root-ca and machine-config-server: what manifests and pointer configs carry. An RSA key takes its time, so the others
// are made when somebody needs them.
struct RootTls {
  Tls tls;
};

// Of an earlier run, to be used again as far as it is still good; empty in the first run.
struct PreviousTls {
  Tls tls;
  bool has_cluster = false;  // machines have them: they stay as they are
};

// Keys, certificates and hashes that the user put into tls/.
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

// Overrides in ClusterVersion: the cluster-version operator leaves our manifests alone while the bootstrap is running.
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

// Drawn: the login of the provisioning services on the bootstrap machine. Empty except on platform baremetal.
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

// bootstrap-in-place-for-live-iso.ign: a single node that bootstraps itself.
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
  AssetFiles auth;                     // auth/kubeconfig of the user, auth/kubeadmin-password where there is a login
  ignition::Config bootstrap;          // bootstrap.ign
  ignition::Config master;             // master.ign, a pointer
  ignition::Config worker;
  Json metadata;  // metadata.json
};

}  // namespace slipway::assets
