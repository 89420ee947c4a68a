// `cloud-credential-operator render`: the API of cloud credentials and the cluster's mode.
//
// The operator of this release makes no credentials: clusters here bring theirs (mode Manual) or need none. So no pod is
// rendered.
#pragma once

#include "base/json.h"
#include "components/program/program.h"

namespace slipway::components::cloud_credential {

// What follows from the install-config.
struct CredentialsPlan {
  bool enabled = true;  // the capability CloudCredential
  std::string mode;     // credentialsMode as the user gave it

  bool operator==(const CredentialsPlan&) const = default;
};

// errors: invalid: a mode that needs an operator which makes credentials
Result<CredentialsPlan> plan_credentials(const Json& install_config);

Result<> run_render(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::cloud_credential
