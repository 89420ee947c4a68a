// Assets: everything that is made from an install-config before a machine exists, as pure functions; graph.cpp is the list.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "config/install_config.h"
#include "ignition/types.h"
#include "net/x509.h"
#include "sys/random.h"

#include <map>
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

// Drawn once for a cluster (installer 2.6).
struct ClusterId {
  std::string infra_id;    // "demo-x7k2p"
  std::string cluster_id;  // a UUID

  bool operator==(const ClusterId&) const = default;
};

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

// Certificates and keys by their base name under tls/, "kube-apiserver-lb-signer" (installer 4.2). Keys without a certificate
// ("service-account") have an empty pem, bundles ("kubelet-client-ca-bundle") an empty key.
using Tls = std::map<std::string, net::Certificate, std::less<>>;

// What all generated assets are of; each field is one asset.
struct Assets {
  config::InstallConfig config;
  ClusterId id;
  Tls tls;
  Secret kubeadmin_password;
  std::string kubeadmin_hash;           // bcrypt
  Secret machine_config_server_token;   // that pointer configs carry and the server checks
  AssetFiles manifests;                 // manifests/*
  AssetFiles openshift;                 // openshift/*
  AssetFiles auth;                      // auth/kubeconfig, auth/kubeadmin-password of the user
  ignition::Config bootstrap;           // bootstrap.ign
  ignition::Config master;              // master.ign, a pointer
  ignition::Config worker;
  Json metadata;                        // metadata.json
};

}  // namespace slipway::assets
