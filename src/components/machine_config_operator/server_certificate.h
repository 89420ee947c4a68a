// The serving certificate of the machine-config-server. The installer creates the first one, signed by root-ca, whose key is not
// in the cluster. Before it expires, an authority of the cluster signs the next one.
#pragma once

#include "components/controller/reconcile.h"

#include <vector>

namespace slipway::components::machine_config_operator {

// The objects that plan_server_certificate reads.
std::vector<Watched> watched_for_server_certificate();

// Renews Secret machine-config-server-tls after 80 % of its lifetime. Plans nothing while the certificate is missing or younger;
// `again` says when it is due. The steps:
// 1. Create an authority (Secret and ConfigMap machine-config-server-ca).
// 2. Add it to the trusted authorities in the Secrets ROLE-user-data, which have the configs of new machines.
// 3. Sign a certificate with the same names. Other keys of the Secret stay.
//
//   errors  invalid: a certificate or a config cannot be read; internal
Result<Plan> plan_server_certificate(const Snapshot& seen, WallTime now);

}  // namespace slipway::components::machine_config_operator
