// cluster-etcd-operator render: the first member of etcd on the bootstrap machine, and what the cluster has to know of it.
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

// The output tree, the same as that of openshift/cluster-etcd-operator. Pure. errors: those of certificates that are none
Result<RenderedFiles> render(const RenderInput& input, const Certificates& certificates);

// The command. Makes new certificates each time: whoever repeats it replaces the whole output.
Result<> run_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::etcd
