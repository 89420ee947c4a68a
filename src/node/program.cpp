#include "node/program.h"

namespace slipway::node {

Result<kube::Access> read_kubeconfig(const Environment& environment, const std::string& path) {
  const std::string text = TRY(environment.files.read(path));
  return kube::parse_kubeconfig(text, path, [&](const std::string& file) { return environment.files.read(file); });
}

}  // namespace slipway::node
