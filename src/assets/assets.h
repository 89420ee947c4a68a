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
  // Names, roles and addresses of the machines that will ask for certificates (design 12.9); empty where a platform has Machine
  // objects or the user adds nodes by hand.
  struct Node {
    std::string name;
    std::string role;  // "master", "worker"
    std::vector<std::string> addresses;

    bool operator==(const Node&) const = default;
  };
  std::vector<Node> nodes{};
};

// Where drawn assets get their numbers from.
struct Randomness {
  sys::Random* source = nullptr;
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

// Of an earlier run, to be used again as far as it is still good; empty in the first run.
struct KeptTls {
  Tls tls;
};

// tls/bound-service-account-signing-key.key of the user's, when there is one (installer 4.4).
struct UserSigningKey {
  std::optional<Secret> key{};
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
