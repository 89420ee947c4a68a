// cluster-etcd-operator render: the pod and certificates of the first etcd member on the bootstrap machine, and the objects that
// describe them in the cluster.
#pragma once

#include "components/etcd/certificates.h"
#include "components/program/program.h"
#include "components/render/inputs.h"

namespace slipway::components::etcd {

struct RenderInput {
  std::string image;
  std::string host;  // name of this machine
  net::IpAddress address;
  Infrastructure infrastructure;
  InstallConfig install_config;
  bool delayed = false;  // the bootstrap machine becomes the last master (assisted installation)
};

// The output tree, equal to that of openshift/cluster-etcd-operator. Pure. errors: invalid certificates
Result<RenderedFiles> render(const RenderInput& input, const Certificates& certificates);

// The command. Generates new certificates in each run, so a repeated render has to replace the whole output.
Result<> run_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::etcd
