#include "kube/pod_access.h"

#include <fmt/core.h>

#include <cstdlib>

namespace slipway::kube {

Result<Access> pod_access(sys::Files& files) {
  const std::string account = "/var/run/secrets/kubernetes.io/serviceaccount";
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
  if (!host || !port) return error(Code::invalid, "this runs in no pod of a cluster; give a --kubeconfig");
  const std::string_view name = host;
  Access access;
  access.server = name.find(':') == std::string_view::npos ? fmt::format("https://{}:{}", name, port)
                                                           : fmt::format("https://[{}]:{}", name, port);
  access.ca = TRY(files.read(account + "/ca.crt"));
  access.token = Secret(TRY(files.read(account + "/token")));
  return access;
}

}  // namespace slipway::kube
