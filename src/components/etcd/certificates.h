// Certificates of etcd: two authorities, the clients of both, and the certificates of the first member. Names and subjects equal
// those of openshift/cluster-etcd-operator.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "components/controller/certificate_rotation.h"
#include "components/render/manifest.h"
#include "net/x509.h"

#include <string>
#include <vector>

namespace slipway::components::etcd {

struct Material {
  std::string name;  // name of the Secret and of the files, for example "etcd-peer-bootstrap"
  net::Certificate certificate;
  Rotation rotation;
};

struct Certificates {
  Material signer, metric_signer, client, metric_client, peer, serving, serving_metrics;

  std::vector<const Material*> all() const;
  std::vector<const Material*> of_node() const;  // peer, serving, serving_metrics
};

// Generates new keys and certificates.
//
//   host     host name of the machine; the names of its certificates end with it
//   address  address of the machine in the cluster
Result<Certificates> make_certificates(const std::string& host, const std::string& address, WallTime now);

// The same certificates as Secrets and ConfigMaps of the cluster, for the rotation: the authorities, the clients, and the serving
// certificates of a master.
std::vector<Signer> rotated_signers();
std::vector<Leaf> rotated_clients();
std::vector<Leaf> rotated_servers(const std::string& node, const std::string& address);

}  // namespace slipway::components::etcd
