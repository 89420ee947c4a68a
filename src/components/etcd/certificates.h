// Certificates of etcd: two authorities, clients of both, and those of the first member. Names and subjects are those of
// openshift/cluster-etcd-operator.
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
  std::string name;  // "etcd-peer-bootstrap": of the Secret and of the files
  net::Certificate certificate;
  Rotation rotation;
};

struct Certificates {
  Material signer, metric_signer, client, metric_client, peer, serving, serving_metrics;

  std::vector<const Material*> all() const;
  std::vector<const Material*> of_node() const;  // peer, serving, serving_metrics
};

// Makes all of them anew.
//
//   host     name of the machine as it is, the end of its certificates' names
//   address  its address in the cluster
Result<Certificates> make_certificates(const std::string& host, const std::string& address, WallTime now);

// The same as they are kept in the cluster: the authorities, the clients, and what each master serves with.
std::vector<Signer> rotated_signers();
std::vector<Leaf> rotated_clients();
std::vector<Leaf> rotated_servers(const std::string& node, const std::string& address);

}  // namespace slipway::components::etcd
