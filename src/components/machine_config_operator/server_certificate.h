// The certificate that the machine-config-server shows to machines. The installer makes the first one, signed by root-ca, whose
// key is not in the cluster. Before it ends, an authority of the cluster signs the next one.
#pragma once

#include "components/controller/reconcile.h"

#include <vector>

namespace slipway::components::machine_config_operator {

// What has to be watched for it.
std::vector<Watched> watched_for_server_certificate();

// Renews Secret machine-config-server-tls after 80 % of its lifetime, with the names that it has; the other keys of the Secret
// stay. Before that: an authority (Secret and ConfigMap machine-config-server-ca), which the Secrets ROLE-user-data with the
// configs of new machines get beside the authorities that they trust. Nothing while the certificate is young or missing; `again`
// says when.
//
//   errors  invalid: a certificate or a config that cannot be read; internal
Result<Plan> plan_server_certificate(const Snapshot& seen, WallTime now);

}  // namespace slipway::components::machine_config_operator
