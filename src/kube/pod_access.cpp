#include "kube/pod_access.h"

#include "sys/environment_variable.h"

#include <fmt/core.h>

namespace slipway::kube {

Result<Access> pod_access(sys::Files& files) {
  const std::string account = "/var/run/secrets/kubernetes.io/serviceaccount";
  const std::string name = sys::environment_variable("KUBERNETES_SERVICE_HOST");
  const std::string port = sys::environment_variable("KUBERNETES_SERVICE_PORT");
  if (name.empty() || port.empty()) return error(Code::invalid, "not running in a pod of a cluster (use --kubeconfig)");
  Access access;
  access.server =
      name.find(':') == std::string::npos ? fmt::format("https://{}:{}", name, port) : fmt::format("https://[{}]:{}", name, port);
  access.ca = TRY(files.read(account + "/ca.crt"));
  access.token = Secret(TRY(files.read(account + "/token")));
  return access;
}

}  // namespace slipway::kube
